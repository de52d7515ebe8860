"""Lost connections of the notes service: whose connection is taken, and what a worker makes of that by itself.

An attempt of which the transaction is lost has failed, and the worker counts it as that in a new one, if it finds the
job as it was. So a job that was to be completed waits for its next attempt, and is completed by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arrowproof.model.transitions import Transition

if TYPE_CHECKING:
    from arrowproof.conformance.notes_api import Job

LOST = "connection"
"""What the error of an attempt has in it that lost its connection."""

_CUT = (
    (None, "pending"),
    ("pending", "completed"),
    ("pending", "retry_wait"),
    ("pending", "failed"),
    ("pending", "cancelled"),
    ("cancelled", None),
)


def is_cut(transition: Transition) -> bool:
    """Whether the connection is taken from this transition: from one for each way that the code of a commit is left.

    An attempt from retry_wait is that from pending, a retry by hand is committed as a cancel is, and one removal is as
    every other.
    """
    return transition.pair in _CUT


def is_counted(before: Job, found: Job) -> bool:
    """Whether a worker has lost its connection since ``before`` and counted its attempt as one that failed."""
    return found.attempts > before.attempts and LOST in (found.last_error or "")
