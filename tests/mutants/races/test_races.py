"""What goes wrong only when two have one row at once is red when they do: on PostgreSQL, where each row has its lock.

On SQLite whoever writes is alone, and there the scan finds what these would be: a statement that does not name the
states that it leaves. A proof on PostgreSQL reads the SQL as that of PostgreSQL, and finds these in it as well. Small
services with such faults on either database stand in ``test_interleavings``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.conformance.bundled import NotesDriver
from arrowproof.conformance.own_database import own_database
from arrowproof.errors import DOES_NOT_HOLD, HOLDS
from arrowproof.model.loader import load_lifecycle
from tests.mutants.copies import Copies
from tests.mutants.table import Change, Mutant, read_mutants
from tests.mutants.trial import Judgement, check_plan, check_sql, choose

MUTANTS = read_mutants("races", Path(__file__).parent)


def race(package_folder: Path, goals: tuple[str, ...], postgresql: str, run_folder: Path) -> Judgement:
    """What is said of a copy of the service when several workers are set off on one row."""
    lifecycle = load_lifecycle(package_folder / "arrowproof" / "service" / "notes-job.lifecycle.json")
    with own_database(postgresql) as url:
        plan = choose(lifecycle, goals)
        return check_plan(lifecycle, NotesDriver(package_folder), run_folder, plan, races=True, database=url)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_by_a_race_and_by_nothing_else(
    copies: Copies, mutant: Mutant, postgresql: str, tmp_path: Path
) -> None:
    copy = copies.make(mutant.change)
    assert check_sql(copy).status == HOLDS
    judgement = race(copy, mutant.tours, postgresql, tmp_path / "run")
    assert judgement.kills(mutant), judgement


ALONE = Change(
    "a-statement-of-postgresql-alone",
    "target swapped",
    "sql/postgresql/begun.sql",
    "INSERT INTO begun_attempts (job_id, attempts, crashes)\nVALUES",
    "WITH worn AS (UPDATE jobs SET status = 'failed' WHERE attempts > 99)\n"
    "INSERT INTO begun_attempts (job_id, attempts, crashes)\nVALUES",
)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        *zip([mutant.change for mutant in MUTANTS], ["completed -> cancelled", "completed -> pending"], strict=True),
        (ALONE, "completed -> failed"),
    ],
    ids=lambda given: getattr(given, "id", None),
)
def test_what_only_postgresql_lets_happen_is_red_where_the_sql_is_read_as_its_own(
    copies: Copies, change: Change, path: str
) -> None:
    assert check_sql(copies.make(change)).status == HOLDS
    judgement = check_sql(copies.make(change), "--dialect", "postgresql")
    assert judgement.status == DOES_NOT_HOLD
    assert any(f"sneak path {path}" in reason for reason in judgement.reasons), judgement


def test_the_service_itself_holds_as_the_sql_of_both(copies: Copies) -> None:
    for dialect in ("sqlite", "postgresql"):
        judgement = check_sql(copies.make(), "--dialect", dialect)
        assert (judgement.status, judgement.reasons) == (HOLDS, ())


def test_the_service_itself_comes_out_right(copies: Copies, postgresql: str, tmp_path: Path) -> None:
    goals = ("pending -> completed", "pending -> cancelled", "failed -> pending")
    judgement = race(copies.make(), goals, postgresql, tmp_path / "run")
    assert (judgement.status, judgement.reasons) == (HOLDS, ())
