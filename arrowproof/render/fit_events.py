"""What a page asks of the network and says on the console while it is visited, in its frames and workers too.

Of all requests only the one for the page itself is answered; the others are refused, and kept. Handlers run in the
thread that reads from the browser: they note, and post what has to be answered, and wait for nothing.
"""

from __future__ import annotations

import base64
from concurrent.futures import Future
from threading import Event

from arrowproof.render.devtools import Answer, DevTools
from arrowproof.render.fit_rules import Failure

_WITHOUT_NETWORK = """
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'SharedWorker']) {
  delete globalThis[name];
}
"""
"""Ways to a network that no event tells of: a page that takes one gets an error, which is told."""

_HEARD: tuple[tuple[str, dict[str, object]], ...] = (
    ("Network.enable", {}),
    ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
    ("Runtime.enable", {}),
    ("Log.enable", {}),
    ("Page.enable", {}),
    ("Page.addScriptToEvaluateOnNewDocument", {"source": _WITHOUT_NETWORK}),
    ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
    ("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}),
)
"""What makes a page, a frame or a worker tell of itself. Some do not know all of it, and refuse that."""

_KINDS = {"xhr": "fetch"}
"""A fetch is told of under either name, by two parts of the browser in no certain order."""
_NO_NETWORK = ("data:", "blob:", "about:")
_MAX_EVENTS = 40
_MAX_TEXT = 200


class PageEvents:
    """Follows a page and whatever it starts. Its own request is answered with ``content``."""

    def __init__(self, tools: DevTools, address: str, content: bytes) -> None:
        self._tools, self._address, self._content = tools, address, content
        self._session = ""
        self._is_open = False
        self._requests: dict[str, str] = {}
        self._errors: list[str] = []
        self.loaded, self.time_is_over = Event(), Event()
        self.has_crashed = False

    def follow(self, session: str) -> None:
        """Follow the page of this session, which has not gone anywhere yet.

        Waits for all answers: a page that goes somewhere meanwhile takes a part of what was asked for along, or none.
        """
        self._session = session
        for answer in self._hear(session):
            answer.result()

    def failures(self) -> list[Failure]:
        """What was asked for and said until now, in the order in which it was."""
        asked = [Failure("request", short(url), f"the page asks for {what}") for url, what in self._requests.items()]
        said = [Failure("console-error", "page", message) for message in self._errors]
        return asked + said

    def _hear(self, session: str) -> list[Future[Answer]]:
        self._tools.listen(session, lambda method, params: self._note(session, method, params))
        return [self._tools.post(method, params, session) for method, params in _HEARD]

    def _note(self, session: str, method: str, params: Answer) -> None:
        match method:
            case "Fetch.requestPaused":
                self._on_request(session, params)
            case "Network.requestWillBeSent":
                self._on_unrouted(params["request"]["url"], params.get("type", "Other"))
            case "Network.webSocketCreated":
                self._refused(params["url"], "WebSocket")
            case "Network.webTransportCreated":
                self._refused(params["url"], "WebTransport")
            case "Page.windowOpen":
                self._refused(params["url"], "a new window")
            case "Target.attachedToTarget":
                self._on_attached(params["sessionId"], params["targetInfo"])
            case "Page.javascriptDialogOpening":
                self._said(f"opened a dialog: {params['message']}")
                self._tools.post("Page.handleJavaScriptDialog", {"accept": False}, session)
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert"):
                self._said(" ".join(_printed(argument) for argument in params["args"]))
            case "Runtime.exceptionThrown":
                self._said(f"uncaught {_thrown(params['exceptionDetails'])}")
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                self._on_log(params["entry"])
            case _ if session == self._session:
                self._on_own(method)

    def _on_own(self, method: str) -> None:
        """What matters of the page itself, and not of its frames and workers."""
        if method == "Page.loadEventFired":
            self.loaded.set()
        elif method == "Emulation.virtualTimeBudgetExpired":
            self.time_is_over.set()
        elif method == "Inspector.targetCrashed":
            self.has_crashed = True
            self._tools.abandon(self._session)

    def _on_request(self, session: str, params: Answer) -> None:
        """Answer the one request that is ours, to open the page. A page that loads itself again is refused."""
        url, kind = params["request"]["url"], params["resourceType"]
        is_own = session == self._session and kind == "Document" and url == self._address
        if is_own and not self._is_open:
            self._is_open = True
            answer = {
                "responseCode": 200,
                "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
                "body": base64.b64encode(self._content).decode(),
            }
            self._tools.post("Fetch.fulfillRequest", {"requestId": params["requestId"], **answer}, session)
        else:
            self._refused(url, kind.lower())
            refusal = {"requestId": params["requestId"], "errorReason": "Failed"}
            self._tools.post("Fetch.failRequest", refusal, session)

    def _on_unrouted(self, url: str, kind: str) -> None:
        """Keep the requests that nothing intercepts, too: those to a page's own kind of address are no news."""
        if not url.startswith(_NO_NETWORK) and url.partition("#")[0] != self._address:
            self._refused(url, kind.lower())

    def _on_attached(self, session: str, target: Answer) -> None:
        """Follow a frame or a worker from its beginning; a window is closed before it begins."""
        if target["type"] == "page":
            self._tools.post("Target.closeTarget", {"targetId": target["targetId"]})
            return
        self._hear(session)
        self._tools.post("Runtime.runIfWaitingForDebugger", session=session)

    def _on_log(self, entry: Answer) -> None:
        # The browser's own complaint about a request that was refused repeats what is known already.
        repeats = entry["text"].startswith("Failed to load resource") and entry.get("url") in self._requests
        if not repeats:
            self._said(entry["text"])

    def _refused(self, url: str, what: str) -> None:
        if len(self._requests) < _MAX_EVENTS:
            self._requests.setdefault(url, _KINDS.get(what, what))

    def _said(self, message: str) -> None:
        if len(self._errors) < _MAX_EVENTS:
            self._errors.append(short(message))


def short(text: str) -> str:
    """What a page says, on one line and of a bounded length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_TEXT else flat[: _MAX_TEXT - 1] + "…"


def _printed(argument: Answer) -> str:
    """An argument of the console's methods, as the console prints it."""
    if "value" in argument:
        return str(argument["value"])
    return str(argument.get("unserializableValue") or argument.get("description") or argument.get("type"))


def _thrown(details: Answer) -> str:
    """What was thrown: an error's name and message, without its stack; of anything else the value."""
    exception = details.get("exception")
    if exception is None:
        return str(details.get("text", ""))
    said = _printed(exception)
    return said.partition("\n    at ")[0] if exception.get("subtype") == "error" else said
