from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.arrow_svg import rounded_path
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Mark, StateBox, TextLine
from arrowproof.render.svg import ICONS, kind_sample, mark_sample, render_svg
from arrowproof.render.svg_element import element

NAMESPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"' onload=alert(1) x='",
    "</svg><img src=x onerror=alert(1)>",
    "&amp;&lt;&#0;",
    "]]>",
    "x" * 300,
    "受付🎉é",
]


def state(id: str = "a", kind: Kind = Kind.WAITING, label: str | None = None, **more: object) -> State:
    return State(id=id, kind=kind, label=id if label is None else label, value=id, **more)  # type: ignore[arg-type]


def box(id: str, x: float = 0.0, text: str | None = None, width: float = 40.0) -> StateBox:
    return StateBox(
        id, Box(x, 0, 100, 40), (TextLine(id if text is None else text, x + 50, 25, width, "middle"),), (), (x + 15, 20)
    )


def arrow_path(id: str = "go", label: str | None = "go") -> ArrowPath:
    lines = (TextLine(label, 120, 15, 15),) if label is not None else ()
    return ArrowPath(id, ((100, 20), (200, 20)), (150, 20), lines, Box(120, 2, 15, 16) if lines else None)


def pair(first: State, second: State, arrow: Arrow, text: str = "go") -> tuple[Lifecycle, Drawing]:
    lifecycle = Lifecycle("pair", "A pair", (first, second), (arrow,))
    drawing = Drawing(
        Box(0, 0, 300, 40),
        (box(first.id, 0, first.label), box(second.id, 200, second.label)),
        (arrow_path(arrow.id, text),),
    )
    return lifecycle, drawing


def parsed(lifecycle: Lifecycle, drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(render_svg(lifecycle, drawing))


def group(root: ElementTree.Element, attribute: str) -> ElementTree.Element:
    found = [node for node in root.iter(f"{NAMESPACE}g") if attribute in node.attrib]
    assert found, f"no group has {attribute}"
    return found[0]


def classes(root: ElementTree.Element) -> list[str]:
    return [node.attrib.get("class", "") for node in root.iter()]


def test_states_and_arrows_carry_their_ids_and_ends() -> None:
    root = parsed(*pair(state("a"), state("b"), Arrow("go", "a", "b", "go")))
    arrow = group(root, "data-arrow")
    assert (arrow.get("data-arrow"), arrow.get("data-from"), arrow.get("data-to")) == ("go", "a", "b")
    assert group(root, "data-state").find(f"{NAMESPACE}rect[@class='box']") is not None
    assert arrow.find(f"{NAMESPACE}path[@class='line']") is not None
    assert arrow.find(f"{NAMESPACE}g[@class='label']/{NAMESPACE}text") is not None


def test_ids_that_are_drawn_alike_stay_apart_in_the_document() -> None:
    root = parsed(*pair(state("a"), state("a "), Arrow("go", "a", "a ")))
    states = [node.get("data-state") for node in root.iter() if node.get("data-state")]
    assert len(set(states)) == 2
    assert [group(root, "data-arrow").get(end) for end in ("data-from", "data-to")] == states


def test_an_arrow_that_creates_or_removes_has_one_end() -> None:
    lifecycle = Lifecycle("x", "X", (state("a"),), (Arrow("new", None, "a"), Arrow("gone", "a", None)))
    drawing = Drawing(
        Box(0, 0, 300, 40),
        (box("a"),),
        (arrow_path("new", None), arrow_path("gone", None)),
        (Mark("start:new", "start", (7, 20), 7), Mark("removal:gone", "removed", (290, 20), 7)),
    )
    root = parsed(lifecycle, drawing)
    new, gone = (node for node in root.iter(f"{NAMESPACE}g") if "data-arrow" in node.attrib)
    assert "data-from" not in new.attrib
    assert new.get("aria-label") == "created to a"
    assert "data-to" not in gone.attrib
    assert gone.get("aria-label") == "a to removed"
    assert [node.get("data-mark") for node in root.iter() if "data-mark" in node.attrib] == ["start", "removed"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_model_stays_text(text: str) -> None:
    lifecycle, drawing = pair(state(text, label=text), state("b"), Arrow(text, text, "b", text), text)
    root = parsed(Lifecycle("x", text, lifecycle.states, lifecycle.arrows), drawing)
    allowed = {"svg", "title", "desc", "g", "path", "rect", "circle", "text"}
    assert {node.tag.removeprefix(NAMESPACE) for node in root.iter()} == allowed
    assert group(root, "data-state").get("data-state") == text
    assert text in [node.text for node in root.iter(f"{NAMESPACE}text")]
    assert not [name for node in root.iter() for name in node.attrib if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("text", ["\x00", "a\x1bb", "\u202eevil", "\ud800", "a\r\nb"])
def test_characters_that_cannot_be_written_are_replaced(text: str) -> None:
    svg = render_svg(*pair(state(text, label="a"), state("b"), Arrow(text, text, "b"), "go"))
    svg.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\r]", svg)


def test_element_escapes_values_and_plain_children_and_trusts_markup() -> None:
    written = element("text", {"a": '<"', "none": None}, "<b>", Markup("<i/>"))
    assert written == '<text a="&lt;&#34;">&lt;b&gt;<i/></text>'


def test_every_kind_has_its_own_shape() -> None:
    signs = [ICONS.get(kind) for kind in Kind]
    assert len(set(signs)) == len(Kind)
    assert signs.count(None) == 1, "only passing states go without a sign: they are dotted pills"


@pytest.mark.parametrize(
    ("drawn", "doubled"),
    [
        (state(kind=Kind.SUCCESS), True),
        (state(kind=Kind.FAILURE), True),
        (state(kind=Kind.NEUTRAL, terminal=True), True),
        (state(kind=Kind.NEUTRAL), False),
        (state(kind=Kind.ACTIVE), False),
    ],
)
def test_a_state_that_ends_has_a_double_border(drawn: State, doubled: bool) -> None:
    root = parsed(*pair(drawn, state("b"), Arrow("go", "a", "b")))
    assert (group(root, "data-state").find(f"{NAMESPACE}rect[@class='inner']") is not None) is doubled


def test_a_passing_state_is_a_pill() -> None:
    root = parsed(*pair(state(kind=Kind.PASSING), state("b"), Arrow("go", "a", "b")))
    rect = group(root, "data-state").find(f"{NAMESPACE}rect[@class='box']")
    assert rect is not None
    assert rect.get("rx") == "20"
    assert group(root, "data-state").find(f"{NAMESPACE}path") is None


def test_text_outside_the_embedded_fonts_is_held_to_its_reserved_width() -> None:
    lifecycle, drawing = pair(state("a", label="受付"), state("b"), Arrow("go", "a", "b"))
    texts = list(parsed(lifecycle, drawing).iter(f"{NAMESPACE}text"))
    held = {node.text: node.get("textLength") for node in texts}
    assert held == {"go": None, "受付": "40", "b": None}


def test_an_arrow_without_text_has_no_label_and_no_bead() -> None:
    lifecycle, drawing = pair(state("a"), state("b"), Arrow("go", "a", "b"))
    bare = Drawing(drawing.bounds, drawing.states, (arrow_path("go", None),))
    assert not {"label", "bead", "chip"} & set(classes(parsed(lifecycle, bare)))


def test_arrows_come_before_boxes_and_in_file_order() -> None:
    arrows = (Arrow("z", "a", "b"), Arrow("y", "b", "a"))
    lifecycle = Lifecycle("x", "X", (state("a"), state("b")), arrows)
    drawing = Drawing(Box(0, 0, 300, 40), (box("b", 200), box("a")), (arrow_path("y"), arrow_path("z")))
    ids = [node.get("data-key") for node in parsed(lifecycle, drawing) if node.tag == f"{NAMESPACE}g"]
    assert ids == ["a0", "a1", "s0", "s1"]


def test_corners_are_rounded_and_never_more_than_half_a_leg() -> None:
    assert rounded_path(((0, 0), (100, 0), (100, 50))) == "M0 0H93q7 0 7 7V50"
    assert rounded_path(((0, 0), (4, 0), (4, 50))) == "M0 0H2q2 0 2 2V50"


def test_points_that_repeat_do_not_break_the_line() -> None:
    lifecycle, drawing = pair(state("a"), state("b"), Arrow("go", "a", "b"))
    path = ArrowPath("go", ((100, 20), (100, 20), (200, 20), (200, 20)), (150, 20))
    svg = render_svg(lifecycle, Drawing(drawing.bounds, drawing.states, (path,)))
    assert 'd="M100 20H193"' in svg
    assert "nan" not in svg


def test_samples_of_the_legend_are_for_eyes_only() -> None:
    for sample in (*map(kind_sample, Kind), mark_sample("start"), mark_sample("removed")):
        root = ElementTree.fromstring(sample)
        assert root.get("aria-hidden") == "true"
        assert not [name for node in root.iter() for name in node.attrib if name in ("data-state", "id")]
