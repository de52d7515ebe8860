"""Sneak arrows: the sneak paths of a proof as arrows of the lifecycle that is drawn, never hidden.

A value that is no state becomes a neutral state of its own, so that the arrow has an end. A picture takes so many of
them; the others are counted beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.transitions import Pair
from arrowproof.render.language import Language
from arrowproof.render.text import clean_text

if TYPE_CHECKING:
    from arrowproof.model.evidence import SneakPath

MAX_DRAWN = 12
"""Sneak paths that a picture takes: more would hide the lifecycle itself."""

MANY = 6
"""More sneak paths than this are listed in two columns, and the words that they share are said once."""

_MAX_VALUE = 60
"""Characters of a value that is no state; a column may hold a whole document."""


def add_sneak_arrows(
    lifecycle: Lifecycle, sneak_paths: Iterable[SneakPath], language: Language
) -> tuple[Lifecycle, Mapping[str, SneakPath]]:
    """The lifecycle with an arrow for each sneak path, and the sneak paths by the ids of these arrows.

    Those that happened come first, and those that nobody accepted before the others; at most MAX_DRAWN are taken, each
    pair once. The ids are none of the model's.
    """
    chosen: dict[Pair, SneakPath] = {}
    for path in sorted(sneak_paths, key=lambda path: (not path.happened, path.accepted is not None)):
        if (path.source, path.target) != (None, None):
            chosen.setdefault((path.source, path.target), path)
    states = {state.id: state for state in lifecycle.states}
    arrows = {arrow.id: arrow for arrow in lifecycle.arrows}
    ends: dict[str, str] = {}
    drawn: dict[str, SneakPath] = {}
    for number, path in enumerate(list(chosen.values())[:MAX_DRAWN], 1):
        source, target = (_end(value, lifecycle, states, ends, language) for value in (path.source, path.target))
        arrow = Arrow(_free(f"sneak path {number}", arrows), source, target, event=language("sneak.label"))
        arrows[arrow.id], drawn[arrow.id] = arrow, path
    return replace(lifecycle, states=tuple(states.values()), arrows=tuple(arrows.values())), drawn


def sneak_words(path: SneakPath, language: Language) -> str:
    """Whether it happened or is possible, and that it is accepted when it is."""
    words = language("sneak.happened") if path.happened else language("sneak.possible")
    return language("sneak.accepted", what=words) if path.accepted is not None else words


def shared_words(sneak_paths: Iterable[SneakPath], language: Language) -> str:
    """What most of many sneak paths are, the first of equals; empty where they are few."""
    counts = Counter(sneak_words(path, language) for path in sneak_paths)
    return max(counts, key=lambda words: counts[words]) if counts.total() > MANY else ""


def _end(
    value: str | None, lifecycle: Lifecycle, states: dict[str, State], ends: dict[str, str], language: Language
) -> str | None:
    """The id of the state that an end of a sneak path is drawn at; a value of none is added to ``states``."""
    known = lifecycle.states_by_id.get(value) if value is not None else None
    if value is None or (known is not None and known.is_stored):
        return value
    if value not in ends:
        ends[value] = _free(value, states)
        shown = clean_text(value) or '""'
        label = shown if len(shown) <= _MAX_VALUE else f"{shown[: _MAX_VALUE - 1]}…"
        states[ends[value]] = State(ends[value], Kind.NEUTRAL, label, None, note=language("sneak.no_state"))
    return ends[value]


def _free(wanted: str, taken: Mapping[str, object]) -> str:
    while wanted in taken:
        wanted += "'"
    return wanted
