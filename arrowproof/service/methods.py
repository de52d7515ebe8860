"""The methods: what is answered to HEAD and OPTIONS, whatever the route."""

from __future__ import annotations

from fastapi.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_EVERY_METHOD = "GET, HEAD, OPTIONS, POST"


class Methods:
    """Middleware that has HEAD answered as GET, which the connection sends without the body, and OPTIONS for ``*``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or answer it."""
        if scope["type"] == "http" and scope["path"] == "*":
            await Response(status_code=204, headers={"Allow": _EVERY_METHOD})(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "HEAD":
            await self._app({**scope, "method": "GET"}, receive, send)
        else:
            await self._app(scope, receive, send)


def allowed(of_route: str) -> str:
    """The value of ``Allow`` for the methods that a route has itself."""
    methods = {method.strip() for method in of_route.split(",")}
    return ", ".join(sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())))
