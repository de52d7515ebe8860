"""The grid: every pair of states, and what the proof knows of each.

One line for each state that a row may leave (and creation), one column for each that it may enter (and removal). It is
the SQL transition matrix with the walks laid over it, and the one place where what *cannot* happen is seen as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from arrowproof.model.evidence import Evidence, Place, SneakPath
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.rung import rung_of
from arrowproof.model.transitions import Pair


class Mark(StrEnum):
    """What is known of one pair. The first seven are the rungs of transitions of the model."""

    GUARDED = "guarded"
    SURVIVED = "survived"
    WALKED = "walked"
    NOT_WRITTEN = "not written"
    WRITTEN = "written"
    NOT_SURVIVED = "not survived"
    MISSING = "missing"
    HAPPENED = "sneak path happened"
    POSSIBLE = "sneak path possible"
    ACCEPTED = "sneak path accepted"
    UNKNOWN = "cannot be told"
    IMPOSSIBLE = "no statement makes it"
    REFUSED = "refused by the guard"


@record
class Cell:
    """One pair of the grid, its mark, and the places of the statements that can make it."""

    source: str | None
    target: str | None
    mark: Mark
    places: tuple[Place, ...] = ()


@record
class Grid:
    """The cells by line; ``targets`` heads the columns and ``sources`` the lines. None is creation or removal."""

    sources: tuple[str | None, ...]
    targets: tuple[str | None, ...]
    lines: tuple[tuple[Cell, ...], ...]

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks that stand in the grid, in the order of their definition: what a legend has to explain."""
        present = {cell.mark for line in self.lines for cell in line}
        return tuple(mark for mark in Mark if mark in present)


def build_grid(evidence: Evidence, lifecycle: Lifecycle) -> Grid:
    """The grid of one proof.

    A pair that is neither a transition nor a sneak path is impossible as far as the statements found go; where an
    undecided statement or a dynamic target could still make it, it *cannot be told*. Under a guard that holds it is
    *refused*, whatever the statements can make.
    """
    known = _known_cells(evidence)
    accepted = {(path.source, path.target) for path in lifecycle.accepted_sneak_paths}  # a guard lets them through
    sources = (None, *_in_order(lifecycle, (source for source, _ in known)))
    targets = (*_in_order(lifecycle, (target for _, target in known)), None)
    return Grid(
        sources,
        targets,
        tuple(
            tuple(
                known.get((source, target))
                or _unknown_cell(
                    source, target, evidence, is_refused=evidence.is_guarded and (source, target) not in accepted
                )
                for target in targets
            )
            for source in sources
        ),
    )


def _in_order(lifecycle: Lifecycle, found: Iterable[str | None]) -> tuple[str, ...]:
    """The states of the model in its order, then values that are no state of it."""
    known = [state.id for state in lifecycle.stored_states]
    return (*known, *sorted({name for name in found if name is not None and name not in known}))


def _known_cells(evidence: Evidence) -> dict[Pair, Cell]:
    sneaking = {(it.source, it.target): _sneak_cell(it) for it in evidence.sneak_paths}
    declared = {
        (it.source, it.target): Cell(
            it.source,
            it.target,
            Mark(rung_of(it, is_guarded=evidence.is_guarded).words),
            tuple(statement.place for statement in it.written),
        )
        for it in evidence.transitions
    }
    return sneaking | declared


def _sneak_cell(path: SneakPath) -> Cell:
    mark = Mark.ACCEPTED if path.accepted is not None else Mark.HAPPENED if path.happened else Mark.POSSIBLE
    return Cell(path.source, path.target, mark, tuple(statement.place for statement in path.possible))


def _unknown_cell(source: str | None, target: str | None, evidence: Evidence, *, is_refused: bool) -> Cell:
    if is_refused:
        return Cell(source, target, Mark.REFUSED)
    by_parameter = [it for it in evidence.dynamic if source in it.sources and target is not None]
    statements = [it.statement for it in by_parameter] + [it.statement for it in evidence.undecided]
    # Nothing creates a row that is removed at once: that pair is no transition at all.
    if not statements or (source is None and target is None):
        return Cell(source, target, Mark.IMPOSSIBLE)
    return Cell(source, target, Mark.UNKNOWN, tuple(statement.place for statement in statements))
