from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.sizes import LabelLimits, measure_label, measure_state
from arrowproof.render.quality import measure_drawing
from tests.render.drawn import CASES, drawing_of

ROOT = Path(__file__).resolve().parents[2]
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.lifecycle.json"))
BUNDLED = ROOT / "arrowproof" / "service" / "notes-job.lifecycle.json"
DRAWN = [*sorted(CASES.glob("*.json")), *GALLERY, BUNDLED]
SMALL = [case for case in DRAWN if len(load_lifecycle(case).states) <= 15 and len(load_lifecycle(case).arrows) <= 28]
LABELS = st.sampled_from(
    [
        None,
        "poll",
        "attempts < max_attempts",
        "a label that says nothing at all, at some length",
        "在庫システムに接続できないため再試行",
        "supercalifragilistic" * 8,
        "</text><script>alert(1)</script>",
        "\u202e\x00",
    ]
)


@st.composite
def lifecycles(draw: st.DrawFn, most_states: int = 9, most_arrows: int = 20) -> Lifecycle:
    """Any multigraph: self arrows, parallel arrows, states apart, creation and removal arrows, or none of them."""
    count = draw(st.integers(1, most_states))
    names = [f"s{number}" for number in range(count)]
    states = [
        State(name, draw(st.sampled_from(list(Kind))), draw(LABELS) or name, name, note=draw(st.none() | LABELS))
        for name in names
    ]
    ends = st.tuples(st.none() | st.sampled_from(names), st.none() | st.sampled_from(names))
    pairs = draw(st.lists(ends.filter(any), max_size=most_arrows))
    arrows = [
        Arrow(f"a{number}", source, target, draw(LABELS), draw(st.none() | LABELS))
        for number, (source, target) in enumerate(pairs)
    ]
    return Lifecycle("any", "Any", tuple(states), tuple(arrows))


def assert_complete(lifecycle: Lifecycle, drawing: Drawing) -> None:
    assert [state.id for state in drawing.states] == [state.id for state in lifecycle.states]
    assert [arrow.id for arrow in drawing.arrows] == [arrow.id for arrow in lifecycle.arrows]
    creations = sum(arrow.source is None for arrow in lifecycle.arrows)
    removals = sum(arrow.target is None for arrow in lifecycle.arrows)
    kinds = [mark.kind for mark in drawing.marks]
    assert (kinds.count("start"), kinds.count("removal")) == (creations, removals)
    boxes = {state.id: state.box for state in drawing.states}
    for arrow, path in zip(lifecycle.arrows, drawing.arrows, strict=True):
        for state, (x, y) in ((arrow.source, path.points[0]), (arrow.target, path.points[-1])):
            if state is not None:
                box = boxes[state]
                on_side = x in (box.x, box.right) and box.y <= y <= box.bottom
                assert on_side or (y in (box.y, box.bottom) and box.x <= x <= box.right)
        for (ax, ay), (bx, by) in zip(path.points, path.points[1:], strict=False):
            assert (ax == bx) != (ay == by), "lines are level or upright, and have a length"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lifecycles(), st.booleans())
def test_nothing_overlaps_in_the_drawing_of_any_lifecycle(lifecycle: Lifecycle, has_captions: bool) -> None:
    captions = {arrow.id: "survived" for arrow in lifecycle.arrows} if has_captions else {}
    drawing = layout_lifecycle(lifecycle, captions)
    assert_complete(lifecycle, drawing)
    assert measure_drawing(drawing).overlaps == ()


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(lifecycles(most_states=30, most_arrows=60))
def test_nothing_overlaps_in_large_drawings(lifecycle: Lifecycle) -> None:
    assert measure_drawing(layout_lifecycle(lifecycle)).overlaps == ()


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.name)
def test_nothing_overlaps_in_the_cases(case: Path) -> None:
    drawing = drawing_of(case)
    assert_complete(load_lifecycle(case), drawing)
    quality = measure_drawing(drawing)
    assert quality.overlaps == ()
    assert quality.label_distance <= 12


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_text_is_readable_up_to_15_states_and_28_arrows(case: Path) -> None:
    quality = measure_drawing(drawing_of(case))
    assert quality.state_px >= 12
    assert quality.label_px >= 11


@pytest.mark.parametrize(("case", "crossings", "px"), [("job", 0, 16.2), ("agent-run", 1, 13.5), ("order", 7, 4.1)])
def test_no_more_lines_cross_than_in_a_tuned_layered_layout_and_text_is_as_large(
    case: str, crossings: int, px: float
) -> None:
    """The figures of the best peer on these cases, at the size it was measured in."""
    quality = measure_drawing(drawing_of(CASES / f"{case}.json"), 1380, 720)
    assert quality.crossings <= crossings
    assert quality.label_px >= px


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_few_lines_cross_in_lifecycles_of_real_size(case: Path) -> None:
    quality = measure_drawing(drawing_of(case))
    assert quality.crossings <= len(load_lifecycle(case).arrows) / 5


def test_self_arrows_are_small_loops_beside_their_boxes() -> None:
    lifecycle = load_lifecycle(CASES / "agent-run.json")
    (loop,) = (arrow for arrow in lifecycle.arrows if arrow.source == arrow.target)
    points = next(path.points for path in layout_lifecycle(lifecycle).arrows if path.id == loop.id)
    assert len(points) == 4
    assert max(x for x, _ in points) - min(x for x, _ in points) <= 26
    assert max(y for _, y in points) - min(y for _, y in points) <= 26


def test_captions_cost_no_crossings() -> None:
    for case in ("agent-run", "claim", "job"):
        file = CASES / f"{case}.json"
        lifecycle = load_lifecycle(file)
        drawing = layout_lifecycle(lifecycle, {arrow.id: "survived" for arrow in lifecycle.arrows})
        assert measure_drawing(drawing).crossings <= measure_drawing(drawing_of(file)).crossings + 1


def test_text_stays_readable_when_each_arrow_has_a_caption() -> None:
    lifecycle = load_lifecycle(CASES / "agent-run.json")
    drawing = layout_lifecycle(lifecycle, {arrow.id: "survived" for arrow in lifecycle.arrows})
    assert all(arrow.caption is not None and arrow.caption.text == "survived" for arrow in drawing.arrows)
    assert measure_drawing(drawing).label_px >= 11


def path_model(seed: int, states: int, arrows: int) -> Lifecycle:
    """A path with short cuts, retries and back arrows, as models of real size have them; never twice the same."""
    chance = random.Random(seed)
    events = ["poll", "worker slot free", "approved by operator", "timed out after 10 min", "retry, attempts < max"]
    ends: list[tuple[str | None, str]] = [(None, "state_0")]
    ends += [(f"state_{max(0, n - chance.choice([1, 1, 1, 2, 3]))}", f"state_{n}") for n in range(1, states)]
    while len(ends) < arrows:
        source = chance.randrange(states)
        target = min(max(source + chance.choice([-3, -2, -1, -1, 0, 1, 2, 3, 4]), 0), states - 1)
        ends.append((f"state_{source}", f"state_{target}"))
    kinds = [*chance.choices([Kind.ACTIVE, Kind.WAITING, Kind.FAILURE], k=states - 1), Kind.SUCCESS]
    boxes = tuple(State(f"state_{n}", kind, f"state_{n}", f"state_{n}") for n, kind in enumerate(kinds))
    drawn = tuple(Arrow(f"{n}", *pair, chance.choice(events)) for n, pair in enumerate(ends))
    return Lifecycle("any", "Any", boxes, drawn)


@pytest.mark.parametrize("seed", [0, 5, 15, 19])
def test_models_of_15_states_and_28_arrows_that_nobody_tuned_for_are_readable(seed: int) -> None:
    quality = measure_drawing(layout_lifecycle(path_model(seed, 15, 28)))
    assert quality.holds
    assert quality.state_px >= 12
    assert quality.label_px >= 11


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.name)
def test_no_line_of_the_cases_is_bent_by_a_hair(case: Path) -> None:
    assert measure_drawing(drawing_of(case)).jogs == 0


@pytest.mark.parametrize(("seed", "states"), [(21, 13), (43, 11), (7, 11), (9, 13)])
def test_no_line_of_a_model_that_nobody_tuned_for_is_bent_by_a_hair(seed: int, states: int) -> None:
    """Without a last look at jogs the first two have one."""
    assert measure_drawing(layout_lifecycle(path_model(seed, states, round(1.8 * states)))).jogs == 0


def test_the_bundled_lifecycle_runs_level_and_straight_from_creation_to_success() -> None:
    drawing = drawing_of(BUNDLED)
    arrows = {arrow.id: arrow for arrow in drawing.arrows}
    heights = {y for id in ("accept", "pick", "succeed") for _, y in arrows[id].points}
    assert len(heights) == 1
    assert arrows["accept"].points[0][0] < arrows["pick"].points[0][0] < arrows["succeed"].points[0][0]
    assert [arrow.id for arrow in drawing.arrows if len(arrow.points) > 2] == ["requeue"]
    quality = measure_drawing(drawing)
    assert (quality.crossings, quality.bends) == (0, 2)


def test_self_arrows_and_parallel_arrows_have_lines_and_labels_of_their_own() -> None:
    states = (State("a", Kind.ACTIVE, "A", "a"), State("b", Kind.ACTIVE, "B", "b"))
    ends = [("a", "a"), ("a", "a"), ("a", "a"), ("a", "b"), ("a", "b"), ("a", "b"), ("b", "a")]
    arrows = tuple(Arrow(f"{number}", *pair, f"event {number}") for number, pair in enumerate(ends))
    drawing = layout_lifecycle(Lifecycle("x", "X", states, arrows))
    assert measure_drawing(drawing).holds
    assert len({arrow.points for arrow in drawing.arrows}) == len(arrows)
    assert [arrow.label[0].text for arrow in drawing.arrows] == [f"event {number}" for number in range(len(arrows))]


def test_self_arrows_with_labels_of_uneven_height_leave_and_enter_at_the_box() -> None:
    texts = (None, "a label that says nothing at all, at some length, over many lines of text")
    loops = tuple(Arrow(f"loop-{number}", "a", "a", text) for number, text in enumerate(texts))
    marks = tuple(Arrow(f"make-{number}", None, "a") for number in range(3))
    for order in (loops, loops[::-1]):
        lifecycle = Lifecycle("loops", "Loops", (State("a", Kind.ACTIVE, "a", "a"),), (*marks, *order))
        drawing = layout_lifecycle(lifecycle, {arrow.id: "survived" for arrow in lifecycle.arrows})
        assert_complete(lifecycle, drawing)
        assert measure_drawing(drawing).overlaps == ()


def test_an_empty_lifecycle_has_an_empty_drawing() -> None:
    assert layout_lifecycle(Lifecycle("x", "X", (), ())).states == ()


def test_one_state_without_arrows_is_a_box() -> None:
    drawing = layout_lifecycle(Lifecycle("x", "X", (State("a", Kind.NEUTRAL, "A", "a"),), ()))
    assert drawing.bounds == drawing.states[0].box


def test_a_word_of_300_characters_does_not_explode_the_drawing() -> None:
    states = (State("a", Kind.ACTIVE, "x" * 300, "a"), State("b", Kind.ACTIVE, "B", "b", note="y" * 300))
    drawing = layout_lifecycle(Lifecycle("x", "X", states, (Arrow("go", "a", "b", "z" * 300),)))
    assert drawing.bounds.width < 1000
    assert drawing.bounds.height < 1000
    assert "".join(line.text for line in drawing.arrows[0].label) == "z" * 300


def test_a_word_of_common_length_is_not_broken_however_narrow_the_labels() -> None:
    arrow = Arrow("a", "a", "a", "unschedulable for 10 min")
    lines = measure_label(arrow, "", LabelLimits(30, 30)).text.lines
    assert lines == ("unschedulable", "for 10 min")


def test_a_compound_without_a_joint_is_not_broken() -> None:
    arrow = Arrow("prepare", None, "ready", "Umgebungsvorbereitung fehlgeschlagen", None, None)
    lines = measure_label(arrow, "", LabelLimits(30, 30)).text.lines
    assert lines == ("Umgebungsvorbereitung", "fehlgeschlagen")
    assert measure_state(State("s", Kind.ACTIVE, "Ausführungsumgebungsvorbereitung", "s")).label.lines == (
        "Ausführungsumgebungsvorbereitung",
    )


def test_the_slash_of_an_effect_stands_before_its_first_word_however_long_that_is() -> None:
    arrow = Arrow("pay", None, "paid", None, None, "charge.succeeded")
    assert measure_label(arrow, "", LabelLimits(30, 30)).text.lines == ("/ charge.succeeded",)


def test_the_same_lifecycle_gives_the_same_drawing_whatever_the_hash_seed() -> None:
    code = (
        "import sys; from pathlib import Path; from arrowproof.model.loader import load_lifecycle; "
        "from arrowproof.render.layout import layout_lifecycle; "
        "print(layout_lifecycle(load_lifecycle(Path(sys.argv[1]))))"
    )
    case = CASES / "agent-run.json"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code, case],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(seen) == 1


def test_a_layout_prints_nothing_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from pathlib import Path; from arrowproof.model.loader import load_lifecycle; "
        "from arrowproof.render.layout import layout_lifecycle; layout_lifecycle(load_lifecycle(Path(sys.argv[1]))); "
        "heavy = {'fastapi', 'playwright', 'sqlglot', 'apsw', 'PIL', 'numpy', 'scipy', 'fontTools'}; "
        "sys.exit(len(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code, BUNDLED], check=False, capture_output=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
