"""The clock: where the service gets its time from, and how a moment is written down.

A moment is stored as RFC 3339 text in UTC with milliseconds, ``2026-11-29T15:09:02.118Z``. All moments have the same
width, so that comparing the texts compares the moments.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
"""Gives the present moment, with its time zone."""


def system_clock() -> datetime:
    """The machine's own time, in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """A moment as the database holds it; what is below a millisecond is cut off."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def timestamp_after(clock: Clock, seconds: float) -> str:
    """The moment that lies ``seconds`` ahead of the clock."""
    return timestamp(clock() + timedelta(seconds=seconds))
