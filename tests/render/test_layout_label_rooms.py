"""A label stands on as few lines as it takes in the room that it has in the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.drawing import ArrowPath, Drawing
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.sizes import LEVEL_MARGIN, LabelLimits, LabelSize, measure_label
from arrowproof.render.quality import measure_drawing
from tests.render.pages import BUNDLED, ROOT

FILES = sorted((ROOT / "examples" / "gallery").glob("*.lifecycle.json")) + [
    Path(__file__).parent / "cases" / f"{name}.json" for name in ("agent-run", "claim")
]
ROOMY = LabelLimits(136, 180)


def drawn(file: Path) -> tuple[Lifecycle, Drawing]:
    lifecycle = load_lifecycle(file)
    return lifecycle, layout_lifecycle(lifecycle)


def level_labels(lifecycle: Lifecycle, drawing: Drawing) -> list[tuple[Arrow, ArrowPath, LabelSize]]:
    """Of every straight level arrow with a label: what it says and the label that it had with room enough."""
    arrows = {arrow.id: arrow for arrow in lifecycle.arrows}
    return [
        (arrows[path.id], path, measure_label(arrows[path.id], "", ROOMY))
        for path in drawing.arrows
        if len(path.points) == 2 and path.points[0][1] == path.points[1][1] and len(path.label) > 1
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_label_is_broken_over_a_level_arrow_that_is_long_enough_for_all_of_it(file: Path) -> None:
    for arrow, path, roomy in level_labels(*drawn(file)):
        (left, _), (right, _) = sorted(path.points)
        if roomy.width <= right - left - LEVEL_MARGIN:
            assert len(path.label) == len(roomy.text.lines), arrow.label


def test_a_label_beside_an_upright_line_takes_the_room_up_to_what_stands_there_next() -> None:
    _, drawing = drawn(ROOT / "examples" / "gallery" / "oban-job.lifecycle.json")
    labels = {path.id: [line.text for line in path.label] for path in drawing.arrows}
    assert ["error or crash", "[attempt < max_attempts]"] in labels.values()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_labels_in_their_rooms_touch_nothing(file: Path) -> None:
    assert measure_drawing(drawn(file)[1]).overlaps == ()


def test_rows_whose_labels_have_fewer_lines_come_closer() -> None:
    """A label that needs less height gives it to the drawing, whose text grows."""
    _, drawing = drawn(ROOT / "examples" / "gallery" / "oban-job.lifecycle.json")

    assert measure_drawing(drawing).scale > 1.02


def test_a_label_reaches_over_the_mark_at_the_end_of_its_arrow_and_keeps_off_the_box_with_its_bead_below() -> None:
    _, drawing = drawn(BUNDLED)
    path = next(path for path in drawing.arrows if path.id == "accept")
    box = next(state.box for state in drawing.states if state.id == "pending")
    assert [line.text for line in path.label] == ["POST /notes", "[new Idempotency-Key]"]
    assert path.label_box is not None
    assert path.bead[0] == path.label_box.center[0]
    assert box.x - path.label_box.right >= LEVEL_MARGIN / 2
    assert path.label_box.x >= drawing.marks[0].center[0] - drawing.marks[0].radius
    assert measure_drawing(drawing).overlaps == ()
