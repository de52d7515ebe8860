"""What a problem looks like to a client."""

from __future__ import annotations

from typing import Any

import httpx


def assert_problem(response: httpx.Response, status: int, kind: str = "", **members: Any) -> None:
    """Check the answer: its status, its type when one is named, and the members that it has beside the usual four."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem.keys() == {"type", "title", "status", "detail", *members}
    assert problem["status"] == status
    assert problem["detail"]
    assert problem["title"]
    assert {name: problem[name] for name in members} == members
    if kind:
        assert problem["type"] == f"/problems/{kind}"
