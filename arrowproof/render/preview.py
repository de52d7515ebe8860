"""The preview: one page served on loopback, shown anew whenever its source changes.

The browser gets a shell with the page in a frame; the page itself is served as it was made. While the source is broken
the last good page stays, with the reason above it. The server answers requests that name it as their host, and gives
its event stream to its own shell only, so that no web page elsewhere can read along.
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import json
import re
import socket
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from jinja2 import Environment, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arrowproof.errors import MAX_LISTED, ArrowproofError, InputError
from arrowproof.model.record import record
from arrowproof.render.language import Language, load_language
from arrowproof.render.policy import source_hash
from arrowproof.render.preview_watch import watch

ADDRESS = "127.0.0.1"

HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""What every answer bears."""

NO_PAGE = "<!doctype html><title>No page yet</title>"
"""What stands in the frame until the source was good once."""

_HTTP_PORT = 80
_HEARTBEAT = 15.0
_MAX_ERROR = 4000
_MAX_TITLE = 200
_PATIENCE = 1.0
"""Seconds after which it is said that the first page is still being drawn."""


@record
class View:
    """What browsers are to show: the last good page, its warnings, why the source is broken now, if it is, and whether
    another page is being drawn."""

    html: str = NO_PAGE
    error: str | None = None
    warnings: tuple[str, ...] = ()
    is_drawing: bool = False

    @property
    def title(self) -> str | None:
        """What the page is called, None when it has no title."""
        found = re.search(r"<title>(.*?)</title>", self.html, re.DOTALL | re.IGNORECASE)
        return " ".join(html.unescape(found.group(1)).split())[:_MAX_TITLE] or None if found else None

    @property
    def page(self) -> str:
        """The name of the page's content: another content has another name."""
        return hashlib.sha256(self.html.encode("utf-8", "surrogatepass")).hexdigest()[:16]


async def _in_thread(render: Callable[[], View]) -> View:
    """What a render comes to, in a thread that nobody waits for when the session ends in the midst of it."""
    loop = asyncio.get_running_loop()
    made: asyncio.Future[View] = loop.create_future()

    def tell(settle: Callable[[Any], None], outcome: object) -> None:
        if not made.done():
            settle(outcome)

    def work() -> None:
        told: tuple[Callable[[Any], None], object]
        try:
            told = made.set_result, render()
        except Exception as error:
            told = made.set_exception, error
        with suppress(RuntimeError):  # the loop is closed: the session has ended
            loop.call_soon_threadsafe(tell, *told)

    threading.Thread(target=work, daemon=True, name="render").start()
    return await made


class Showing:
    """The view at present, and those who wait for the next one."""

    def __init__(self, render: Callable[[], View], report: Callable[[View, float], None]) -> None:
        """``report`` is told what each drawing came to, and the seconds that it took."""
        self._render = render
        self._report = report
        self._changed = asyncio.Condition()
        self._rendering = asyncio.Lock()
        self.view = View()
        self.is_closed = False

    async def refresh(self) -> None:
        """Make the page again; a source that is broken keeps the last good one."""
        async with self._rendering:
            begun, last = time.monotonic(), self.view
            await self.show(replace(last, is_drawing=True))
            try:
                view = await _in_thread(self._render)
            except ArrowproofError as error:
                view = replace(last, error=str(error)[:_MAX_ERROR])
            except Exception as error:  # a bug must not end the session; it is shown for what it is
                view = replace(last, error=f"Internal error, please report it: {error!r}"[:_MAX_ERROR])
            self._report(view, time.monotonic() - begun)
            await self.show(view)

    async def show(self, view: View) -> None:
        """Show another view, and tell those who wait."""
        async with self._changed:
            self.view = view
            self._changed.notify_all()

    async def fail(self, error: str) -> None:
        """Keep what is shown, and say what went wrong beside the drawing of it."""
        await self.show(replace(self.view, error=error))

    async def close(self) -> None:
        """Let everyone who waits go."""
        async with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    async def views(self) -> AsyncIterator[View | None]:
        """The view at present and then each new one, until it is closed; None when nothing came for a while."""
        seen: View | None = None
        while not self.is_closed:
            if self.view is seen:
                yield None
            else:
                seen = self.view
                yield seen
            with suppress(TimeoutError):
                async with asyncio.timeout(_HEARTBEAT):
                    await self._next_after(seen)

    async def _next_after(self, seen: View) -> None:
        """Wait until there is another view, or the end."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.is_closed or self.view is not seen)


def serve(
    target: Path,
    render: Callable[[], View],
    *,
    beside: Sequence[Path] = (),
    port: int = 0,
    open_browser: bool = True,
    language: Language | None = None,
    announce: Callable[[str], None],
    complain: Callable[[str], None],
    drawing: Callable[[], None] = lambda: None,
    drawn: Callable[[float], None] = lambda _seconds: None,
) -> None:
    """Serve a page until the user interrupts, and show it anew when its source changes.

    Args:
        target: the file that the page is made of.
        render: makes the page and its warnings from it; raises an :class:`ArrowproofError` while it is broken.
        beside: other files that the page is made of, which may come and go.
        port: the TCP port on 127.0.0.1; 0 takes a free one.
        open_browser: whether to open the user's browser too.
        language: of what the shell around the page says; English when left out.
        announce: told the address once it is served.
        complain: told why the source is broken, at the start and after each change.
        drawing: called when the first page takes its time.
        drawn: told the seconds that a page took, at the start and after each change.

    Raises:
        InputError: the target does not exist, or the port is taken.
        KeyboardInterrupt: the user ended it; everything is closed then.
    """
    try:
        is_file = target.is_file()
    except OSError as error:  # a folder that may not be entered, a name that is too long
        raise InputError(f"{target} cannot be read: {error.strerror}. Name another file") from error
    if not is_file:
        raise InputError(f"{target} is no file: name a lifecycle file or an HTML page")
    language = language or load_language()
    with _listen(port) as listener:
        showing = Showing(render, lambda view, seconds: drawn(seconds) if view.error is None else complain(view.error))
        asyncio.run(_serve((target, *beside), showing, listener, language, open_browser, announce, drawing))


async def _serve(
    sources: Sequence[Path],
    showing: Showing,
    listener: socket.socket,
    language: Language,
    open_browser: bool,
    announce: Callable[[str], None],
    drawing: Callable[[], None],
) -> None:
    """Serve the page of some sources, named after the first, and watch them."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_report_unless_interrupted)
    port = int(listener.getsockname()[1])
    address = f"http://{ADDRESS}:{port}/"

    def ready() -> None:
        announce(address)
        if open_browser:
            # Some browsers keep their caller waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch(sources, showing.refresh, showing.fail))
        await asyncio.sleep(0)  # the watch stands before the source is read, so that no change falls between
        patience = loop.call_later(_PATIENCE, drawing)
        await showing.refresh()
        patience.cancel()
        await _Server(make_app(showing, language, sources[0].name, port), showing, ready).serve(sockets=[listener])
        watcher.cancel()


def _report_unless_interrupted(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What asyncio has to say of a task that went wrong; an interrupt, which ends every task, is no news."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


def read_shell(language: Language) -> str:
    """What stands around the page, as HTML, in a language."""
    shell = files("arrowproof.render").joinpath("preview.html").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(shell).render(text=language)


def make_app(showing: Showing, language: Language, name: str, port: int) -> ASGIApp:
    """The application: the shell at ``/``, the page at ``/page``, and the event stream at ``/events``."""
    shell = read_shell(language)
    policy = _policy(shell)

    async def get_shell(_request: Request) -> Response:
        return HTMLResponse(shell, headers={"content-security-policy": policy})

    async def get_page(_request: Request) -> Response:
        content = showing.view.html.encode("utf-8", "replace")
        return Response(content, media_type="text/html", headers={"content-security-policy": "frame-ancestors 'self'"})

    async def get_events(_request: Request) -> Response:
        return StreamingResponse(_events(showing, name, language), media_type="text/event-stream")

    routes = [Route("/", get_shell), Route("/page", get_page), Route("/events", get_events)]
    return _Gate(Starlette(routes=routes), port)


class _Gate:
    """Lets in only who names this server as host, and to the event stream only its own shell; adds the headers."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        names = (ADDRESS, "localhost")
        self._hosts = {f"{name}:{port}" for name in names}
        if port == _HTTP_PORT:  # browsers leave it out
            self._hosts.update(names)
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        refusal = self._refuse(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This server answers to its own address only.\n", status_code=421)
        foreign = headers.get("origin", next(iter(self._origins))) not in self._origins
        if scope["path"] == "/events" and (foreign or headers.get("sec-fetch-site", "same-origin") != "same-origin"):
            return PlainTextResponse("The event stream is for the preview's own page only.\n", status_code=403)
        return None


class _Server(uvicorn.Server):
    """A server that says when it is ready, and at its end lets those go whom it would wait for: event streams, and who
    does not take what was sent."""

    def __init__(self, app: ASGIApp, showing: Showing, ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(app, lifespan="off", ws="none", log_config=None, access_log=False, server_header=False)
        )
        self._showing, self._ready = showing, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._showing.close()
        for connection in list(self.server_state.connections):
            if connection.transport.get_write_buffer_size():
                connection.transport.abort()
        await super().shutdown(sockets=sockets)


def _listed(warnings: Sequence[str]) -> list[str]:
    """As many warnings as an error lists problems, and how many more there are."""
    more = len(warnings) - MAX_LISTED
    return [*warnings[:MAX_LISTED], *([f"and {more} more"] if more > 0 else [])]


async def _events(showing: Showing, name: str, language: Language) -> AsyncIterator[str]:
    """The event stream of one browser: each view as a ``state`` event, and a comment now and then.

    What has no title is called by the name of its file.
    """
    async for view in showing.views():
        if view is None:
            yield ": still here\n\n"
        else:
            told = {
                "page": view.page,
                "error": view.error,
                "warnings": _listed(view.warnings),
                "warned": language.count("preview.warnings", len(view.warnings)),
                "drawing": view.is_drawing,
                "title": view.title if view.title and view.html is not NO_PAGE else name,
            }
            yield f"event: state\ndata: {json.dumps(told)}\n\n"


def _listen(port: int) -> socket.socket:
    """A listening socket on loopback."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise InputError(f"Port {port} cannot be served on: {error}. Name another one, or 0 for a free one") from error
    return listener


def _policy(shell: str) -> str:
    """The Content-Security-Policy that lets the shell's own script and style run, and nothing else."""

    def digest(tag: str) -> str:
        content = re.search(rf"<{tag}>(.*?)</{tag}>", shell, re.DOTALL)
        return source_hash(content.group(1) if content else "")

    return (
        f"default-src 'none'; script-src {digest('script')}; style-src {digest('style')}; img-src data:; "
        "connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
