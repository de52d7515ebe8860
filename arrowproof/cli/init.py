"""``arrowproof init``: a starter lifecycle, and a starter driver for one that is there."""

from __future__ import annotations

from pathlib import Path

import click

from arrowproof.cli.output import DEFAULT_MODEL, model_path, printable, write_file
from arrowproof.model.starter import starter_text


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--driver",
    "model",
    metavar="MODEL",
    help="Write a driver for the service behind MODEL instead, with a place for each of its transitions, to PATH"
    " (beside MODEL when left out).",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(path: Path | None, model: str | None, force: bool) -> None:
    """Write a starter lifecycle file to PATH (lifecycle.json), with notes that say what each part means.

    \b
    Example:
      arrowproof init && arrowproof view
      arrowproof init --driver lifecycle.json
    """
    if model is not None:
        _write_driver(model_path(model), path, force)
        return
    path = path or Path(DEFAULT_MODEL)
    write_file(path, starter_text(), is_ours=None, force=force)
    shown = printable(str(path))
    click.echo(f"wrote {shown}\nNext: arrowproof view {shown}")


def _write_driver(model: Path, path: Path | None, force: bool) -> None:
    from arrowproof.conformance.driver_starter import driver_name, driver_text, module_name
    from arrowproof.model.loader import load_lifecycle

    lifecycle = load_lifecycle(model)
    path = path or model.parent / f"{module_name(lifecycle)}.py"
    write_file(path, driver_text(lifecycle), is_ours=None, force=force)
    shown, name = printable(str(path)), f"{path.stem}:{driver_name(lifecycle)}"
    proving = f"arrowproof prove {printable(str(model))} --driver {name}"
    click.echo(f"wrote {shown}\nNext: fill in start and walk, then {proving}")
