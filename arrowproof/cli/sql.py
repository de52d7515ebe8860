"""``arrowproof sql``: the SQL transition matrix."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arrowproof.cli.output import DEFAULT_MODEL, emit_json, json_option, model_argument, model_path, printable
from arrowproof.errors import DOES_NOT_HOLD, HOLDS, InputError
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import derive_transitions, transition_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arrowproof.conformance.matrix import Matrix
    from arrowproof.model.evidence import Statement
    from arrowproof.model.lifecycle import Lifecycle


MAX_PLACES = 8
"""Places of one transition that a line shows."""


@click.command()
@model_argument
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--dialect",
    type=click.Choice([each.value for each in Dialect]),
    help='The SQL that the files are written in; the model\'s "dialect" when left out.',
)
@json_option
def command(model: str, paths: tuple[Path, ...], dialect: str | None, as_json: bool) -> int:
    """Find every statement that can move a row of MODEL's table, and say which transitions each can make.

    PATH... are files of SQL or code, or folders; when left out, the model's "sources" are read. It holds when every
    transition is written, no sneak path is possible, and nothing is undecided.

    \b
    Example:
      arrowproof sql lifecycle.json db/queries.sql
    """
    from arrowproof.conformance.matrix import build_matrix, scan

    _check_order(model, paths)
    lifecycle = load_lifecycle(model_path(model))
    if dialect is not None:
        lifecycle = replace(lifecycle, dialect=Dialect(dialect))
    matrix = build_matrix(lifecycle, scan(lifecycle, paths))
    if as_json:
        emit_json("arrowproof.sql/1", _verdict(matrix), _content(lifecycle, matrix))
    else:
        for line in _lines(lifecycle, matrix):
            click.echo(printable(line))
    return HOLDS if matrix.holds else DOES_NOT_HOLD


def _check_order(model: str, paths: tuple[Path, ...]) -> None:
    """Refuse SQL where MODEL belongs, and say how the line reads in order."""
    if not model.lower().endswith(".sql") and not os.path.isdir(model):  # noqa: PTH112 - False for what is no name
        return
    given = [model, *map(str, paths)]
    models = [name for name in given if name.endswith(".json")] or [DEFAULT_MODEL]
    line = shlex.join(["arrowproof", "sql", *models, *(name for name in given if name not in models)])
    raise InputError(f"MODEL comes first: {line}")


def _verdict(matrix: Matrix) -> str:
    return "holds" if matrix.holds else "does not hold"


def _lines(lifecycle: Lifecycle, matrix: Matrix) -> Iterator[str]:
    transitions = derive_transitions(lifecycle)
    written = sum(bool(matrix.written.get(transition.pair)) for transition in transitions)
    open_paths = sum(path.accepted is None for path in matrix.sneak_paths)
    yield (
        f"{lifecycle.id} {_verdict(matrix)}: {written} of {len(transitions)} transitions written,"
        f" {open_paths} sneak path{'' if open_paths == 1 else 's'} possible, {len(matrix.undecided)} undecided,"
        f" {len(matrix.dynamic)} with a dynamic target"
    )
    width = max((len(transition.name) for transition in transitions), default=0)
    for path in matrix.sneak_paths:
        accepted = " (only in a race)" if path.only_in_race else ""
        accepted += f" (accepted: {path.accepted})" if path.accepted is not None else ""
        name = transition_name(path.source, path.target)
        yield f"  sneak path  {name:<{width}}  {_places(path.possible)}{accepted}"
    yield from _ways_out(matrix)
    for transition in transitions:
        found = matrix.written.get(transition.pair, ())
        yield f"  {'written' if found else 'missing':<10}  {transition.name:<{width}}  {_places(found)}".rstrip()
    for undecided in matrix.undecided:
        yield f"  undecided   {undecided.statement.place}  {undecided.reason}"
    for dynamic in matrix.dynamic:
        yield f"  dynamic     {dynamic.statement.place}  {dynamic.reason}"
    for idle in matrix.idle:
        yield f"  idle        {idle.place}  makes no transition from any state: is a state misspelt?"
    for note in matrix.notes:
        yield f"  note        {note}"


def _ways_out(matrix: Matrix) -> Iterator[str]:
    """What closes the sneak paths that nobody has accepted."""
    open_paths = [path for path in matrix.sneak_paths if path.accepted is None]
    if any(not path.only_in_race for path in open_paths):
        yield "  way out     name in the statement's WHERE the states that it may leave, or draw the arrow"
    if any(path.only_in_race for path in open_paths):
        yield "  way out     of a race: lock the row (FOR UPDATE), or name the source states in the outer WHERE"


def _places(statements: Iterable[Statement]) -> str:
    """The places of statements on one line; of many the first ones, as ``--json`` has them all."""
    places = [str(statement.place) for statement in statements]
    more = len(places) - MAX_PLACES
    return " ".join(places[:MAX_PLACES]) + (f" and {more} more" if more > 0 else "")


def _content(lifecycle: Lifecycle, matrix: Matrix) -> dict[str, object]:
    transitions = [
        {
            "from": transition.source,
            "to": transition.target,
            "written": [asdict(statement) for statement in matrix.written.get(transition.pair, ())],
        }
        for transition in derive_transitions(lifecycle)
    ]
    return {
        "sources": [asdict(source) for source in matrix.sources],
        "transitions": transitions,
        "sneak_paths": [
            {
                "from": path.source,
                "to": path.target,
                "possible": [asdict(statement) for statement in path.possible],
                "accepted": path.accepted,
                **({"only_in_race": True} if path.only_in_race else {}),
            }
            for path in matrix.sneak_paths
        ],
        "undecided": [asdict(undecided) for undecided in matrix.undecided],
        "dynamic": [asdict(dynamic) for dynamic in matrix.dynamic],
        "idle": [asdict(statement) for statement in matrix.idle],
        "notes": list(matrix.notes),
    }
