from __future__ import annotations

from arrowproof.model.lifecycle import Kind, State
from arrowproof.render.layout.catalog import catalog_drawing
from arrowproof.render.quality import READABLE_SCALE, measure_drawing


def states(count: int) -> list[State]:
    return [
        State(f"s{n}", Kind.ACTIVE, f"state_{n}", f"s{n}", note="2 in, 3 out" if n % 2 else None) for n in range(count)
    ]


def test_states_stand_in_rows_of_equal_boxes_in_their_order() -> None:
    boxes = [each.box for each in catalog_drawing(states(7)).states]
    assert len({box.width for box in boxes}) == 1
    places = [(box.y, box.x) for box in boxes]
    assert places == sorted(places)


def test_sixty_states_are_read_and_nothing_overlaps() -> None:
    quality = measure_drawing(catalog_drawing(states(60)))
    assert quality.overlaps == ()
    assert quality.scale >= READABLE_SCALE


def test_no_state_makes_an_empty_drawing() -> None:
    assert catalog_drawing([]).states == ()
