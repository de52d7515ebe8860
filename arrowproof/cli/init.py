"""``arrowproof init``: a starter lifecycle, and a starter driver for one that is there."""

from __future__ import annotations

from keyword import iskeyword
from pathlib import Path

import click

from arrowproof.cli.output import BUNDLED_MODEL, DEFAULT_MODEL, model_path, printable, write_file
from arrowproof.errors import InputError
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
        _write_driver(model, path, force)
        return
    path = path or Path(DEFAULT_MODEL)
    write_file(path, starter_text(), is_ours=None, force=force)
    shown = printable(str(path))
    click.echo(f"wrote {shown}\nNext: arrowproof view {shown}")


def _write_driver(named: str, path: Path | None, force: bool) -> None:
    from arrowproof.conformance.driver_starter import driver_name, driver_text, module_name
    from arrowproof.model.loader import load_lifecycle

    model = model_path(named)
    lifecycle = load_lifecycle(model)
    # The folder of the bundled service is that of the tool.
    folder = Path() if model == BUNDLED_MODEL else model.parent
    path = path or folder / f"{module_name(lifecycle)}.py"
    if path.suffix != ".py" or not path.stem.isidentifier() or iskeyword(path.stem):
        raise InputError(f"{path} is no name that Python imports. Name a file such as {module_name(lifecycle)}.py")
    write_file(path, driver_text(lifecycle), is_ours=None, force=force)
    # A driver is found beside its model.
    is_beside = path.parent.resolve() == model.parent.resolve()
    found = "" if is_beside else f"PYTHONPATH={printable(str(path.parent))} "
    proving = f"{found}arrowproof prove {printable(named)} --driver {path.stem}:{driver_name(lifecycle)}"
    click.echo(f"wrote {printable(str(path))}\nNext: fill in start and walk, then {proving}")
