"""The outline: what a page says about a lifecycle, as plain texts, before anything is placed or marked up.

Every text has been through ``clean_text``; none is escaped, since that is the work of whoever writes markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Panel, State
from arrowproof.model.transitions import CREATED, REMOVED, Transition, derive_transitions
from arrowproof.render.svg import endpoint_name
from arrowproof.render.text import clean_text

HASH_LENGTH = 8
"""Characters of the model's SHA-256 that a page shows: enough to tell two versions of one file apart."""

MAX_PATHS = 3
"""Arrow paths of one transition that the list shows; the others are counted."""


@dataclass(frozen=True)
class Count:
    """How many of something: the number and the words under it."""

    number: int
    caption: str

    @property
    def spoken(self) -> str:
        """Number and words on one line."""
        return f"{self.number} {self.caption}"


@dataclass(frozen=True)
class ListedTransition:
    """A transition as the list shows it; ``arrows`` are the numbers of all arrows that it walks over."""

    source: str
    target: str
    paths: tuple[str, ...]
    arrows: str


@dataclass(frozen=True)
class Fact:
    """One thing that the binding says."""

    name: str
    value: str


@dataclass(frozen=True)
class ArrowRow:
    """An arrow as a row of the table for screen readers."""

    id: str
    source: str
    target: str
    label: str


@dataclass(frozen=True)
class Outline:
    """A page's texts.

    ``syntax`` says how labels read, and is empty when they are events alone. ``marks`` (kind of mark and its name) and
    ``kinds`` hold only what occurs.
    """

    id: str
    title: str
    summary: str
    model_hash: str
    counts: tuple[Count, ...]
    heading: str
    transitions: tuple[ListedTransition, ...]
    facts: tuple[Fact, ...]
    panels: tuple[Panel, ...]
    marks: tuple[tuple[str, str], ...]
    syntax: str
    kinds: tuple[Kind, ...]
    arrows: tuple[ArrowRow, ...]


def outline_lifecycle(lifecycle: Lifecycle) -> Outline:
    """What a page says about a lifecycle.

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions to list.
    """
    transitions = derive_transitions(lifecycle)
    counts = _counts(lifecycle, transitions)
    return Outline(
        id=clean_text(lifecycle.id),
        title=clean_text(lifecycle.title),
        summary=clean_text(lifecycle.summary),
        model_hash=lifecycle.origin.sha256[:HASH_LENGTH],
        counts=counts,
        heading=f"{counts[2].spoken} over {counts[1].spoken}",
        transitions=tuple(_listed(transition, lifecycle) for transition in transitions),
        facts=_facts(lifecycle),
        panels=tuple(
            Panel(clean_text(panel.title), tuple(clean_text(line) for line in panel.lines))
            for panel in lifecycle.panels
        ),
        marks=_marks(lifecycle),
        syntax=_syntax(lifecycle.arrows),
        kinds=_kinds(lifecycle.states),
        arrows=tuple(_arrow_row(arrow, lifecycle) for arrow in lifecycle.arrows),
    )


def _counts(lifecycle: Lifecycle, transitions: Sequence[Transition]) -> tuple[Count, ...]:
    passing = len(lifecycle.states) - len(lifecycle.stored_states)
    states = _noun(len(lifecycle.states), "state")
    return (
        Count(len(lifecycle.states), f"{states}, {passing} passing" if passing else states),
        Count(len(lifecycle.arrows), _noun(len(lifecycle.arrows), "arrow")),
        Count(len(transitions), _noun(len(transitions), "transition")),
    )


def _noun(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def _listed(transition: Transition, lifecycle: Lifecycle) -> ListedTransition:
    numbers = {arrow.id: number for number, arrow in enumerate(lifecycle.arrows)}
    over = sorted({numbers[arrow] for path in transition.paths for arrow in path})
    return ListedTransition(
        source=_end(transition.source, CREATED),
        target=_end(transition.target, REMOVED),
        paths=_shown_paths(transition.paths),
        arrows=" ".join(map(str, over)),
    )


def _end(state_id: str | None, without: str) -> str:
    return without if state_id is None else clean_text(state_id) or '""'


def _shown_paths(paths: Sequence[Sequence[str]]) -> tuple[str, ...]:
    shown = [", ".join(clean_text(arrow) for arrow in path) for path in paths[:MAX_PATHS]]
    hidden = len(paths) - len(shown)
    return (*shown, f"{hidden} more") if hidden else tuple(shown)


def _facts(lifecycle: Lifecycle) -> tuple[Fact, ...]:
    binding = lifecycle.binding
    if binding is None:
        return ()
    facts = [Fact("table", binding.table), Fact("key", ", ".join(binding.key)), _state_fact(binding)]
    if binding.watch:
        facts.append(Fact("watched", ", ".join(binding.watch)))
    values = [f"{state.id} = {_value(state)}" for state in lifecycle.stored_states if state.value != state.id]
    if values:
        facts.append(Fact("values", ", ".join(values)))
    return tuple(Fact(fact.name, clean_text(fact.value)) for fact in facts)


def _state_fact(binding: Binding) -> Fact:
    return Fact("state", binding.state if binding.state is not None else binding.state_sql or "")


def _value(state: State) -> str:
    return "null" if state.value is None else str(state.value)


def _marks(lifecycle: Lifecycle) -> tuple[tuple[str, str], ...]:
    has_start = any(arrow.source is None for arrow in lifecycle.arrows)
    has_removed = any(arrow.target is None for arrow in lifecycle.arrows)
    return ((("start", CREATED),) if has_start else ()) + ((("removed", REMOVED),) if has_removed else ())


def _syntax(arrows: Sequence[Arrow]) -> str:
    parts = {
        "event": any(arrow.event for arrow in arrows),
        "[guard]": any(arrow.guard for arrow in arrows),
        "/ effect": any(arrow.effect for arrow in arrows),
    }
    present = [part for part, occurs in parts.items() if occurs]
    return "" if present == ["event"] else " ".join(present)


def _kinds(states: Sequence[State]) -> tuple[Kind, ...]:
    present = {state.kind for state in states}
    return tuple(kind for kind in Kind if kind in present)


def _arrow_row(arrow: Arrow, lifecycle: Lifecycle) -> ArrowRow:
    return ArrowRow(
        id=clean_text(arrow.id),
        source=endpoint_name(arrow.source, lifecycle, CREATED),
        target=endpoint_name(arrow.target, lifecycle, REMOVED),
        label=clean_text(arrow.label),
    )
