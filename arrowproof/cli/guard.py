"""``arrowproof guard``: the SQL by which a database refuses what the model lacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arrowproof.cli.output import emit_json, json_option, model_argument, model_path, printable, write_file
from arrowproof.errors import DOES_NOT_HOLD, HOLDS, InputError
from arrowproof.model.loader import load_lifecycle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arrowproof.conformance.guard_check import GuardCheck
    from arrowproof.conformance.guard_script import GuardScript
    from arrowproof.model.lifecycle import Lifecycle


@click.command()
@model_argument
@click.option(
    "--dialect", type=click.Choice(["sqlite", "postgresql"]), help="The database; the model's dialect when left out."
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The file to write; standard output when left out or `-`."
)
@click.option("--remove", is_flag=True, help="Write the script that takes the guard away.")
@click.option("--migration", is_flag=True, help="Write both ways in one file, for a tool that makes the transactions.")
@click.option(
    "--db",
    metavar="FILE|URL",
    help="The database to check; to write, a SQLite file whose unique indexes are read in place of the sources.",
)
@click.option("--check", is_flag=True, help="Check the guard of --db: try every pair, and undo it. Writes no SQL.")
@json_option
@click.option(
    "--old-sqlite",
    is_flag=True,
    help="For a service whose SQLite is older than 3.47: messages then name the table, and not the row.",
)
@click.option("--force", is_flag=True, help="Replace a file that this command did not write.")
def command(
    model: str,
    dialect: str | None,
    out: Path | None,
    remove: bool,
    migration: bool,
    db: str | None,
    check: bool,
    as_json: bool,
    old_sqlite: bool,
    force: bool,
) -> int:
    """Write the SQL by which the database itself refuses every transition, creation and removal that MODEL lacks.

    Touches pass, and so do the sneak paths that the model accepts. A trigger costs a part of every write: measure it.

    With --check the guard of a database is tried with every pair of states and every way of writing: on a copy of a
    SQLite file's schema, or on PostgreSQL in a transaction that is rolled back. It holds when all that MODEL lacks was
    refused, by triggers that look at the row alone, and all that it has was let through.

    \b
    Example:
      arrowproof guard lifecycle.json -o guard.sql
      arrowproof guard lifecycle.json --dialect postgresql --migration -o migrations/7_guard.sql
      arrowproof guard lifecycle.json --check --db postgresql://localhost/app
    """
    if check:
        if db is None or remove or migration or out is not None:
            raise InputError("--check writes no SQL and takes the database by --db FILE or --db URL")
        return _check(load_lifecycle(model_path(model)), db, as_json=as_json)
    from arrowproof.conformance.guard_script import MARK

    if as_json:
        raise InputError("--json goes with --check: what is written without it is SQL")
    if remove and migration:
        raise InputError("a migration has both ways already: give --remove or --migration")
    script = _script(load_lifecycle(model_path(model)), dialect, db, is_plain=old_sqlite)
    text = script.removal() if remove else script.migration() if migration else script.installation()
    if out is None or out == Path("-"):
        click.echo(text, nl=False)
    else:
        write_file(out, text, is_ours=lambda head: head.startswith(MARK.encode()), force=force)
        click.echo(printable(f"wrote {out}"))
    if not remove and script.asks_for_new_sqlite:
        click.echo(f"note: {_NEW_SQLITE}{_own_sqlite()}; --old-sqlite writes a guard for older ones", err=True)
    return HOLDS


_NEW_SQLITE = "whatever opens the database then needs SQLite 3.47 or newer"


def _own_sqlite() -> str:
    """The SQLite of this Python, which is likely to be the service's, where it is too old."""
    try:
        from sqlite3 import sqlite_version, sqlite_version_info
    except ImportError:
        return ""
    return f" (this Python has {sqlite_version})" if sqlite_version_info < (3, 47) else ""


def _script(lifecycle: Lifecycle, dialect: str | None, db: str | None, *, is_plain: bool) -> GuardScript:
    from arrowproof.conformance.guard import read_allowed
    from arrowproof.conformance.guard_script import DIALECTS, GuardScript
    from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
    from arrowproof.conformance.sqlite_guard import SQLiteGuard
    from arrowproof.conformance.table_shape import shape_in_database, shape_in_sources
    from arrowproof.model.lifecycle import Dialect

    allowed = read_allowed(lifecycle)
    wanted = Dialect(dialect or lifecycle.dialect)
    if wanted not in DIALECTS:
        raise InputError(f"there is no guard for {wanted}; --dialect takes sqlite or postgresql")
    if wanted is Dialect.POSTGRESQL:
        return GuardScript(PostgreSQLGuard(allowed))
    binding = allowed.binding
    shape = shape_in_sources(lifecycle, binding) if db is None else shape_in_database(Path(db), binding)
    return GuardScript(SQLiteGuard(allowed, shape, is_plain))


def _check(lifecycle: Lifecycle, db: str, *, as_json: bool) -> int:
    """Check the guard of a database and say what came of it.

    One that holds is checked once more by the triggers that look at the row alone: another may let through tomorrow
    what it refused here.
    """
    from arrowproof.conformance.guard_check import check_guard_of

    address = db if "://" in db else Path(db)
    checked = check_guard_of(address, lifecycle)
    if checked.holds:
        try:
            alone = check_guard_of(address, lifecycle, by_row_alone=True)
        except InputError as error:
            click.echo(printable(f"note: whether it looks at more than the row is not known: {error}"), err=True)
        else:
            checked = checked if alone.holds else alone
    if as_json:
        emit_json("arrowproof.guard/1", _verdict(checked), _content(lifecycle, checked))
    else:
        for line in _lines(lifecycle, checked):
            click.echo(printable(line))
    return HOLDS if checked.holds else DOES_NOT_HOLD


def _verdict(checked: GuardCheck) -> str:
    return "holds" if checked.holds else "does not hold"


def _lines(lifecycle: Lifecycle, checked: GuardCheck) -> Iterator[str]:
    guard, others = checked.as_evidence(), [each for each in checked.trials if each.wanted == "let through"]
    passed = sum(each.is_right for each in others)
    yield (
        f"{_head(lifecycle, checked)}: {guard.refused} of {guard.tried} undeclared writes refused,"
        f" {passed} of {len(others)} others let through"
    )
    if checked.set_aside:
        for what in checked.set_aside:
            yield f"  set aside   {what}"
        yield "  with them every write ended as it should; each may let through elsewhere what it refused here"
        return
    if guard.refused == 0 and checked.leaks and not any(each.answer.said for each in checked.leaks):
        yield "  there is no guard; `arrowproof guard` writes one"
        return
    for title, trials in (
        ("leak", checked.leaks),
        ("too strict", checked.wrongly_refused),
        ("not tried", checked.untried),
    ):
        for trial in trials[:_SHOWN]:
            yield f"  {title:<10}  {trial}"
        if len(trials) > _SHOWN:
            yield f"  {title:<10}  and {len(trials) - _SHOWN} more, which --json tells"


_SHOWN = 20
"""The writes of one kind that are told; a guard of another model may have thousands."""


def _head(lifecycle: Lifecycle, checked: GuardCheck) -> str:
    if checked.holds:
        return f"the guard of {lifecycle.id} holds"
    if checked.set_aside:
        return f"{lifecycle.id} is not guarded by what looks at the row alone"
    if checked.leaks or checked.wrongly_refused:
        return f"{lifecycle.id} is not guarded"
    return f"it is not known whether {lifecycle.id} is guarded"


def _content(lifecycle: Lifecycle, checked: GuardCheck) -> dict[str, object]:
    return {
        "model": lifecycle.id,
        "tried": checked.as_evidence().tried,
        "refused": checked.as_evidence().refused,
        "set_aside": list(checked.set_aside),
        "trials": [
            {"name": each.name, "wanted": each.wanted, "outcome": each.answer.outcome, "said": each.answer.said}
            for each in checked.trials
        ],
    }
