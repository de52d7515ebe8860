"""Pages of large lifecycles, which have several scenes, and what a test asks of the one that is shown."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from playwright.sync_api import Page

from arrowproof.model.lifecycle import View
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.page import render_page
from tests.render.drawn import CASES

TEXTS = """() => {
  const scene = document.querySelector('.drawing:not([hidden])');
  const low = (selector) => Math.min(...[...scene.querySelectorAll(selector)].map((text) => {
    const {height} = text.getBoundingClientRect();
    return parseFloat(getComputedStyle(text).fontSize) * scene.getScreenCTM().a * (height > 0 ? 1 : 0);
  }));
  return [low('.state text'), low('.label text')];
}"""
"""The smallest text of the states and of the arrows in the scene that is shown, in CSS px."""

PAYING = View("pay", "Paying", ("pay_pending", "pay_review", "authorized"), (), "How it is paid.")
SHIPPING = View("ship", "Shipping it", ("pickup", "transit"), ())


@cache
def page_of_views() -> str:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    states = tuple(state.id for state in lifecycle.states if state.group != "Returns")
    return render_page(replace(lifecycle, views=(PAYING, SHIPPING, View("all", "Everything", states, ()))))


def scene(tab: Page) -> str | None:
    """The fragment of the scene that is shown, None for the one that the page opens with."""
    (shown,) = tab.locator(".drawing:not([hidden])").all()
    return shown.get_attribute("data-fragment")


def go(tab: Page, fragment: str | None) -> None:
    tab.evaluate("(hash) => { location.hash = hash }", fragment)
    is_there = "(hash) => document.querySelector('.drawing:not([hidden])').dataset.fragment === hash"
    tab.wait_for_function(is_there, arg=fragment)


def path(tab: Page) -> list[str]:
    return tab.locator(".crumbs li").all_inner_texts()


def box(tab: Page, name: str) -> Any:
    return tab.locator(f".drawing:not([hidden]) .state[data-state={name!r}]")


def group(tab: Page, name: str) -> Any:
    return tab.locator(f".drawing:not([hidden]) .state[data-group={name!r}]")


def arrow(tab: Page, name: str) -> Any:
    return tab.locator(f".drawing:not([hidden]) .arrow[data-arrow={name!r}] .label")
