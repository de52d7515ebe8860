"""The client of the browser's own protocol, on a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from arrowproof.render.chromium import RunningChromium, run_chromium
from arrowproof.render.devtools import BrowserEndedError, DevToolsError


@pytest.fixture
def browser() -> Iterator[RunningChromium]:
    with run_chromium() as running:
        running.version()
        yield running


def page_of(browser: RunningChromium) -> str:
    target = browser.tools.call("Target.createTarget", {"url": "about:blank"})["targetId"]
    session: str = browser.tools.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
    return session


def value_of(browser: RunningChromium, session: str, expression: str) -> object:
    asked = {"expression": expression, "returnByValue": True}
    return browser.tools.call("Runtime.evaluate", asked, session)["result"]["value"]


def test_answers_find_who_asked_from_whichever_thread(browser: RunningChromium) -> None:
    session = page_of(browser)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda n: value_of(browser, session, f"{n} * 2"), range(200))) == list(range(0, 400, 2))


def test_a_message_larger_than_the_pipe_goes_through_in_both_directions(browser: RunningChromium) -> None:
    text = "é\\u0000" * 400_000
    assert value_of(browser, page_of(browser), f"'{text}'") == "é\0" * 400_000


def test_an_event_comes_to_the_handler_of_its_session_only(browser: RunningChromium) -> None:
    loud, quiet = page_of(browser), page_of(browser)
    heard, here = Event(), []
    browser.tools.listen(loud, lambda method, _: heard.set() if method == "Runtime.consoleAPICalled" else None)
    browser.tools.listen(quiet, lambda method, _: here.append(method))
    browser.tools.call("Runtime.enable", session=loud)
    browser.tools.call("Runtime.evaluate", {"expression": "console.log(1)"}, loud)
    assert heard.wait(60)
    assert here == []


def test_what_the_browser_refuses_is_an_error_with_its_reason(browser: RunningChromium) -> None:
    with pytest.raises(DevToolsError, match="No target with given id found"):
        browser.tools.call("Target.attachToTarget", {"targetId": "nobody"})


def test_who_waits_for_a_browser_that_ends_is_let_go(browser: RunningChromium) -> None:
    asked = {"expression": "new Promise(() => 0)", "awaitPromise": True}
    never = browser.tools.post("Runtime.evaluate", asked, page_of(browser))
    browser.kill()
    with pytest.raises(BrowserEndedError):
        never.result(60)
    with pytest.raises(BrowserEndedError):
        browser.tools.call("Browser.getVersion")
    assert browser.tools.is_over


def test_a_session_that_is_given_up_fails_alone(browser: RunningChromium) -> None:
    asked = {"expression": "new Promise(() => 0)", "awaitPromise": True}
    gone, kept = page_of(browser), page_of(browser)
    never = browser.tools.post("Runtime.evaluate", asked, gone)
    browser.tools.abandon(gone)
    with pytest.raises(BrowserEndedError, match="the page has crashed"):
        never.result(60)
    assert value_of(browser, kept, "1 + 1") == 2
