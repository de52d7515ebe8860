"""``python -m tests.mutants``: tries every mutant of the table and says what killed it, or that it lives.

Exit status: 0 every mutant is killed as the table says; 1 one lives, is killed by another check or for another reason,
or could not be tried. With ``--whole`` each is tried by ``arrowproof prove`` itself, which takes many times as long.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import click

from arrowproof.errors import DOES_NOT_HOLD, HOLDS
from tests.mutants.row import make_row
from tests.mutants.table import read_equivalents, read_mutants

_HEAD = ("class", "mutant", "killed by", "s", "reason")
_LINE = "{:<32} {:<44} {:<9} {:>5}  {}"
_SHOWN = 100


@click.command("python -m tests.mutants")
@click.option("--only", metavar="CLASS", help="The mutants of one class, or the one of this id.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="How many are tried at a time.")
@click.option("--whole", is_flag=True, help="By `arrowproof prove` itself, not by the cheapest check.")
def main(only: str | None, jobs: int, whole: bool) -> None:
    """Try the mutants of the bundled service, and say what killed each, or that it lives."""
    mutants = [each for each in read_mutants() if only in (None, each.change.kind, each.id)]
    if not mutants:
        raise click.BadParameter(f"no class and no mutant is called {only!r}", param_hint="--only")
    started = time.monotonic()
    click.echo(_LINE.format(*_HEAD))
    lived = 0
    workers = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, workers:
        tried = workers.map(partial(make_row, Path(folder), whole), mutants)
        for mutant, row in zip(mutants, tried, strict=True):
            shown = row.reason[:_SHOWN] if row.is_killed else row.reason
            click.echo(_LINE.format(mutant.change.kind, mutant.id, row.killed_by, f"{row.seconds:.1f}", shown))
            lived += not row.is_killed
    classes = len({each.change.kind for each in mutants})
    seconds = time.monotonic() - started
    click.echo(
        f"\nkilled: {len(mutants) - lived} of {len(mutants)}; classes: {classes}; seconds: {seconds:.0f};"
        f" equivalent, and not tried: {len(read_equivalents())}"
    )
    sys.exit(DOES_NOT_HOLD if lived else HOLDS)


if __name__ == "__main__":
    main()
