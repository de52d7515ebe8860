from __future__ import annotations

from collections.abc import Mapping

import pytest

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout import bare as bare_module
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.bare import LEAST_LABEL, bare_drawing, has_specks
from arrowproof.render.layout.candidates import Candidate, draft_placements
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Placement
from arrowproof.render.layout.seats import SHAPES as TABLES
from arrowproof.render.layout.seats import seat_nodes
from arrowproof.render.layout.sizes import LabelLimits
from arrowproof.render.quality import LABEL_TEXT, find_overlaps, fit_scale
from tests.render.dense_models import SHAPES, dense
from tests.render.hub_models import hubs


def bare(shape: str, count: int, labelled: Drawing | None = None) -> Drawing:
    found = bare_drawing(dense(shape, count), labelled)
    assert found is not None
    return found.drawing


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bare_drawing_has_every_state_and_arrow_and_no_label_nor_note_and_nothing_in_it_overlaps(shape: str) -> None:
    drawing = bare(shape, 50)
    assert [state.id for state in drawing.states] == [state.id for state in dense(shape, 50).states]
    assert [arrow.id for arrow in drawing.arrows] == [arrow.id for arrow in dense(shape, 50).arrows]
    assert not any(arrow.label or arrow.caption for arrow in drawing.arrows)
    assert not any(state.note for state in drawing.states)
    assert find_overlaps(drawing) == ()


def test_states_are_larger_by_two_fifths_without_labels() -> None:
    labelled = layout_lifecycle(dense("mesh", 34))
    assert has_specks(labelled)
    assert fit_scale(bare("mesh", 34, labelled).bounds) > 1.4 * fit_scale(labelled.bounds)


def test_parallel_lines_of_very_many_arrows_stand_so_far_apart_that_the_ground_is_seen() -> None:
    drawing = bare("mesh", 90)
    scale = fit_scale(drawing.bounds)
    level = sorted(
        (a[1], *sorted((a[0], b[0])))
        for arrow in drawing.arrows
        for a, b in zip(arrow.points, arrow.points[1:], strict=False)
        if a[1] == b[1] and abs(a[0] - b[0]) * scale > 40
    )
    near = [
        (below - above) * scale
        for place, (above, left, right) in enumerate(level)
        for below, start, end in level[place + 1 : place + 12]
        if min(right, end) - max(left, start) > 0
    ]
    assert len(near) > 50
    assert min(near) > 4.5


@pytest.mark.parametrize(("lifecycle", "tables"), [(hubs(6, 120, 480), 1), (dense("chain", 60), len(TABLES))])
def test_where_the_lines_of_one_table_are_much_too_near_to_each_other_no_other_table_is_drawn(
    lifecycle: Lifecycle, tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Placement] = []

    def counted(graph: Graph, placements: Mapping[Placement, float]) -> list[Candidate]:
        drawn.extend(placement for placement in placements if placement not in drawn)
        return draft_placements(graph, placements)

    monkeypatch.setattr(bare_module, "draft_placements", counted)
    found = bare_drawing(lifecycle)
    assert found is not None
    assert len(drawn) == tables
    assert found.is_apart == (tables > 1)


def test_the_same_lifecycle_gives_the_same_bare_drawing() -> None:
    assert bare("hub", 50) == bare("hub", 50)


def test_labels_are_specks_below_seven_px() -> None:
    drawing = layout_lifecycle(dense("chain", 5))
    assert LABEL_TEXT * fit_scale(drawing.bounds) > LEAST_LABEL
    assert not has_specks(drawing)


def test_each_table_seats_every_node_once_and_neighbours_sit_near_each_other() -> None:
    graph = read_graph(dense("chain", 60), {}, LabelLimits(0, 0))
    tables = list(seat_nodes(graph))
    assert len(tables) == len(TABLES)
    for placement in tables:
        assert sorted(node for row in placement for node in row) == list(range(len(graph.nodes)))
        row_of = {node: number for number, row in enumerate(placement) for node in row}
        apart = [abs(row_of[edge.tail] - row_of[edge.head]) for edge in graph.edges]
        assert sum(apart) / len(apart) < 1.2
