"""The lifecycle of a bounded retry job, as data that a test may change, and as records."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import parse_lifecycle

JOB = """{
  "format": "arrowproof.lifecycle/1",
  "id": "job",
  "title": "Job",
  "binding": {"table": "jobs", "key": ["id"], "state": "status", "watch": ["attempts"]},
  "states": [
    {"id": "pending", "kind": "waiting"},
    {"id": "attempt", "kind": "passing", "label": "Attempt"},
    {"id": "retry_wait", "kind": "waiting", "value": 7},
    {"id": "completed", "kind": "success", "note": "one row"},
    {"id": "failed", "kind": "failure", "terminal": true, "group": "ends"}
  ],
  "arrows": [
    {"id": "accept", "to": "pending", "event": "POST /jobs"},
    {"id": "pick", "from": "pending", "to": "attempt", "event": "poll"},
    {"id": "due", "from": "retry_wait", "to": "attempt", "event": "poll", "guard": "due"},
    {"id": "succeed", "from": "attempt", "to": "completed", "effect": "row"},
    {"id": "retry", "from": "attempt", "to": "retry_wait", "guard": "attempts < 3"},
    {"id": "exhaust", "from": "attempt", "to": "failed", "guard": "attempts = 3"}
  ]
}
"""


@pytest.fixture
def job_text() -> str:
    """The file, one entry a line."""
    return JOB


@pytest.fixture
def job() -> dict[str, Any]:
    """The file as data of its own for each test."""
    data: dict[str, Any] = json.loads(JOB)
    return data


@pytest.fixture
def parse() -> Callable[[Any], Lifecycle]:
    """Data or text to a lifecycle, through the bytes of a file."""

    def parse_data(data: Any) -> Lifecycle:
        text = data if isinstance(data, str) else json.dumps(data)
        return parse_lifecycle(text.encode(), source="job.json")

    return parse_data
