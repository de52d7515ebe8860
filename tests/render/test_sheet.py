from __future__ import annotations

from dataclasses import replace

import pytest

from arrowproof.model.evidence import Evidence
from arrowproof.model.lifecycle import Lifecycle, Panel
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.arrangement import PROOF_COLUMN
from arrowproof.render.content import MAX_LISTED, Content
from arrowproof.render.drawing import Box
from arrowproof.render.key import Key, KeyRow
from arrowproof.render.language import load_language
from arrowproof.render.page import plan_page
from arrowproof.render.proof_column import proof_column
from arrowproof.render.proof_panel import LIMITS
from arrowproof.render.sheet import plan_sheet
from arrowproof.render.transition_groups import Row
from tests.render.pages import BUNDLED
from tests.render.proofs import agent, notes, proof_of

PLAIN = Content(
    id="notes-job",
    title="Note job",
    summary="One note, one history row, at most three attempts.",
    captions=("states, 1 passing", "arrows", "transitions"),
    rows=tuple(Row(("pending", f"{n}"), "pending", f"state {n}", "pick, succeed") for n in range(7)),
    facts=(("table", "jobs"), ("key", "id"), ("state", "status")),
    panels=(Panel("Three attempts", ("An attempt that fails is counted, and the count commits.",)),),
    bounds=Box(0, 0, 820, 460),
)


def rows(count: int, target: str = "completed") -> tuple[Row, ...]:
    return tuple(Row((f"{n}", ""), "pending", f"{target} {n}", f"arrow_{n}") for n in range(count))


def test_a_usual_page_is_set_calmly_and_shows_the_arrow_paths() -> None:
    sheet = plan_sheet(PLAIN)
    assert (sheet.density.name, sheet.title_step, sheet.list_columns) == ("airy", 0, 1)
    assert sheet.shows_paths
    assert sheet.spare > 0
    assert sheet.scale >= 1.1


def test_a_small_drawing_does_not_grow_beyond_its_bound() -> None:
    assert plan_sheet(replace(PLAIN, bounds=Box(0, 0, 100, 40))).scale == pytest.approx(0.107 * 14)


def test_the_smallest_title_is_for_those_that_do_not_fit_on_one_line() -> None:
    steps = [plan_sheet(replace(PLAIN, title="w" * length)).title_step for length in (8, 48, 300)]
    assert steps == [0, 1, 2]


def test_a_long_header_leaves_less_height_for_the_drawing() -> None:
    long = replace(PLAIN, summary="word " * 200)
    assert plan_sheet(long).fixed > plan_sheet(PLAIN).fixed + 5


@pytest.mark.parametrize("count", [1, 7, 20, 40, MAX_LISTED])
def test_every_list_that_is_shown_fits_the_column(count: int) -> None:
    sheet = plan_sheet(replace(PLAIN, rows=rows(count)))
    assert sheet.lists_transitions
    assert sheet.spare >= 0
    assert sheet.list_rows * sheet.list_columns >= count


def test_more_rows_are_set_closer_or_in_columns() -> None:
    few, many = (plan_sheet(replace(PLAIN, rows=rows(count))) for count in (7, MAX_LISTED))
    assert few.list_columns == 1
    assert many.list_columns > 1 or many.density.name == "dense"


def test_too_many_rows_are_counted_and_not_listed() -> None:
    sheet = plan_sheet(replace(PLAIN, rows=rows(MAX_LISTED + 1)))
    assert not sheet.lists_transitions
    assert sheet.spare > 0


def test_panels_stand_under_the_drawing_where_the_column_has_no_room() -> None:
    tall = tuple(Panel(f"Panel {number}", ("word " * 60,)) for number in range(3))
    full = replace(PLAIN, rows=rows(24), panels=tall, bounds=Box(0, 0, 900, 300))
    assert plan_sheet(full).panels_under
    assert not plan_sheet(replace(full, rows=rows(3), bounds=Box(0, 0, 400, 900))).panels_under


def labels(count: int) -> Key:
    text = "the operator confirms it by hand [guard] / effect"
    return Key(tuple(KeyRow(n + 1, n, text, "event", f"{n + 1}: {text}") for n in range(count)))


def test_a_key_takes_its_room_in_the_column() -> None:
    sheet = plan_sheet(replace(PLAIN, key=labels(4)))
    taken = sheet.key.height + sheet.density.gap
    assert sheet.density == plan_sheet(PLAIN).density
    assert sheet.column_room == pytest.approx(plan_sheet(PLAIN).column_room - taken)


def test_a_key_has_whole_labels_where_a_closer_setting_has_room_for_them_and_else_events() -> None:
    whole, events = (plan_sheet(replace(PLAIN, key=labels(count))) for count in (20, 28))
    assert whole.key.is_whole
    assert whole.density.name != "airy"
    assert not events.key.is_whole
    assert min(whole.spare, events.spare) >= 0


def test_what_fits_nowhere_is_said_and_not_cut() -> None:
    endless = tuple(Panel("word " * 40, ("A line.",)) for _ in range(60))
    sheet = plan_sheet(replace(PLAIN, panels=endless, bounds=Box(0, 0, 300, 900)))
    assert sheet.spare < 0
    assert sheet.scale > 0


@pytest.mark.parametrize("bounds", [Box(0, 0, 820, 460), Box(0, 0, 300, 1200)])
def test_a_panel_that_has_no_room_stands_in_a_fold_whether_or_not_the_drawing_can_be_read(bounds: Box) -> None:
    endless = Panel("Endless", tuple("word " * 40 for _ in range(60)))
    sheet = plan_sheet(replace(PLAIN, panels=(endless,), bounds=bounds))
    assert sheet.concession.folds_panels
    assert not sheet.concession.folds_binding
    assert sheet.spare >= 0


def test_a_column_grows_into_the_room_that_a_drawing_leaves_and_not_where_that_makes_its_text_too_small() -> None:
    legend = (((12.0,) * 4,), ((7.0,) * 2,))  # two rows beside a column that grows, and else one
    sheets = [plan_sheet(replace(PLAIN, legend=legend, bounds=Box(0, 0, 760, height))) for height in (780, 800)]
    assert [(sheet.aside, sheet.widest) for sheet in sheets] == [(26, 31), (26, 26)]
    assert all(sheet.is_read for sheet in sheets)


def test_a_page_without_transitions_binding_or_panels_has_a_plan() -> None:
    bare = replace(PLAIN, rows=(), facts=(), panels=(), summary="", title="")
    sheet = plan_sheet(bare)
    assert not sheet.lists_transitions
    assert sheet.spare > 0


def test_the_plan_of_equal_contents_is_equal() -> None:
    assert plan_sheet(PLAIN) == plan_sheet(replace(PLAIN))


def proven(lifecycle: Lifecycle, evidence: Evidence) -> Content:
    column = proof_column(lifecycle, proof_of(lifecycle, evidence), load_language())
    return replace(
        PLAIN, rows=tuple(Row(row.address, row.source, row.target, "") for row in column.rows), panels=(), proof=column
    )


def test_a_column_with_panels_of_a_proof_is_wide_enough_for_statements() -> None:
    sheet = plan_sheet(proven(*notes()))
    assert sheet.aside >= PROOF_COLUMN
    assert len(sheet.panels) == 13
    assert sheet.spare >= 0


def test_a_panel_that_does_not_fit_shows_less_and_others_stay_as_they_are() -> None:
    content = proven(*notes())
    assert content.proof is not None
    shown = plan_sheet(content).panels
    full = [make(LIMITS[0]) for make in content.proof.panels]
    assert [panel for panel, whole in zip(shown, full, strict=True) if panel == whole]
    assert [panel for panel, whole in zip(shown, full, strict=True) if panel != whole]


def test_reasons_and_sneak_paths_take_their_room_in_the_column() -> None:
    lifecycle, evidence = agent()
    quiet = replace(evidence, reasons=(), sneak_paths=())
    calm, full = (plan_sheet(proven(lifecycle, each)) for each in (quiet, evidence))
    assert (calm.list_columns, full.list_columns) == (1, 2)
    assert min(calm.spare, full.spare) >= 0


@pytest.mark.parametrize(("width", "aside", "is_grouped"), [(900, 31, False), (1000, 28, True), (1060, 24, True)])
def test_a_column_of_a_proof_is_narrower_where_the_drawing_needs_the_room_to_be_read(
    width: int, aside: int, is_grouped: bool
) -> None:
    sheet = plan_sheet(replace(proven(*agent()), bounds=Box(0, 0, width, 600)))
    assert (sheet.aside, sheet.lists_transitions, sheet.is_grouped) == (aside, True, is_grouped)
    assert 12 * sheet.scale > 11


def test_panels_stand_in_the_column_where_it_has_room_for_them_and_leave_the_figure_to_the_drawing() -> None:
    sheet = plan_page(load_lifecycle(BUNDLED), None, load_language(), None).sheet
    assert not sheet.panels_under
    assert not sheet.concession.folds_panels
    assert sheet.scale > 1
