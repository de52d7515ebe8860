"""The preview: one page served on loopback, shown anew whenever its source changes.

The browser gets a shell with the page in a frame; the page itself is served as it was made. While the source is broken
the last good page stays, with the reason above it. The server answers requests that name it as their host, and gives
its event stream to its own shell only, so that no web page elsewhere can read along.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
import stat
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from watchfiles import Change, awatch

from arrowproof.errors import ArrowproofError, InputError
from arrowproof.render.language import Language, load_language
from arrowproof.render.policy import source_hash

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

_DEBOUNCE_MS = 100
"""Editors write a file in several steps; what comes within this time is one change."""
_LOOK_MS = 1000
"""How often it is looked whether the watched folders are still those that stand there."""
_HEARTBEAT = 15.0
_MAX_ERROR = 4000


@dataclass(frozen=True)
class View:
    """What browsers are to show: the last good page, its warnings, and why the source is broken now, if it is."""

    html: str = NO_PAGE
    error: str | None = None
    warnings: tuple[str, ...] = ()

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

    def __init__(self, render: Callable[[], View]) -> None:
        self._render = render
        self._changed = asyncio.Condition()
        self._rendering = asyncio.Lock()
        self.view = View()
        self.is_closed = False

    async def refresh(self) -> None:
        """Make the page again; a source that is broken keeps the last good one."""
        async with self._rendering:
            try:
                view = await _in_thread(self._render)
            except ArrowproofError as error:
                view = replace(self.view, error=str(error)[:_MAX_ERROR])
            except Exception as error:  # a bug must not end the session; it is shown for what it is
                view = replace(self.view, error=f"Internal error, please report it: {error!r}"[:_MAX_ERROR])
            await self.show(view)

    async def show(self, view: View) -> None:
        """Show another view, and tell those who wait."""
        async with self._changed:
            self.view = view
            self._changed.notify_all()

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
        complain: told why the source is broken when it is so from the start.

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
    with _listen(port) as listener:
        shell = read_shell(language or load_language())
        asyncio.run(_serve((target, *beside), render, listener, shell, open_browser, announce, complain))


async def _serve(
    sources: Sequence[Path],
    render: Callable[[], View],
    listener: socket.socket,
    shell: str,
    open_browser: bool,
    announce: Callable[[str], None],
    complain: Callable[[str], None],
) -> None:
    """Serve the page of some sources, named after the first, and watch them."""
    asyncio.get_running_loop().set_exception_handler(_report_unless_interrupted)
    port = int(listener.getsockname()[1])
    showing = Showing(render)
    address = f"http://{ADDRESS}:{port}/"

    def ready() -> None:
        announce(address)
        if open_browser:
            # Some browsers keep their caller waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(_watch(sources, showing))
        await asyncio.sleep(0)  # the watch stands before the source is read, so that no change falls between
        await showing.refresh()
        if showing.view.error is not None:
            complain(showing.view.error)
        await _Server(make_app(showing, shell, sources[0].name, port), showing, ready).serve(sockets=[listener])
        watcher.cancel()


def _report_unless_interrupted(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What asyncio has to say of a task that went wrong; an interrupt, which ends every task, is no news."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


def read_shell(language: Language) -> str:
    """What stands around the page, as HTML, in a language."""
    shell = files("arrowproof.render").joinpath("preview.html").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(shell).render(text=language)


def make_app(showing: Showing, shell: str, title: str, port: int) -> ASGIApp:
    """The application: the shell at ``/``, the page at ``/page``, and the event stream at ``/events``."""
    policy = _policy(shell)

    async def get_shell(_request: Request) -> Response:
        return HTMLResponse(shell, headers={"content-security-policy": policy})

    async def get_page(_request: Request) -> Response:
        content = showing.view.html.encode("utf-8", "replace")
        return Response(content, media_type="text/html", headers={"content-security-policy": "frame-ancestors 'self'"})

    async def get_events(_request: Request) -> Response:
        return StreamingResponse(_events(showing, title), media_type="text/event-stream")

    routes = [Route("/", get_shell), Route("/page", get_page), Route("/events", get_events)]
    return _Gate(Starlette(routes=routes), port)


class _Gate:
    """Lets in only who names this server as host, and to the event stream only its own shell; adds the headers."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in (ADDRESS, "localhost")}
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
    """A server that says when it is ready, and lets event streams go when it ends: it would wait for them."""

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
        await super().shutdown(sockets=sockets)


async def _events(showing: Showing, title: str) -> AsyncIterator[str]:
    """The event stream of one browser: each view as a ``state`` event, and a comment now and then."""
    async for view in showing.views():
        if view is None:
            yield ": still here\n\n"
        else:
            data = json.dumps(
                {"page": view.page, "error": view.error, "warnings": "\n".join(view.warnings), "title": title}
            )
            yield f"event: state\ndata: {data}\n\n"


async def _watch(sources: Sequence[Path], showing: Showing) -> None:
    """Refresh what is shown when a source changes.

    Their folders are watched, since many editors replace a file; and when a folder itself is replaced, or a link leads
    elsewhere, the watch begins anew.
    """
    is_anew = False
    try:
        while True:
            await _watch_places(_places(sources), sources, showing, is_anew)
            is_anew = True
    except OSError as error:
        said = f"{sources[0]} cannot be watched, start anew to see changes: {error}"
        await showing.show(replace(showing.view, error=said))


_Places = dict[Path, tuple[int, int] | None]
"""The paths of files to watch, each with the identity of the folder it is in, None while there is none."""


def _places(sources: Sequence[Path]) -> _Places:
    """Where sources stand now: under their own names, and where links lead."""
    watched = {path.parent / path.name for source in sources for path in (source.absolute(), source.resolve())}
    return {path: _identity(path.parent) for path in sorted(watched)}


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


async def _watch_places(places: _Places, sources: Sequence[Path], showing: Showing, is_anew: bool) -> None:
    """Refresh what is shown when something changes at these places, as long as the sources stand there.

    A watch that begins anew refreshes it once it stands, so that no change falls between two watches.
    """

    def concerns(_change: Change, path: str) -> bool:
        return Path(path) in places

    folders = {path.parent for path, identity in places.items() if identity is not None}
    if not folders:
        await asyncio.sleep(_LOOK_MS / 1000)
        return
    async for changes in awatch(
        *folders,
        watch_filter=concerns,
        debounce=_DEBOUNCE_MS,
        step=20,
        recursive=False,
        rust_timeout=_LOOK_MS,
        yield_on_timeout=True,
    ):
        if changes or is_anew:
            is_anew = False
            await showing.refresh()
        if _places(sources) != places:
            return


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
