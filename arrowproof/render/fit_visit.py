"""A visit to one page in Chromium. Pages are untrusted.

The browser gets the bytes that were read (and hashed), under the address of their file; every other request is refused
and kept, as is what the page says on the console; and a page that keeps the browser busy is ended at a deadline.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal, cast

from arrowproof.render.chromium import browser_pid
from arrowproof.render.fit_rules import Failure

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, ConsoleMessage, Page, ProxySettings, Request, Route

DEADLINE = 60.0
"""How long one page may take for all its checks, in seconds."""

WATCHED = 60.0
"""How much longer a page is listened to after its last screen, in seconds of its own clock, which is wound forward."""

_WIND_DEADLINE = 5.0
_NOWHERE: ProxySettings = {"server": "http://127.0.0.1:9", "bypass": "<-loopback>"}
"""A proxy that is not there: what no route sees (sockets, speculation) reaches nothing, not even on this machine."""
_WITHOUT_NETWORK = """
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'SharedWorker']) {
  delete globalThis[name];
}
"""
"""Ways to a network that no event tells of: a page that takes one gets an error, which is told."""
_MAX_EVENTS = 40
_MAX_TEXT = 200


class PageError(Exception):
    """The page does not let itself be looked at; the message says why. Its browser is not to be used any more."""


class Visit:
    """An open page. Whatever it asks of the network or says on the console is kept as a failure."""

    def __init__(self, page: Page, session: CDPSession, address: str, content: bytes) -> None:
        self._page, self._session = page, session
        self._address, self._content, self._is_open = address, content, False
        self._requests: dict[str, str] = {}
        self._errors: list[str] = []
        self._world = 0
        page.context.route("**/*", self._on_request)
        page.on("request", self._note_request)
        page.on("websocket", lambda socket: self._refused(socket.url, "WebSocket"))
        page.on("popup", lambda popup: self._refused(popup.url, "a new window"))
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._said(f"uncaught {error.name}: {error.message}"))
        page.on("dialog", self._on_dialog)

    def show(self, width: int, height: int, theme: str) -> None:
        """Give the page another screen and another theme."""
        self._page.set_viewport_size({"width": width, "height": height})
        self._page.emulate_media(color_scheme=cast('Literal["light", "dark"]', theme), reduced_motion="reduce")

    def evaluate(self, script: str, argument: object) -> Any:
        """What an async function in the page, called with an argument, returns.

        It runs in a world of its own: it sees the page's document, and the page's scripts can change nothing of what it
        works with.
        """
        expression = f"({script})({json.dumps(argument)})"
        answer = self._session.send(
            "Runtime.evaluate",
            {"expression": expression, "contextId": self._world, "awaitPromise": True, "returnByValue": True},
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            said = details.get("exception", {}).get("description", details.get("text", ""))
            raise PageError(f"could not be measured: {_short(said)}")
        return answer["result"].get("value")

    def open(self) -> None:
        """Go to the page, and make the world that it is measured from."""
        self._page.goto(self._address, timeout=0)
        frame = self._session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        made = self._session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "arrowproof"})
        self._world = int(made["executionContextId"])

    def screenshot(self) -> str:
        """The screen as a PNG in base64, one pixel for each CSS px.

        Taken by the browser's own protocol, which encodes for speed: a fifth more bytes in half of the time.
        """
        taken = self._session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return cast("str", taken["data"])

    def _wind_forward(self) -> None:
        """Let the page's own clock run so far in no time, so that what it puts off by a timer is heard too."""
        over = Event()
        self._session.on("Emulation.virtualTimeBudgetExpired", lambda _event: over.set())
        self._session.send("Emulation.setVirtualTimePolicy", {"policy": "advance", "budget": WATCHED * 1000})
        until = time.monotonic() + _WIND_DEADLINE
        while not over.is_set() and time.monotonic() < until:
            self._page.wait_for_timeout(5)

    def failures(self) -> list[Failure]:
        """What the page asked for and said, in the order in which it did. Nothing is to be shown afterwards."""
        self._wind_forward()
        asked = [Failure("request", _short(url), f"the page asks for {what}") for url, what in self._requests.items()]
        said = [Failure("console-error", "page", message) for message in self._errors]
        return asked + said

    def _on_request(self, route: Route, request: Request) -> None:
        if self._is_own(request):
            self._is_open = True
            route.fulfill(body=self._content, content_type="text/html")
        else:
            self._refused(request.url, request.resource_type)
            route.abort()

    def _note_request(self, request: Request) -> None:
        """Keep the requests that are not routed, too: those to a page's own kind of address are no news."""
        if not self._is_own(request) and not request.url.startswith(("data:", "blob:", self._address)):
            self._refused(request.url, request.resource_type)

    def _is_own(self, request: Request) -> bool:
        """Whether it is the one request that is ours: to open the page. A page that loads itself again is refused."""
        return not self._is_open and request.is_navigation_request() and request.url == self._address

    def _refused(self, url: str, what: str) -> None:
        if len(self._requests) < _MAX_EVENTS:
            self._requests.setdefault(url, what)

    def _on_console(self, message: ConsoleMessage) -> None:
        # The browser's own complaint about a request that was refused repeats what is known already.
        repeats = message.text.startswith("Failed to load resource") and message.location["url"] in self._requests
        if message.type in ("error", "assert") and not repeats:
            self._said(message.text)

    def _on_dialog(self, dialog: Any) -> None:
        self._said(f"opened a dialog: {dialog.message}")
        dialog.dismiss()

    def _said(self, message: str) -> None:
        if len(self._errors) < _MAX_EVENTS:
            self._errors.append(_short(message))


@contextmanager
def open_page(browser: Browser, path: Path, content: bytes, deadline: float = DEADLINE) -> Iterator[Visit]:
    """A visit to the page in a file, whose bytes are ``content``, in a context of its own that ends with the block.

    Raises:
        PageError: the page was still busy after ``deadline`` seconds, brought the browser down, or went elsewhere.
    """
    from playwright.sync_api import Error

    address = path.resolve().as_uri()
    with _deadline(deadline, browser_pid(browser)) as is_over:
        try:
            context = browser.new_context(reduced_motion="reduce", service_workers="block", proxy=_NOWHERE)
            context.add_init_script(_WITHOUT_NETWORK)
            page = context.new_page()
            visit = Visit(page, context.new_cdp_session(page), address, content)
            visit.open()
            yield visit
            context.close()
        except Error as error:
            if is_over():
                message = f"is still busy after {deadline:g} s: a page must come to rest by itself"
                raise PageError(message) from error
            raise PageError(f"could not be looked at: {_short(error.message)}") from error


@contextmanager
def _deadline(seconds: float, pid: int) -> Iterator[Callable[[], bool]]:
    """Kill the browser when the block lasts too long, since a page in an endless loop answers no one.

    Every call that waits for the browser then fails at once. Gives a function that tells whether it came to that.
    """
    finished, killed = Event(), Event()

    def watch() -> None:
        if not finished.wait(seconds):
            killed.set()
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    watcher = Thread(target=watch, daemon=True, name="fit deadline")
    watcher.start()
    try:
        yield killed.is_set
    finally:
        finished.set()
        watcher.join()


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_TEXT else flat[: _MAX_TEXT - 1] + "…"
