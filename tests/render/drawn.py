"""Drawings and pages of lifecycle files, each made once in a run: a layout depends on nothing but its lifecycle."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from arrowproof.model.loader import load_lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.language import load_language
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.page import render_page

CASES = Path(__file__).parent / "cases"


@cache
def drawing_of(file: Path) -> Drawing:
    """The whole of a lifecycle, without captions."""
    return layout_lifecycle(load_lifecycle(file))


@cache
def page_of_file(file: Path, tag: str = "en") -> str:
    """The page of a lifecycle without a proof."""
    return render_page(load_lifecycle(file), language=load_language(tag))


def page_of_case(name: str) -> str:
    """The page of one of the cases, by its name."""
    return page_of_file(CASES / f"{name}.json")
