"""What a test does with a tab whose effect comes by itself, a moment later: each returns once it is there.

A page changes at once with the key or the click that changes it. But the browser has a process of its own, which hears
of another address when the page is done; and a page hears of another size with the next picture that is drawn of it.
"""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

DEADLINE = 60_000
"""How long anything may take in a tab, in milliseconds: no right one comes near it, on a busy machine either."""

RESIZED = """async ([width, height, deadline]) => {
  const drawn = () => new Promise(requestAnimationFrame);
  const latest = performance.now() + deadline;
  while (innerWidth !== width || innerHeight !== height) {
    if (performance.now() > latest) throw new Error(`the page is ${innerWidth} by ${innerHeight}`);
    await drawn();
  }
  await drawn();
}"""
"""The event of another size comes ahead of what waits for the next picture."""


def address(tab: Page) -> str:
    """The address of the page, once the browser knows it too: from then on it goes back, reloads and links rightly."""
    told = str(tab.evaluate("location.href"))
    tab.wait_for_url(lambda url: url == told)
    return told


def expect_fragment(tab: Page, fragment: str) -> None:
    """The page has this fragment in its address, beginning with its ``#``, and the browser comes to know it."""
    assert tab.evaluate("location.hash") == fragment
    expect(tab).to_have_url(re.compile(rf"^[^#]*{re.escape(fragment)}$"))


def expect_no_fragment(tab: Page) -> None:
    """The page has no fragment in its address, and the browser comes to know it."""
    expect_fragment(tab, "")


def go_back(tab: Page) -> None:
    """Press the browser's back button."""
    address(tab)
    tab.go_back()


def reload(tab: Page) -> None:
    """Press the browser's reload button."""
    address(tab)
    tab.reload()


def resize(tab: Page, width: int, height: int) -> None:
    """Make the screen so large, in CSS px, and wait until the page has taken note of it."""
    tab.set_viewport_size({"width": width, "height": height})
    tab.evaluate(RESIZED, [width, height, DEADLINE])
