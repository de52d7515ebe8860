"""Sneak paths of one proof: what statements can make and what journals hold, brought together by pair."""

from __future__ import annotations

from collections.abc import Iterable

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Pair


def merge_sneak_paths(lifecycle: Lifecycle, *found: Iterable[SneakPath]) -> tuple[SneakPath, ...]:
    """One sneak path for each pair, with every statement that can make it and every journal row that holds it.

    It is accepted when the lifecycle accepts the pair and the matrix does not object: what it finds to store a value
    of no state is never accepted, whatever the value looks like. A value of no state stands as plain text, also where
    the matrix writes it as an SQL literal.

    Order: those that happened first, then by the model's order of source and target, values that are no state of it
    after its states; creation comes first and removal last.
    """
    reasons = {(path.source, path.target): path.reason for path in lifecycle.accepted_sneak_paths}
    merged: dict[Pair, SneakPath] = {}
    for path in (path for paths in found for path in paths):
        pair = (path.source, _plain(path.target, lifecycle))
        known = merged.get(pair, SneakPath(*pair, accepted=reasons.get(pair)))
        objects = bool(path.possible) and path.accepted is None
        merged[pair] = SneakPath(
            *pair,
            possible=tuple(dict.fromkeys(known.possible + path.possible)),
            happened=tuple(dict.fromkeys(known.happened + path.happened)),
            accepted=None if objects else known.accepted,
            only_in_race=all(each.only_in_race for each in (known, path) if each.possible)
            and bool(known.possible or path.possible),
        )
    rank = {state.id: index for index, state in enumerate(lifecycle.states)}
    unknown = len(rank)

    def place(path: SneakPath) -> tuple[bool, int, int, str, str]:
        source = -1 if path.source is None else rank.get(path.source, unknown)
        target = unknown + 1 if path.target is None else rank.get(path.target, unknown)
        return (not path.happened, source, target, str(path.source), str(path.target))

    return tuple(sorted(merged.values(), key=place))


def _plain(name: str | None, lifecycle: Lifecycle) -> str | None:
    """The value ``'paused'`` as ``paused``, unless that is the id of a state, which has another value."""
    if name is None or name in lifecycle.states_by_id or not (len(name) > 2 and name[0] == name[-1] == "'"):
        return name
    plain = name[1:-1].replace("''", "'")
    return name if plain in lifecycle.states_by_id else plain
