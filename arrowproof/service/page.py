"""The page: the jobs in a browser, by state, with their errors, to be retried or cancelled.

One file, ``jobs-page.html``, which asks the service it came from and nobody else. Its policy lets only its own style
and script run, each known by its hash, and no text become markup.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

PAGE_FILE: Final = Path(__file__).with_name("jobs-page.html")


@cache
def page_headers(page: str) -> dict[str, str]:
    """The headers that a page is sent with, its policy among them."""
    policy = {
        "default-src": "'none'",
        "script-src": _hash_of("script", page),
        "style-src": _hash_of("style", page),
        "img-src": "data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Referrer-Policy": "no-referrer",
    }


def _hash_of(element: str, page: str) -> str:
    """The one script or style of the page, as its policy names it."""
    (content,) = re.findall(f"<{element}>(.*?)</{element}>", page, re.DOTALL)
    return f"'sha256-{b64encode(sha256(content.encode('utf-8')).digest()).decode('ascii')}'"


def page_routes() -> APIRouter:
    """The route of the page."""
    router = APIRouter()
    page = PAGE_FILE.read_text(encoding="utf-8")

    @router.get("/", response_class=HTMLResponse)
    async def get_page() -> HTMLResponse:
        """The jobs as a page for people. Asks for no token itself; what it shows does."""
        return HTMLResponse(page, headers=page_headers(page))

    return router
