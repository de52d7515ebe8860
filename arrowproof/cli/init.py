"""``arrowproof init``: a starter lifecycle."""

from __future__ import annotations

from pathlib import Path

import click

from arrowproof.cli.output import DEFAULT_MODEL, printable, write_file
from arrowproof.model.starter import starter_text


@click.command()
@click.argument("path", required=False, default=DEFAULT_MODEL, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(path: Path, force: bool) -> None:
    """Write a starter lifecycle file to PATH (lifecycle.json), with notes that say what each part means.

    \b
    Example:
      arrowproof init && arrowproof view
    """
    write_file(path, starter_text(), is_ours=None, force=force)
    shown = printable(str(path))
    click.echo(f"wrote {shown}\nNext: arrowproof view {shown}")
