"""The rules on places and sizes, on small geometries written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arrowproof.render.fit_measures import ArrowMeasure, Geometry, Rect, StateMeasure, Text
from arrowproof.render.fit_report import RULE_NAMES
from arrowproof.render.fit_rules import RULES, Failure, judge_geometry


def text(name: str, rect: tuple[float, float, float, float], owner: str = "other", **more: object) -> Text:
    made = Text(
        text=name,
        selector="p",
        owner=owner,
        id=name if owner != "other" else None,
        size=16,
        colour=(0, 0, 0, 1),
        rects=(Rect(*rect),),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def state(name: str, rect: tuple[float, float, float, float]) -> StateMeasure:
    return StateMeasure(name, Rect(*rect))


def arrow(
    name: str, *points: tuple[float, float], source: str | None = None, target: str | None = None
) -> ArrowMeasure:
    return ArrowMeasure(name, source, target, (points,))


# Two states in a row, joined by a level arrow with its label above.
GOOD = Geometry(
    viewport=(400, 200),
    scroll=(400, 200),
    states=(state("a", (20, 80, 120, 120)), state("b", (280, 80, 380, 120))),
    arrows=(arrow("go", (120, 100), (280, 100), source="a", target="b"),),
    texts=(
        text("a", (40, 92, 100, 108), "state"),
        text("b", (300, 92, 360, 108), "state"),
        text("go", (190, 80, 210, 94), "label"),
    ),
)


def found(geometry: Geometry) -> list[str]:
    return [f"{failure.rule}: {failure.place}: {failure.message}" for failure in judge_geometry(geometry)]


def rules(geometry: Geometry) -> set[str]:
    return {failure.rule for failure in judge_geometry(geometry)}


def test_what_holds_has_no_failures() -> None:
    assert judge_geometry(GOOD) == ()


def test_every_rule_name_is_known_to_the_receipt() -> None:
    assert set(RULES) <= set(RULE_NAMES)


@pytest.mark.parametrize("scroll", [(401, 200), (400, 201)])
def test_a_page_one_px_larger_than_the_screen_scrolls(scroll: tuple[float, float]) -> None:
    assert rules(replace(GOOD, scroll=scroll)) == {"scroll"}


@pytest.mark.parametrize("rect", [(-2, 10, 20, 20), (390, 10, 402, 20), (10, -2, 20, 9), (10, 190, 20, 202)])
def test_text_over_any_edge_of_the_screen_is_clipped(rect: tuple[float, float, float, float]) -> None:
    geometry = replace(GOOD, texts=(*GOOD.texts, text("over", rect)))
    assert rules(geometry) == {"text-clipped"}
    assert "stands 2.0 px out of the screen" in found(geometry)[0]


def test_text_outside_what_its_ancestors_show_is_clipped() -> None:
    cut = text("cut", (10, 150, 90, 160), clip=Rect(0, 140, 80, 200))
    assert rules(replace(GOOD, texts=(*GOOD.texts, cut))) == {"text-clipped"}


def test_text_of_a_state_may_touch_its_box_but_not_leave_it() -> None:
    touching = text("a", (20, 92, 120, 108), "state")
    leaving = text("a", (18, 92, 110, 108), "state")
    assert rules(replace(GOOD, texts=(touching, *GOOD.texts[1:]))) == set()
    assert rules(replace(GOOD, texts=(leaving, *GOOD.texts[1:]))) == {"text-clipped"}


def test_lines_of_one_text_may_overlap_no_other_text() -> None:
    near, on = text("near", (210, 80, 230, 94)), text("on", (208, 90, 230, 97))
    assert rules(replace(GOOD, texts=(*GOOD.texts, near))) == set()
    assert rules(replace(GOOD, texts=(*GOOD.texts, on))) == {"label-overlap"}


def test_a_line_through_a_label_is_found_on_a_bend_too() -> None:
    foreign = arrow("bend", (195, 10), (195, 90), (260, 90), (260, 10))
    messages = found(replace(GOOD, arrows=(*GOOD.arrows, foreign)))
    assert len(messages) == 1
    assert messages[0].startswith("label-overlap: arrow 'go', text 'go'")
    assert messages[0].endswith("is crossed by the line of arrow 'bend'")


def test_a_slanted_line_past_the_corner_of_a_label_does_not_cross_it() -> None:
    assert rules(replace(GOOD, arrows=(*GOOD.arrows, arrow("past", (170, 96), (200, 66))))) == set()
    assert rules(replace(GOOD, arrows=(*GOOD.arrows, arrow("over", (185, 96), (215, 66))))) == {"label-overlap"}


def test_an_arrow_may_end_at_a_foreign_edge_but_not_pass_it() -> None:
    boxes = (*GOOD.states, state("c", (150, 130, 250, 170)))
    texts = (*GOOD.texts, text("c", (190, 155, 210, 165), "state"))
    along = arrow("along", (140, 130), (260, 130))
    through = arrow("through", (140, 140), (260, 140))
    assert rules(replace(GOOD, states=boxes, texts=texts, arrows=(along,))) == set()
    geometry = replace(GOOD, states=boxes, texts=texts, arrows=(through,))
    assert [line.partition(", whose")[0] for line in found(geometry)] == [
        "arrow-through-box: arrow 'through': goes through state 'c'"
    ]


def test_an_arrow_may_be_inside_the_boxes_that_it_joins() -> None:
    inside = arrow("go", (110, 85), (290, 85), source="a", target="b")
    assert "arrow-through-box" not in rules(replace(GOOD, arrows=(inside,)))


@pytest.mark.parametrize(
    ("owner", "size", "fits"),
    [("state", 12, True), ("state", 11.9, False), ("label", 11, True), ("label", 10.9, False), ("other", 10.9, False)],
)
def test_text_has_a_smallest_size_by_where_it_stands(owner: str, size: float, fits: bool) -> None:
    place = {"state": GOOD.texts[0], "label": GOOD.texts[2], "other": text("o", (10, 10, 30, 20))}[owner]
    others = tuple(item for item in GOOD.texts if item != place)
    assert rules(replace(GOOD, texts=(*others, replace(place, size=size)))) == (set() if fits else {"text-size"})


def test_nothing_to_check_is_no_success() -> None:
    assert rules(Geometry(viewport=(400, 200), scroll=(400, 200), drawings=0)) == {"drawing"}
    assert rules(Geometry(viewport=(400, 200), scroll=(400, 200))) == {"drawing"}
    assert rules(replace(GOOD, drawings=2)) == {"drawing"}


def test_a_drawing_that_breaks_its_contract_is_named() -> None:
    nameless = replace(GOOD, texts=GOOD.texts[1:])
    boxless = replace(GOOD, states=(StateMeasure("a", None), GOOD.states[1]))
    lineless = replace(GOOD, arrows=(replace(GOOD.arrows[0], lines=()),))
    stray = replace(GOOD, arrows=(replace(GOOD.arrows[0], target="nowhere"),))
    assert "drawing: state 'a': has no text" in found(nameless)
    assert "drawing: state 'a': has no rect.box" in found(boxless)
    assert "drawing: arrow 'go': has no path.line of any length" in found(lineless)
    assert "drawing: arrow 'go': joins state 'nowhere', which is not drawn" in found(stray)


def test_what_is_hidden_is_named_with_the_reason() -> None:
    label = replace(GOOD.texts[2], hidden="opacity: 0", rects=())
    line = replace(GOOD.arrows[0], hidden="display: none")
    geometry = replace(GOOD, texts=(*GOOD.texts[:2], label), arrows=(line,))
    assert found(geometry) == [
        "hidden: arrow 'go': its line is hidden by display: none",
        "hidden: arrow 'go', text 'go' (p): is hidden by opacity: 0",
    ]


def test_a_page_with_too_many_texts_is_not_judged_by_its_beginning() -> None:
    assert rules(replace(GOOD, too_many=True)) == {"limits"}


def test_a_failure_reads_as_one_line_with_its_screen() -> None:
    failure = Failure("scroll", "page", "its width scrolls", "1440x900", "dark")
    assert str(failure) == "1440x900 dark: scroll: page: its width scrolls"
