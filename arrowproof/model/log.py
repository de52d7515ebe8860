"""The log: what real rows of a table did, counted by transition and by state, as a page shows it beside a proof."""

from __future__ import annotations

from arrowproof.model.record import record


@record
class LogTransition:
    """How often a log holds one transition."""

    source: str | None
    target: str | None
    count: int


@record
class LogState:
    """How long rows stay in one state: the median, in seconds."""

    state: str
    median_seconds: float


@record
class Log:
    """What a log of real rows holds: where it came from, its rows, and its first and last time (None when empty)."""

    name: str
    rows: int
    first: str | None
    last: str | None
    transitions: tuple[LogTransition, ...]
    states: tuple[LogState, ...]
