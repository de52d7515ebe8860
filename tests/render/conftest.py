from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from arrowproof.render.chromium import open_browser

DEADLINE = 20_000
"""How long anything may take in a tab, in milliseconds: no right one comes near it, on a busy machine either."""
expect.set_options(timeout=DEADLINE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(DEADLINE)
    yield page
    context.close()
