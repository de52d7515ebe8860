"""``arrowproof guard``: the SQL by which a database refuses what the model lacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arrowproof.cli.output import model_argument, model_path, printable, write_file
from arrowproof.errors import HOLDS, InputError
from arrowproof.model.loader import load_lifecycle

if TYPE_CHECKING:
    from arrowproof.conformance.guard_script import GuardScript
    from arrowproof.model.lifecycle import Lifecycle


@click.command()
@model_argument
@click.option(
    "--dialect", type=click.Choice(["sqlite", "postgresql"]), help="The database; the model's dialect when left out."
)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The file to write; standard output when left out.")
@click.option("--remove", is_flag=True, help="Write the script that takes the guard away.")
@click.option("--migration", is_flag=True, help="Write both ways in one file, for a tool that makes the transactions.")
@click.option(
    "--db", metavar="FILE", help="A SQLite database to read the table's unique indexes from, in place of the sources."
)
@click.option(
    "--old-sqlite", is_flag=True, help="For SQLite before 3.47, whose messages cannot name the row that was refused."
)
@click.option("--force", is_flag=True, help="Replace a file that this command did not write.")
def command(
    model: str,
    dialect: str | None,
    out: Path | None,
    remove: bool,
    migration: bool,
    db: str | None,
    old_sqlite: bool,
    force: bool,
) -> int:
    """Write the SQL by which the database itself refuses every transition, creation and removal that MODEL lacks.

    Touches pass, and so do the sneak paths that the model accepts. A trigger costs a part of every write: measure it.

    \b
    Example:
      arrowproof guard lifecycle.json -o guard.sql
      arrowproof guard lifecycle.json --dialect postgresql --migration -o migrations/7_guard.sql
    """
    from arrowproof.conformance.guard_script import MARK

    if remove and migration:
        raise InputError("a migration has both ways already: give --remove or --migration")
    script = _script(load_lifecycle(model_path(model)), dialect, db, is_plain=old_sqlite)
    text = script.removal() if remove else script.migration() if migration else script.installation()
    if out is None:
        click.echo(text, nl=False)
    else:
        write_file(out, text, is_ours=lambda head: head.startswith(MARK.encode()), force=force)
        click.echo(printable(f"wrote {out}"))
    return HOLDS


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
