"""The outline: what a page says about a lifecycle, as plain texts, before anything is placed or marked up.

Every text has been through ``clean_text``; none is escaped, since that is the work of whoever writes markup. What the
model says stands as written, everything else is in the language of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Panel, State
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition, derive_transitions
from arrowproof.render.language import Language, load_language
from arrowproof.render.names import distinct_names, endpoint_name, listed_names, pair_address
from arrowproof.render.proof import Proof, arrow_words
from arrowproof.render.text import clean_text, tallness
from arrowproof.render.transition_groups import list_is_tall
from arrowproof.render.views import ListedView, list_views

HASH_LENGTH = 8
"""Characters of the model's SHA-256 that a page shows: enough to tell two versions of one file apart."""

MAX_PATHS = 3
"""Arrow paths of one transition that the list shows; the others are counted."""


@record
class Count:
    """How many of something: the number and the words under it."""

    number: int
    caption: str

    @property
    def spoken(self) -> str:
        """Number and words on one line."""
        return f"{self.number} {self.caption}"


@record
class ListedTransition:
    """A transition as the list shows it; ``arrows`` are the numbers of all arrows that it walks over.

    ``address`` are its ends as an address names them.
    """

    address: tuple[str, str]
    source: str
    target: str
    paths: tuple[str, ...]
    arrows: str


@record
class Fact:
    """One thing that the binding says."""

    name: str
    value: str


@record
class ArrowRow:
    """An arrow as a row of the table for screen readers, with what a proof says of it."""

    id: str
    source: str
    target: str
    label: str
    standing: str = ""


@record
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
    kinds: tuple[tuple[Kind, str], ...]
    arrows: tuple[ArrowRow, ...]
    views: tuple[ListedView, ...]

    @property
    def tallness(self) -> int:
        """How much higher the lines of title and summary are than those of Latin text, in steps."""
        return max(tallness(self.title), tallness(self.summary))

    @property
    def list_is_tall(self) -> bool:
        """Whether the lines of the transitions are higher than those of other text."""
        return list_is_tall(self.transitions)


def outline_lifecycle(lifecycle: Lifecycle, language: Language | None = None, proof: Proof | None = None) -> Outline:
    """What a page says about a lifecycle, in a language (English when left out), with a proof of it if there is one.

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions to list.
    """
    language = language or load_language()
    transitions = derive_transitions(lifecycle)
    names = _StateNames(listed_names(lifecycle), distinct_names(state.id for state in lifecycle.states))
    return Outline(
        id=clean_text(lifecycle.id),
        title=clean_text(lifecycle.title),
        summary=clean_text(lifecycle.summary),
        model_hash=lifecycle.origin.sha256[:HASH_LENGTH],
        counts=_counts(lifecycle, transitions, language),
        heading=language(
            "transitions.heading",
            transitions=language.count("count.transitions", len(transitions)),
            arrows=language.count("count.arrows", len(lifecycle.arrows)),
        ),
        transitions=tuple(_listed(transition, names, lifecycle, language) for transition in transitions),
        facts=_facts(lifecycle, language),
        panels=tuple(
            Panel(clean_text(panel.title), tuple(clean_text(line) for line in panel.lines))
            for panel in lifecycle.panels
        ),
        marks=_marks(lifecycle, language),
        syntax=_syntax(lifecycle.arrows, language),
        kinds=_kinds(lifecycle.states, language),
        arrows=_arrow_rows(lifecycle, proof, language),
        views=list_views(lifecycle) if proof is None else list_views(proof.lifecycle, proof.sneak_paths),
    )


def _counts(lifecycle: Lifecycle, transitions: Sequence[Transition], language: Language) -> tuple[Count, ...]:
    passing = len(lifecycle.states) - len(lifecycle.stored_states)
    states = language.count("caption.states", len(lifecycle.states))
    if passing:
        states = language("caption.passing", states=states, number=passing)
    return (
        Count(len(lifecycle.states), states),
        Count(len(lifecycle.arrows), language.count("caption.arrows", len(lifecycle.arrows))),
        Count(len(transitions), language.count("caption.transitions", len(transitions))),
    )


@record
class _StateNames:
    """The names of the states, by id: in the list, and in addresses."""

    listed: Mapping[str, str]
    addressed: Mapping[str, str]


def _listed(transition: Transition, names: _StateNames, lifecycle: Lifecycle, language: Language) -> ListedTransition:
    numbers = {arrow.id: number for number, arrow in enumerate(lifecycle.arrows)}
    over = sorted({numbers[arrow] for path in transition.paths for arrow in path})
    return ListedTransition(
        address=pair_address(transition.pair, names.addressed),
        source=_end(transition.source, names.listed, language("end.created")),
        target=_end(transition.target, names.listed, language("end.removed")),
        paths=_shown_paths(transition.paths, language),
        arrows=" ".join(map(str, over)),
    )


def _end(state_id: str | None, names: Mapping[str, str], without: str) -> str:
    return without if state_id is None else names[state_id] or '""'


def _shown_paths(paths: Sequence[Sequence[str]], language: Language) -> tuple[str, ...]:
    shown = [", ".join(clean_text(arrow) for arrow in path) for path in paths[:MAX_PATHS]]
    hidden = len(paths) - len(shown)
    return (*shown, language("transitions.more", number=hidden)) if hidden else tuple(shown)


def _facts(lifecycle: Lifecycle, language: Language) -> tuple[Fact, ...]:
    binding = lifecycle.binding
    if binding is None:
        return ()
    facts = [
        Fact(language("binding.table"), binding.table),
        Fact(language("binding.key"), ", ".join(binding.key)),
        Fact(language("binding.state"), _state_expression(binding)),
    ]
    if binding.watch:
        facts.append(Fact(language("binding.watched"), ", ".join(binding.watch)))
    values = [f"{state.id} = {_value(state)}" for state in lifecycle.stored_states if state.value != state.id]
    if values:
        facts.append(Fact(language("binding.values"), ", ".join(values)))
    return tuple(Fact(fact.name, clean_text(fact.value)) for fact in facts)


def _state_expression(binding: Binding) -> str:
    return binding.state if binding.state is not None else binding.state_sql or ""


def _value(state: State) -> str:
    return "null" if state.value is None else str(state.value)


def _marks(lifecycle: Lifecycle, language: Language) -> tuple[tuple[str, str], ...]:
    has_start = any(arrow.source is None for arrow in lifecycle.arrows)
    has_removed = any(arrow.target is None for arrow in lifecycle.arrows)
    start = (("start", language("end.created")),) if has_start else ()
    return start + ((("removed", language("end.removed")),) if has_removed else ())


def _syntax(arrows: Sequence[Arrow], language: Language) -> str:
    parts = {
        "event": any(arrow.event for arrow in arrows),
        "guard": any(arrow.guard for arrow in arrows),
        "effect": any(arrow.effect for arrow in arrows),
    }
    present = [part for part, occurs in parts.items() if occurs]
    return "" if present == ["event"] else " ".join(language(f"syntax.{part}") for part in present)


def _kinds(states: Sequence[State], language: Language) -> tuple[tuple[Kind, str], ...]:
    present = {state.kind for state in states}
    return tuple((kind, language(f"kind.{kind}")) for kind in Kind if kind in present)


def _arrow_rows(lifecycle: Lifecycle, proof: Proof | None, language: Language) -> tuple[ArrowRow, ...]:
    """Every arrow in file order, and behind them the sneak paths that a proof has found."""
    drawn = lifecycle if proof is None else proof.lifecycle
    return tuple(
        ArrowRow(
            id=clean_text(arrow.id),
            source=endpoint_name(arrow.source, drawn, language("end.created")),
            target=endpoint_name(arrow.target, drawn, language("end.removed")),
            label=clean_text(arrow.label),
            standing="" if proof is None else arrow_words(arrow.id, proof, language),
        )
        for arrow in drawn.arrows
    )
