"""How much a drawing changes when its lifecycle does: a reader who knows the picture should find their way again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout import layout_lifecycle

ROOT = Path(__file__).resolve().parents[2]
CASES = [Path(__file__).parent / "cases" / f"{name}.json" for name in ("agent-run", "claim", "job", "parallel")]
BUNDLED = ROOT / "arrowproof" / "service" / "notes-job.lifecycle.json"


def kept(before: Drawing, after: Drawing) -> float:
    """The share of pairs of states of which the one is still above, below, left or right of the other."""
    old, new = (
        {state.id: (round(state.box.center[1]), state.box.x) for state in drawing.states} for drawing in (before, after)
    )

    def relation(places: dict[str, tuple[int, float]], a: str, b: str) -> tuple[bool, bool, bool]:
        (upper, left), (lower, right) = places[a], places[b]
        return (upper < lower, upper == lower, upper == lower and left < right)

    pairs = list(combinations(old.keys() & new.keys(), 2))
    return sum(relation(old, *pair) == relation(new, *pair) for pair in pairs) / len(pairs)


def relabelled(lifecycle: Lifecycle) -> Iterator[Lifecycle]:
    """The lifecycle with another word in one label, for each third arrow."""
    for number, arrow in enumerate(lifecycle.arrows):
        if number % 3 == 0:
            changed = replace(arrow, event=f"{arrow.event or ''} now")
            yield replace(lifecycle, arrows=(*lifecycle.arrows[:number], changed, *lifecycle.arrows[number + 1 :]))


def extended(lifecycle: Lifecycle) -> Iterator[Lifecycle]:
    """The lifecycle with one arrow less, and with one state more at its end."""
    yield replace(lifecycle, arrows=lifecycle.arrows[:-1])
    new = State("new", Kind.FAILURE, "New", "new")
    arrow = Arrow("new", lifecycle.states[1].id, "new", "given up")
    yield replace(lifecycle, states=(*lifecycle.states, new), arrows=(*lifecycle.arrows, arrow))


def mean_kept(edits: bool) -> float:
    shares = []
    for path in (*CASES, BUNDLED):
        lifecycle = load_lifecycle(path)
        drawing = layout_lifecycle(lifecycle)
        for changed in extended(lifecycle) if edits else relabelled(lifecycle):
            shares.append(kept(drawing, layout_lifecycle(changed)))
    return sum(shares) / len(shares)


def test_another_word_in_a_label_leaves_almost_every_state_where_it_was() -> None:
    assert mean_kept(edits=False) >= 0.9


def test_an_arrow_less_or_a_state_more_leaves_most_states_where_they_were() -> None:
    assert mean_kept(edits=True) >= 0.8


def test_drawings_in_which_states_changed_places_are_told_apart() -> None:
    lifecycle = load_lifecycle(BUNDLED)
    drawing = layout_lifecycle(lifecycle)
    first, second, *rest = drawing.states
    swapped = replace(drawing, states=(replace(first, box=second.box), replace(second, box=first.box), *rest))
    assert kept(drawing, drawing) == 1
    assert kept(drawing, swapped) < 1
