"""A problem at a place of a lifecycle: the bridge from records back to lines and columns."""

from __future__ import annotations

from arrowproof.errors import ERROR, Problem
from arrowproof.model.document import short_json
from arrowproof.model.lifecycle import Lifecycle


def finding(
    lifecycle: Lifecycle,
    rule: str,
    path: str,
    message: str,
    fix: str,
    *,
    value: object = None,
    severity: str = ERROR,
) -> Problem:
    """A problem of ``lifecycle`` at a JSON path; ``value`` (None: there is none to show) is shortened.

    A lifecycle that was not read from a file has no lines: its problems stand at 1:1.
    """
    line, column = lifecycle.origin.position(path)
    shown = None if value is None else short_json(value)
    return Problem(rule, path, line, column, message, fix, shown, severity)


def source_name(lifecycle: Lifecycle) -> str:
    """What messages call the lifecycle: its file, or its id when it has none."""
    return str(lifecycle.origin.path or lifecycle.id)
