from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, nullcontext

import pytest
from playwright.sync_api import Browser, Page, expect

from arrowproof.render.chromium import open_browser
from tests.render.kept_drawings import drawings_kept, drawings_made_anew
from tests.render.tabs import DEADLINE

expect.set_options(timeout=DEADLINE)

_running = ExitStack()
_browsers: list[Browser] = []
"""The browser that modules share, one after the other: to start one takes longer than many a test of a page."""


@pytest.fixture(scope="package", autouse=True)
def kept_drawings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    base = tmp_path_factory.getbasetemp()  # new in each run; that of a worker stands in it
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "drawings"
    folder.mkdir(exist_ok=True)
    with drawings_kept(folder):
        yield


@pytest.fixture(autouse=True)
def drawings_of_what_is_patched(request: pytest.FixtureRequest) -> Iterator[None]:
    with drawings_made_anew() if "monkeypatch" in request.fixturenames else nullcontext():
        yield


@pytest.fixture(scope="module")
def shared_browser() -> Browser:
    if not (_browsers and _browsers[0].is_connected()):
        _end_browser()
        _browsers.append(_running.enter_context(open_browser()))
    return _browsers[0]


@pytest.fixture(scope="module")
def browser(shared_browser: Browser) -> Browser:
    return shared_browser


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(DEADLINE)
    yield page
    context.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """End the browser with its module, unless the next one begins with it, too: whoever opens one finds none open."""
    try:
        yield
    finally:
        is_last = nextitem is None or nextitem.path != item.path
        if is_last and "shared_browser" not in getattr(nextitem, "fixturenames", ()):
            _end_browser()


def pytest_sessionfinish() -> None:
    _end_browser()


def _end_browser() -> None:
    _browsers.clear()
    _running.close()
