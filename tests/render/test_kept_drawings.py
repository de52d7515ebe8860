"""That tests of pages look at the drawings that a page would have made itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arrowproof.model.lifecycle import Lifecycle, Origin
from arrowproof.render import layout, scenes
from arrowproof.render.drawing import Drawing
from arrowproof.render.language import load_language
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.scenes import plan_scenes
from tests.render.kept_drawings import drawings_kept, drawings_made_anew
from tests.render.pages import NOTES, TWO, ring

ENGLISH = load_language()


@pytest.mark.parametrize("kept", ["made", "in memory", "on disk"])
def test_a_drawing_that_is_kept_is_the_one_that_is_made(tmp_path: Path, kept: str) -> None:
    many = ring(18, 24)
    captions = {arrow.id: "survived" for arrow in NOTES.arrows}
    for _ in range(2 if kept == "on disk" else 1):
        with drawings_kept(tmp_path):
            for _ in range(2 if kept == "in memory" else 1):
                drawings = [layout.layout_lifecycle(NOTES), layout.layout_lifecycle(NOTES, captions)]
                planned = scenes.plan_scenes(many, None, ENGLISH)
    assert drawings == [layout_lifecycle(NOTES), layout_lifecycle(NOTES, captions)]
    assert planned == plan_scenes(many, None, ENGLISH)
    assert len(planned) > 1


def test_whoever_imports_a_layout_by_its_name_gets_it_as_it_is() -> None:
    assert layout_lifecycle is not layout.layout_lifecycle
    assert not hasattr(layout_lifecycle, "__wrapped__")


def test_what_a_drawing_is_made_of_is_told_apart(tmp_path: Path) -> None:
    made: list[Lifecycle] = []

    def count(lifecycle: Lifecycle, *_: object) -> Lifecycle:
        made.append(lifecycle)
        return lifecycle

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenes, "plan_scenes", count)
        with drawings_kept(tmp_path):
            other = replace(TWO, origin=Origin(sha256="ab" * 32))
            for lifecycle in (TWO, other, replace(TWO, title="Other"), TWO, other):
                assert scenes.plan_scenes(lifecycle).origin == lifecycle.origin
    assert len(made) == 3


def test_a_test_that_patches_something_makes_its_drawings_anew(tmp_path: Path) -> None:
    made: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenes, "plan_scenes", lambda lifecycle: made.append(lifecycle.id))
        with drawings_kept(tmp_path):
            for _ in range(2):
                scenes.plan_scenes(TWO)
            with drawings_made_anew():
                scenes.plan_scenes(TWO)
    assert len(made) == 2


def test_each_test_with_a_patch_is_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    draw = layout.best_drawing

    def counted(lifecycle: Lifecycle, *given: Any, **named: Any) -> Drawing:
        made.append(len(lifecycle.states))
        return draw(lifecycle, *given, **named)

    monkeypatch.setattr(layout, "best_drawing", counted)
    for _ in range(2):
        layout.layout_lifecycle(TWO)
    assert made == [len(TWO.states)] * 2
