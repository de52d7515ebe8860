"""A visit to one page in Chromium. Pages are untrusted.

The browser gets the bytes that were read (and hashed), under the address of their file; every other request is refused
and kept, as is what the page says on the console (:mod:`arrowproof.render.fit_events`); and a page that keeps the
browser busy is ended at a deadline.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, cast

from arrowproof.render.chromium import RunningChromium
from arrowproof.render.devtools import BrowserEndedError, DevTools, DevToolsError
from arrowproof.render.fit_events import PageEvents, short
from arrowproof.render.fit_rules import Failure

if TYPE_CHECKING:
    from arrowproof.render.fit_screen import Screen

DEADLINE = 60.0
"""How long one page may take for all its checks, in seconds."""

SCENE_DEADLINE = 1.0
"""How much longer it may take for each scene that is looked at besides, in seconds."""

WATCHED = 60.0
"""How much longer a page is listened to after its last screen, in seconds of its own clock, which is wound forward."""

_WIND_DEADLINE = 5.0
_PATIENCE_MS = 1000
_GO = """
async ({ fragment, patience }) => {
  const go = async (to) => {
    const told = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
    location.hash = to;
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, patience))]);
  };
  if (location.hash === `#${fragment}`) await go('');  // a page is told of a change alone
  await go(fragment);
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
"""
"""Changes the fragment of the page's address, and lets the page do what it does then, before and in a frame."""
_MAKES_SHADOWS = re.compile(rb"attachShadow|shadowroot", re.IGNORECASE)
_NOWHERE = {"proxyServer": "http://127.0.0.1:9", "proxyBypassList": "<-loopback>"}
"""A proxy that is not there: what is not intercepted (sockets, speculation) reaches no one, on this machine either."""


class PageError(Exception):
    """The page does not let itself be looked at; the message says why, ``heard`` what it asked for and said before."""

    heard: tuple[Failure, ...] = ()


class LostError(PageError):
    """The browser ended during the visit, which another page may have brought about."""


class Visit:
    """An open page. Whatever it asks of the network or says on the console is kept as a failure."""

    def __init__(self, tools: DevTools, address: str, content: bytes, deadline: _Deadline, agent: str) -> None:
        self._tools, self._address, self._deadline, self._agent = tools, address, deadline, agent
        self._may_hold_closed = _MAKES_SHADOWS.search(content) is not None
        self._events = PageEvents(tools, address, content)
        self._context = self._session = ""
        self._world = 0
        self._scripts: dict[str, int] = {}
        self._size, self._theme = (0, 0), ""

    def open(self, first: Screen | None = None) -> None:
        """Go to the page, in a context of its own, and make the world that it is measured from.

        It opens on the ``first`` screen that it is looked at on, so that it is not laid out for another one before.
        """
        made = self._tools.call("Target.createBrowserContext", {**_NOWHERE, "disposeOnDetach": True})
        self._context = made["browserContextId"]
        self._tools.post("Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": self._context})
        page = {"url": "about:blank", "browserContextId": self._context}
        target = self._tools.call("Target.createTarget", page)["targetId"]
        self._session = self._tools.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self._events.follow(self._session)
        self._tools.post("Emulation.setUserAgentOverride", {"userAgent": self._agent}, self._session)
        if first:
            self.show(first.width, first.height, first.theme)
        went = self._call("Page.navigate", {"url": self._address})
        if "errorText" in went:
            raise PageError(f"could not be opened: {short(went['errorText'])}")
        self._await(self._events.loaded)
        world = self._call("Page.createIsolatedWorld", {"frameId": went["frameId"], "worldName": "arrowproof"})
        self._world = int(world["executionContextId"])

    def close(self) -> None:
        """Let the page go, without waiting for it."""
        self._tools.post("Target.disposeBrowserContext", {"browserContextId": self._context})

    def show(self, width: int, height: int, theme: str) -> None:
        """Give the page another screen and another theme; what stays as it was is not set anew."""
        answers = []
        if self._size != (width, height):
            size = {"width": width, "height": height, "screenWidth": width, "screenHeight": height}
            metrics = {**size, "deviceScaleFactor": 1, "mobile": False}
            answers.append(self._tools.post("Emulation.setDeviceMetricsOverride", metrics, self._session))
        if self._theme != theme:
            media = [
                {"name": "prefers-color-scheme", "value": theme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ]
            answers.append(self._tools.post("Emulation.setEmulatedMedia", {"features": media}, self._session))
        self._size, self._theme = (width, height), theme
        for answer in answers:
            answer.result()

    def go_to(self, fragment: str) -> None:
        """Have the page show what a fragment of its address stands for, and give it the time for that."""
        self._deadline.extend(SCENE_DEADLINE)
        self.evaluate(_GO, {"fragment": fragment, "patience": _PATIENCE_MS})

    def evaluate(self, script: str, argument: object) -> Any:
        """What an async function in the page, called with an argument, returns.

        It runs in a world of its own: it sees the page's document, and the page's scripts can change nothing of what it
        works with. The function is kept there, since what runs a second time as the same one runs faster.
        """
        kept = f"arrowproofScripts[{self._scripts.setdefault(script, len(self._scripts))}]"
        expression = f"(globalThis.arrowproofScripts ??= [], {kept} ??= {script}, {kept})({json.dumps(argument)})"
        answer = self._call(
            "Runtime.evaluate",
            {"expression": expression, "contextId": self._world, "awaitPromise": True, "returnByValue": True},
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            said = details.get("exception", {}).get("description", details.get("text", ""))
            raise PageError(f"could not be measured: {short(said)}")
        return answer["result"].get("value")

    def screenshot(self) -> str:
        """The screen as a PNG in base64, one pixel for each CSS px; it is encoded for speed, not for size."""
        return cast("str", self._call("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})["data"])

    def failures(self) -> list[Failure]:
        """What the page asked for and said, in the order in which it did. Nothing is to be shown afterwards."""
        closed = self._closed_documents() if self._may_hold_closed else []
        self._wind_forward()
        return self.heard() + closed

    def heard(self) -> list[Failure]:
        """What the page asked for and said until now."""
        return self._events.failures()

    def _closed_documents(self) -> list[Failure]:
        """The elements with a closed shadow root, which no script that measures gets to see."""
        nodes = [self._call("DOM.getDocument", {"depth": -1, "pierce": True})["root"]]
        found = []
        while nodes:
            node = nodes.pop()
            roots = node.get("shadowRoots", [])
            nodes += [*node.get("children", []), *roots]
            if any(root.get("shadowRootType") == "closed" for root in roots):
                what = "holds a document of its own, which is not measured"
                found.append(Failure("limits", short(node["localName"]), what))
        return found

    def _wind_forward(self) -> None:
        """Let the page's own clock run so far in no time, so that what it puts off by a timer is heard too.

        The clock stands still while a request is under way, so that each is told of before the end.
        """
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": WATCHED * 1000}
        self._call("Emulation.setVirtualTimePolicy", policy)
        self._await(self._events.time_is_over, _WIND_DEADLINE)

    def _call(self, method: str, params: dict[str, object]) -> dict[str, Any]:
        return self._tools.call(method, params, self._session)

    def _await(self, event: Event, seconds: float = float("inf")) -> None:
        """Wait for an event of the page, as long as there is a page."""
        until = time.monotonic() + seconds
        while not event.wait(min(0.1, max(0.0, until - time.monotonic()))) and time.monotonic() < until:
            if self._tools.is_over or self._events.has_crashed:
                raise BrowserEndedError("the page has crashed" if self._events.has_crashed else "the browser has ended")


@contextmanager
def open_page(
    browser: RunningChromium, path: Path, content: bytes, deadline: float = DEADLINE, first: Screen | None = None
) -> Iterator[Visit]:
    """A visit to the page in a file, whose bytes are ``content``, in a context of its own that ends with the block.

    It opens on the ``first`` screen, or on one of no certain size.

    Raises:
        PageError: the page was still busy after ``deadline`` seconds, crashed, went elsewhere, or cannot be measured.
        LostError: the browser ended for a reason that need not be this page's.
        MissingEnvironmentError: the browser does not start.
    """
    browser.version()
    with _Deadline(deadline, browser.kill) as until:
        visit = Visit(browser.tools, path.resolve().as_uri(), content, until, browser.agent())
        try:
            visit.open(first)
            yield visit
        except DevToolsError as error:
            found = PageError(f"could not be looked at: {short(str(error))}")
            if until.is_over:
                found = PageError(f"is still busy after {until.seconds:g} s: a page must come to rest by itself")
            elif browser.tools.is_over:
                found = LostError(str(found))
            found.heard = tuple(visit.heard())
            raise found from error
        except PageError as error:
            error.heard = tuple(visit.heard())
            raise
        finally:
            visit.close()


class _Deadline:
    """Kills the browser when its block lasts too long, since a page in an endless loop answers no one.

    Every call that waits for the browser then fails at once.
    """

    def __init__(self, seconds: float, kill: Callable[[], None]) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds
        self._kill = kill
        self._finished = Event()
        self.is_over = False
        self._watcher = Thread(target=self._watch, daemon=True, name="fit deadline")

    def __enter__(self) -> _Deadline:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finished.set()
        self._watcher.join()

    def extend(self, seconds: float) -> None:
        """Allow so much more time."""
        self.seconds += seconds
        self._until += seconds

    def _watch(self) -> None:
        while not self._finished.wait(max(0.0, self._until - time.monotonic())):
            if time.monotonic() >= self._until:
                self.is_over = True
                self._kill()
                return
