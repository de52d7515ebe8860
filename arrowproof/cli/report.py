"""``arrowproof report``: a report made again from evidence, without the service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arrowproof.cli.output import emit_json_text, json_option, model_argument, model_path, printable, write_file
from arrowproof.cli.proof_file import read_proof, stale_sentences
from arrowproof.errors import HOLDS, InputError
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arrowproof.conformance.comparison import Comparison
    from arrowproof.model.evidence import Evidence

FORMATS = ("text", "md", "html", "junit", "json")


@click.command()
@model_argument
@click.option(
    "--evidence",
    type=click.Path(path_type=Path),
    default=Path("arrowproof-out/evidence.json"),
    show_default=True,
    help="The evidence file of `prove`.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="text, when left out, is for a terminal, md for a comment on a pull request, junit for a CI server.",
)
@click.option(
    "--baseline",
    metavar="OLD.json",
    type=click.Path(path_type=Path),
    help="The evidence.json or report.json of an earlier proof: the report says what has changed since.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file; standard output when left out or `-`.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
def command(
    model: str,
    evidence: Path,
    form: str | None,
    baseline: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Make the report of a proof of MODEL again, from its evidence, such as in a job that comments on a pull request.

    It runs nothing and judges nothing anew: it exits with 0 whatever the verdict is. Evidence of another version of
    MODEL or of its sources makes a report that calls itself stale.

    \b
    Example:
      arrowproof report notes
      arrowproof report lifecycle.json --format md --baseline main/evidence.json -o comment.md
    """
    from arrowproof.conformance.baseline import baseline_of, read_baseline
    from arrowproof.conformance.comparison import compare

    output = None if output == Path("-") else output
    form = _chosen(form, output, as_json)
    lifecycle = load_lifecycle(model_path(model))
    proof = read_proof(evidence, lifecycle, "en")
    if proof.is_foreign:
        raise InputError(
            f"{evidence} is of the lifecycle {proof.evidence.model_id!r}, not of {lifecycle.id!r}. "
            "Name the evidence of this one, or its own model"
        )
    before = None if baseline is None else read_baseline(baseline, lifecycle)
    comparison = None if before is None else compare(before, baseline_of(proof.evidence))
    stale = stale_sentences(proof)
    if stale:
        click.echo(printable(f"warning: {evidence} is stale. {' '.join(stale)}"), err=True)
    if output is not None:
        write_file(output, _make(form, proof.evidence, lifecycle, comparison, stale), is_ours=None, force=force)
        click.echo(f"wrote {printable(str(output))}")
    elif form == "json":
        emit_json_text(_make(form, proof.evidence, lifecycle, comparison, stale))
    elif form == "text":
        _print_text(proof.evidence, lifecycle, comparison, stale)
    else:
        click.echo(_make(form, proof.evidence, lifecycle, comparison, stale), nl=False)
    return HOLDS


def _chosen(form: str | None, output: Path | None, as_json: bool) -> str:
    """The form that was asked for.

    Raises:
        InputError: ``--json`` stands beside what it rules out.
    """
    if as_json and (form not in (None, "json") or output is not None):
        raise InputError("--json prints the report as JSON. Leave it out beside -o, and beside another --format")
    return "json" if as_json else form or "text"


def _make(
    form: str, evidence: Evidence, lifecycle: Lifecycle, comparison: Comparison | None, stale: Sequence[str]
) -> str:
    from arrowproof.conformance.report_forms import FORMS

    return FORMS[form](evidence, lifecycle, comparison, stale)


def _print_text(evidence: Evidence, lifecycle: Lifecycle, comparison: Comparison | None, stale: Sequence[str]) -> None:
    """Print the report as `prove` does, in colours where standard output is a terminal."""
    from rich.console import Console

    from arrowproof.conformance.report_text import report_text

    Console(highlight=False, soft_wrap=True).print(report_text(evidence, lifecycle, comparison, stale))
