"""The log of a worker: JSON lines, each with its time."""

from __future__ import annotations

import json
import re
from typing import Any


def read_log(text: str) -> list[dict[str, Any]]:
    """What is told in whole lines, without the times; these are RFC 3339 in UTC."""
    lines = [json.loads(line) for line in text.splitlines()]
    times = [line.pop("time") for line in lines]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time) for time in times), times
    return lines
