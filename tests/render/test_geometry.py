"""What a browser draws is measured in the browser: nothing that our own numbers say is taken for granted here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Point, StateBox, TextLine
from arrowproof.render.page import render_page
from arrowproof.render.proof import Proof, bring_proof
from tests.render.drawn import CASES, page_of_file
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import BUNDLED, ROOT, show, state

GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.lifecycle.json"))
MODELS = [*GALLERY, *sorted(CASES.glob("*.json")), BUNDLED]

MEASURE = """() => {
  const STEP = 2, INK = 0.2;
  const scenes = [...document.querySelectorAll('svg.drawing')];
  const found = [];
  for (const scene of scenes) {
    for (const each of scenes) each.toggleAttribute('hidden', each !== scene);
    const tell = (...words) => found.push([scene.dataset.scene, ...words].join(' '));
    const box = (element, name) => {
      const {left, right, top, bottom} = element.getBoundingClientRect();
      return {left, right, top, bottom, name};
    };
    // A line of text is as high as its font, its letters are not.
    const ink = (element, name) => {
      const {left, right, top, bottom} = box(element);
      return {left, right, top: top + INK * (bottom - top), bottom: bottom - INK * (bottom - top), name};
    };
    const within = (one, two) => Math.min(one.left - two.left, two.right - one.right, one.top - two.top,
      two.bottom - one.bottom);
    const overlap = (one, two) => Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1
      && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 1;
    const holds = ({left, right, top, bottom}, {x, y}) =>
      x > left + 1 && x < right - 1 && y > top + 1 && y < bottom - 1;
    const all = (selector, make, root = scene) => [...root.querySelectorAll(selector)].flatMap((element) => {
      const group = element.closest('.arrow, .state, .mark, .lane');
      const name = group.dataset.arrow ?? group.dataset.state ?? group.dataset.mark ?? group.textContent;
      return [make(element, name)];
    });
    const frame = box(scene);
    const states = all('.state .box', box);
    const solid = [...states, ...all('.mark circle', box)];
    const labels = [...all('.label text', ink), ...all('.lane text', ink)];
    const signs = [...all('.arrow .tip', box), ...all('.arrow .bead', box)];
    const lines = all('.arrow .line', (line, name) => {
      const matrix = line.getScreenCTM(), length = line.getTotalLength();
      const steps = Math.ceil(length * matrix.a / STEP);
      const points = Array.from({length: steps + 1}, (_, n) => line.getPointAtLength(length * n / steps)
        .matrixTransform(matrix)).map(({x, y}) => ({x, y}));
      return {name, points};
    });
    const pairs = (kind, ones, others) => ones.forEach((one, n) => (others ?? ones.slice(n + 1)).forEach((other) => {
      if ((!others || one.name !== other.name) && overlap(one, other)) tell(kind, one.name, other.name);
    }));
    pairs('box on box', solid);
    const byArrow = Object.groupBy(labels, ({name}) => name);
    Object.keys(byArrow).forEach((name) => pairs('label on label', byArrow[name],
      labels.filter((other) => other.name > name)));
    labels.forEach((label) => solid.filter((other) => overlap(label, other)).forEach((other) =>
      tell('label on box', label.name, other.name)));
    labels.forEach((label) => signs.filter((other) => overlap(label, other)).forEach((other) =>
      tell('label on sign', label.name, other.name)));
    pairs('sign on box', all('.arrow .bead', box), solid);
    for (const line of lines) {
      const through = (kind, others) => others.filter((other) => line.points.some((point) => holds(other, point)))
        .forEach((other) => tell(kind, line.name, other.name));
      through('line through box', solid);
      through('line through label', labels);
      through('line through sign', signs.filter(({name}) => name !== line.name));
    }
    // Of two lines that cross, few points lie near each other; of two that run together, many in a row do.
    const cells = new Map();
    const cell = (x, y) => `${Math.floor(x / STEP)},${Math.floor(y / STEP)}`;
    for (const {name, points} of lines)
      for (const {x, y} of points) cells.set(cell(x, y), (cells.get(cell(x, y)) ?? new Set()).add(name));
    for (const {name, points} of lines) {
      const runs = new Map();
      for (const {x, y} of points) {
        const near = new Set();
        for (const dx of [-STEP, 0, STEP])
          for (const dy of [-STEP, 0, STEP]) cells.get(cell(x + dx, y + dy))?.forEach((other) => near.add(other));
        for (const other of runs.keys()) if (!near.has(other)) runs.delete(other);
        for (const other of near) runs.set(other, (runs.get(other) ?? 0) + 1);
        for (const [other, run] of runs) if (other !== name && run === 12) tell('line on line', name, other);
      }
    }
    for (const group of scene.querySelectorAll('.state')) {
      const name = group.dataset.state ?? group.dataset.group;
      const own = box(group.querySelector('.box'));
      const texts = all('text', ink, group), icon = group.querySelector('.icon');
      for (const text of texts) if (within(text, own) < 1) tell('text out of box', name);
      if (icon) for (const text of texts) if (overlap(box(icon), text)) tell('icon on text', name);
      texts.forEach((one, n) => texts.slice(n + 1).filter((two) => overlap(one, two)).forEach(() =>
        tell('text on text', name)));
    }
    for (const part of [...solid, ...labels, ...signs]) if (within(part, frame) < -1) tell('outside', part.name);
    for (const {name, points} of lines)
      if (points.some(({x, y}) => within({left: x, right: x, top: y, bottom: y}, frame) < -1)) tell('outside', name);
    for (const group of scene.querySelectorAll('.label')) {
      const chip = box(group.querySelector('.chip'));
      if (all('text', ink, group).some((text) => within(text, chip) < 0))
        tell('text out of label', group.closest('.arrow').dataset.arrow);
    }
  }
  return [...new Set(found)].sort();
}"""

SIZES = """() => {
  const scene = document.querySelector('svg.drawing:not([hidden])');
  const least = (selector) => Math.min(...[...scene.querySelectorAll(selector)]
    .map((text) => parseFloat(getComputedStyle(text).fontSize) * scene.getScreenCTM().a));
  return [least('.state text'), least('.label text')].map((size) => Math.min(size, 100));
}"""


@pytest.fixture(scope="module")
def shared(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    yield page
    page.close()


def proof_of(name: str) -> Proof:
    lifecycle = load_lifecycle(CASES / f"{name}.json")
    if name == "agent-run":
        return bring_proof(
            lifecycle, build_evidence(lifecycle, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS), "3ad814f6" * 8
        )
    paths = (SneakPath("cancelled", "closed", possible=()), SneakPath("cart", "authorized", possible=()))
    return bring_proof(lifecycle, build_evidence(lifecycle, default="written", sneak_paths=paths), "3ad814f6" * 8)


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_nothing_lies_on_anything_else_in_any_scene_as_the_browser_draws_it(
    shared: Page, tmp_path: Path, model: Path
) -> None:
    lifecycle = load_lifecycle(model)
    show(shared, tmp_path, page_of_file(model))
    if len(lifecycle.states) <= 15 and len(lifecycle.arrows) <= 28:
        state_px, label_px = shared.evaluate(SIZES)
        assert state_px >= 12
        assert label_px >= 11
    assert shared.evaluate(MEASURE) == []


@pytest.mark.parametrize("name", ["agent-run", "order-groups"])
def test_nothing_lies_on_anything_else_where_arrows_show_their_evidence(
    shared: Page, tmp_path: Path, name: str
) -> None:
    proof = proof_of(name)
    show(shared, tmp_path, render_page(load_lifecycle(CASES / f"{name}.json"), proof=proof))
    assert shared.evaluate(MEASURE) == []


PLAIN = Lifecycle(
    "plain",
    "Plain",
    (state("a"), state("b"), state("c", Kind.FAILURE)),
    (Arrow("go", "a", "b", "go"), Arrow("back", "b", "a", "back")),
)


def box_of(id: str, x: float, y: float = 0, text: str = "state", width: float = 36) -> StateBox:
    line = TextLine(text, x + 50, y + 24, width, "middle")
    return StateBox(id, Box(x, y, 100, 40), (line,), icon=(x + 15, y + 20) if id == "c" else None)


def arrow_of(id: str, *points: Point, label: tuple[float, float], text: str = "word") -> ArrowPath:
    x, top = label
    middle = ((points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2)
    return ArrowPath(id, points, middle, (TextLine(text, x, top + 13, 31),), Box(x, top, 31, 17))


GO = arrow_of("go", (100, 12), (300, 12), label=(130, -10))
BACK = arrow_of("back", (300, 28), (100, 28), label=(230, 34))
STATES = (box_of("a", 0), box_of("b", 300), box_of("c", 150, 100))
SOUND = Drawing(Box(-20, -40, 460, 240), STATES, (GO, BACK))
FAULTS = {
    "box on box a b": replace(SOUND, states=(STATES[0], box_of("b", 60), STATES[2])),
    "label on label back go": replace(SOUND, arrows=(GO, replace(BACK, label=GO.label, label_box=GO.label_box))),
    "label on box go c": replace(SOUND, arrows=(arrow_of("go", *GO.points, label=(180, 95)), BACK)),
    "label on sign go go": replace(SOUND, arrows=(replace(GO, bead=(140, 0)), BACK)),
    "sign on box go c": replace(SOUND, arrows=(replace(GO, bead=(152, 110)), BACK)),
    "line through box back c": replace(
        SOUND,
        arrows=(GO, arrow_of("back", (320, 40), (320, 120), (80, 120), (80, 40), label=(330, 50))),
    ),
    "line through label go go": replace(SOUND, arrows=(arrow_of("go", *GO.points, label=(130, 3)), BACK)),
    "line through sign back go": replace(SOUND, arrows=(replace(GO, bead=(150, 28)), BACK)),
    "line on line go back": replace(SOUND, arrows=(GO, arrow_of("back", (300, 13), (100, 13), label=(230, 34)))),
    "text out of box a": replace(SOUND, states=(box_of("a", 0, text="wider than its box"), *STATES[1:])),
    "icon on text c": replace(SOUND, states=(*STATES[:2], replace(STATES[2], icon=(190, 120)))),
    "text on text a": replace(SOUND, states=(replace(STATES[0], note=STATES[0].label), *STATES[1:])),
    "text out of label go": replace(
        SOUND, arrows=(arrow_of("go", *GO.points, label=(130, -10), text="too long"), BACK)
    ),
    "outside a": replace(SOUND, bounds=Box(20, -40, 420, 240)),
}


def test_a_drawing_in_which_nothing_touches_is_measured_as_sound(shared: Page, tmp_path: Path) -> None:
    show(shared, tmp_path, render_page(PLAIN, SOUND))
    assert shared.evaluate(MEASURE) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_each_kind_of_fault_is_seen_by_the_measure(shared: Page, tmp_path: Path, fault: str) -> None:
    show(shared, tmp_path, render_page(PLAIN, FAULTS[fault]))
    assert f"whole {fault}" in shared.evaluate(MEASURE)
