"""Sneak paths of one proof: what statements can make and what journals hold, brought together by pair."""

from __future__ import annotations

from collections.abc import Iterable

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Pair


def merge_sneak_paths(lifecycle: Lifecycle, *found: Iterable[SneakPath]) -> tuple[SneakPath, ...]:
    """One sneak path for each pair, with every statement that can make it and every journal row that holds it.

    The reason of an accepted one is the lifecycle's own. Order: those that happened first, then by the model's order
    of source and target, values that are no state of it after its states; creation comes first and removal last.
    """
    accepted = {(path.source, path.target): path.reason for path in lifecycle.accepted_sneak_paths}
    merged: dict[Pair, SneakPath] = {}
    for path in (path for paths in found for path in paths):
        pair = (path.source, path.target)
        known = merged.get(pair, SneakPath(path.source, path.target))
        merged[pair] = SneakPath(
            path.source,
            path.target,
            possible=tuple(dict.fromkeys(known.possible + path.possible)),
            happened=tuple(dict.fromkeys(known.happened + path.happened)),
            accepted=accepted.get(pair),
        )
    rank = {state.id: index for index, state in enumerate(lifecycle.states)}
    unknown = len(rank)

    def place(path: SneakPath) -> tuple[bool, int, int, str, str]:
        source = -1 if path.source is None else rank.get(path.source, unknown)
        target = unknown + 1 if path.target is None else rank.get(path.target, unknown)
        return (not path.happened, source, target, str(path.source), str(path.target))

    return tuple(sorted(merged.values(), key=place))
