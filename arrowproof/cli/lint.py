"""``arrowproof lint``: schema and semantic checks."""

from __future__ import annotations

import click

from arrowproof.cli.output import emit_json, json_option, model_argument, model_path, printable
from arrowproof.errors import DOES_NOT_HOLD, HOLDS, ModelError
from arrowproof.model.linter import errors_of, lint
from arrowproof.model.loader import read_lifecycle
from arrowproof.model.source_problems import lint_sources
from arrowproof.model.transitions import derive_transitions


@click.command()
@model_argument
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@json_option
def command(model: str, strict: bool, as_json: bool) -> int:
    """Check the lifecycle file MODEL: first its form, then what it means. All problems are reported at once.

    Errors (exit status 2) are what makes a model mean nothing; warnings fail only with --strict (exit status 1).

    \b
    Example:
      arrowproof lint lifecycle.json --strict
    """
    path = model_path(model)
    lifecycle = read_lifecycle(path)
    problems = sorted((*lint(lifecycle), *lint_sources(lifecycle)), key=lambda problem: (problem.line, problem.column))
    if errors_of(problems):
        raise ModelError(model, problems)
    holds = not (strict and problems)
    transitions = derive_transitions(lifecycle)
    counts = {"states": len(lifecycle.states), "arrows": len(lifecycle.arrows), "transitions": len(transitions)}
    if as_json:
        found = [vars(problem) for problem in problems]
        emit_json("arrowproof.lint/1", "holds" if holds else "does not hold", {**counts, "problems": found})
    else:
        for problem in problems:
            click.echo(printable(f"{model}:{problem}"), err=True)
        said = ", ".join(f"{count} {name if count != 1 else name[:-1]}" for name, count in counts.items())
        warned = f", {len(problems)} warning{'' if len(problems) == 1 else 's'}" if problems else ""
        click.echo(f"{printable(lifecycle.id)} {'holds' if holds else 'does not hold'}: {said}{warned}")
    return HOLDS if holds else DOES_NOT_HOLD
