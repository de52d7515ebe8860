"""What the page is to those who do not see it, or do not point at it: axe-core and the accessibility tree decide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import LANGUAGES, load_language
from arrowproof.render.page import render_page
from tests.render.pages import BUNDLED, show

CASES = Path(__file__).parent / "cases"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@dataclass(frozen=True)
class Sight:
    """A page, and the addresses at which it is looked at: another one for everything that can be chosen."""

    model: Path
    fragments: tuple[str, ...] = ("",)

    def page(self, language: str) -> str:
        return render_sight(self.model, language)


SIGHTS = {
    "notes": Sight(BUNDLED, ("", "#arrow=retry", "#state=attempt", "#transition=pending:failed")),
    "agent run": Sight(CASES / "agent-run.json", ("", "#arrow=t9", "#state=running")),
    "japanese": Sight(CASES / "japanese.json"),
    "hostile": Sight(CASES / "hostile.json"),
}
"""Extend this with every new thing that a page can hold or show."""


@cache
def render_sight(model: Path, language: str) -> str:
    return render_page(load_lifecycle(model), language=load_language(language))


def findings(tab: Page) -> list[str]:
    """What axe-core has against a page as it stands, by rule and element."""
    found = Axe().run(tab).response["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SIGHTS)
def test_axe_finds_nothing_in_any_theme_whatever_is_chosen(tab: Page, tmp_path: Path, name: str, language: str) -> None:
    found = {}
    for theme in THEMES:
        tab.emulate_media(color_scheme=theme)
        for fragment in SIGHTS[name].fragments:
            tab.goto("about:blank")
            show(tab, tmp_path, SIGHTS[name].page(language), fragment)
            if said := findings(tab):
                found[theme, fragment] = said
    assert found == {}


def test_axe_would_find_a_control_without_a_name(tab: Page, tmp_path: Path) -> None:
    page = SIGHTS["notes"].page("en").replace("</header>", "<button type=button></button></header>")
    show(tab, tmp_path, page)
    assert [each.split(":")[0] for each in findings(tab)] == ["button-name"]
