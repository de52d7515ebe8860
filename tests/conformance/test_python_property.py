"""Random programs that put SQL together: what SQLite is given by them is listed by the scan, or undecided."""

from __future__ import annotations

import contextlib
import os
import random
import re
import sqlite3
from collections.abc import Iterable
from types import CodeType

import pytest

from arrowproof.conformance.statements import SqlStatement
from tests.conformance.extractions import extract
from tests.conformance.random_python import program

PROGRAMS = int(os.environ.get("ARROWPROOF_PYTHON_PROGRAMS", "150"))
RUNS = 6
"""How often each program is run, each time with other answers to what it asks."""
MAX_STEPS = 30


class TooLongError(Exception):
    """The program runs in a circle."""


def executed(code: CodeType, seed: int) -> set[str]:
    """The changes of the table ``jobs`` that SQLite is given by one run, as SQLite itself traces them."""
    source = random.Random(seed)
    steps = iter(range(MAX_STEPS))
    database = sqlite3.connect(":memory:")
    database.executescript("CREATE TABLE jobs (id, status, note); CREATE TABLE notes (id, status, note)")
    traced: list[str] = []
    database.set_trace_callback(traced.append)

    def run(sql: str) -> None:
        with contextlib.suppress(sqlite3.Error):
            database.execute(sql)

    def asked() -> int:
        if next(steps, None) is None:
            raise TooLongError
        return source.randrange(100)

    names: dict[str, object] = {}
    exec(code, names)
    main = names["main"]
    assert callable(main)
    with contextlib.suppress(TooLongError):
        main(run, lambda: asked() < 50, lambda values: values[asked() % len(values)])
    database.close()
    return {" ".join(sql.split()) for sql in traced if "jobs" in sql and sql.startswith(("DELETE", "UPDATE"))}


def is_covered(sql: str, statements: Iterable[SqlStatement]) -> bool:
    """Whether a statement is among those found, of which some have holes for values."""
    for each in statements:
        parts = re.split(r"\{[^{}]*\}", " ".join(each.sql.split()))
        if re.fullmatch(".*".join(map(re.escape, parts)), sql) is not None:
            return True
    return False


def missed(seed: int) -> tuple[bool, list[str]]:
    """Whether everything in a program is decided, and what it gave SQLite that is neither listed nor undecided."""
    text = program(seed)
    statements = extract({"a.py": text}).statements
    if any(each.problem is not None for each in statements):
        return False, []
    code = compile(text, f"program {seed}", "exec")
    given = {sql for run in range(RUNS) for sql in executed(code, run)}
    return True, sorted(sql for sql in given if not is_covered(sql, statements))


@pytest.mark.timeout(600)
def test_what_a_program_gives_to_the_database_is_listed_or_undecided() -> None:
    first = int(os.environ.get("ARROWPROOF_PYTHON_SEED", "0"))
    answers = {seed: missed(seed) for seed in range(first, first + PROGRAMS)}
    found = {seed: sqls for seed, (_, sqls) in answers.items() if sqls}
    shown = next((f"{sqls[0]}\nof program {seed}:\n{program(seed)}" for seed, sqls in found.items()), "")
    assert not found, f"{len(found)} of {PROGRAMS} programs make what is not listed: {shown}"
    decided = sum(is_decided for is_decided, _ in answers.values())
    assert decided * 4 > PROGRAMS, f"only {decided} of {PROGRAMS} programs are decided"
