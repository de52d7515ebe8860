"""Every model of up to 15 states and 28 arrows can be read in one drawing, however its arrows are spread."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from arrowproof.render.quality import measure_drawing
from arrowproof.render.stage import Stage, set_stage
from tests.render.extremes import ARROWS, FAMILIES, STATES, with_sneak_paths
from tests.render.pages import FITS, MEASURE, ROOT, show
from tests.render.proofs import CASES, proof_page
from tests.render.tabs import resize

ENGLISH = load_language()
GALLERY = ROOT / "examples" / "gallery"


@cache
def stage_of(family: str) -> Stage:
    return set_stage(FAMILIES[family](), None, ENGLISH)


def assert_read(stage: Stage) -> None:
    """One scene, its text at least 12 px in states and 11 px at arrows at 1440x900, and nothing on anything else."""
    (scene,) = stage.scenes
    quality = measure_drawing(scene.drawing)
    assert quality.overlaps == ()
    assert quality.state_px >= 12
    assert quality.label_px >= 11
    assert len(scene.drawing.arrows) == len(stage.lifecycle.arrows)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_extremes_is_within_the_size_and_is_read_in_one_drawing(family: str) -> None:
    model = FAMILIES[family]()
    assert len(model.states) <= STATES
    assert len(model.arrows) <= ARROWS
    assert_read(stage_of(family))


# What the browser draws at the tightest size stands for the others, since everything grows with the screen.
@pytest.mark.parametrize("family", FAMILIES)
def test_the_page_of_every_family_fits_its_screen_in_the_browser(tab: Page, tmp_path: Path, family: str) -> None:
    show(tab, tmp_path, render_page(FAMILIES[family](), stage=stage_of(family)))
    resize(tab, 1440, 900)
    assert tab.evaluate(MEASURE) == FITS


@pytest.mark.parametrize("file", [CASES / "agent-run.json", GALLERY / "oban-job.lifecycle.json"], ids=["agent", "oban"])
@pytest.mark.parametrize(("sneak_paths", "unknown"), [(8, 4), (12, 6)])
def test_a_page_with_many_sneak_paths_fits_its_screen(
    tab: Page, tmp_path: Path, file: Path, sneak_paths: int, unknown: int
) -> None:
    model = load_lifecycle(file)
    show(tab, tmp_path, proof_page(model, with_sneak_paths(model, sneak_paths, unknown)))
    resize(tab, 1440, 900)
    assert tab.locator(".drawing:not([hidden]) .sneak").count() == sneak_paths
    assert tab.evaluate(MEASURE) == FITS


TEXTS = st.integers(0, 60).map(lambda length: ("word and another one " * 3)[:length].strip() or None)


@st.composite
def small_models(draw: st.DrawFn) -> Lifecycle:
    """Any model of the size: arrows between any states, most of them between few, with labels of any length."""
    names = [f"state {number}" for number in range(draw(st.integers(1, STATES)))]
    busy = st.sampled_from(names[: draw(st.integers(1, len(names)))])
    end = st.none() | busy | st.sampled_from(names)
    pairs = draw(st.lists(st.tuples(end, end).filter(any), max_size=ARROWS))
    states = tuple(State(name, draw(st.sampled_from(list(Kind))), name, name, note=draw(TEXTS)) for name in names)
    arrows = (Arrow(f"a{n}", *pair, draw(TEXTS), draw(TEXTS), draw(TEXTS)) for n, pair in enumerate(pairs))
    return Lifecycle("any", "Any", states, tuple(arrows))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(small_models())
def test_every_model_of_up_to_15_states_and_28_arrows_is_read_in_one_drawing(model: Lifecycle) -> None:
    assert_read(set_stage(model, None, ENGLISH))
