"""Deeds: what is done to a note job, and by which of them a transition of its lifecycle is made."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import takewhile

from arrowproof.conformance.driver import DriverError
from arrowproof.model.evidence import Row
from arrowproof.model.transitions import Transition

_SET_ASIDE = "set_aside"


class Deed(StrEnum):
    """What is done to a job; the value of what a client asks for by hand is the last part of its path."""

    CREATE = "create"
    ATTEMPT = "attempt"
    SET_ASIDE = "set aside"
    RETRY = "retry"
    CANCEL = "cancel"
    REMOVE = "remove"


def id_of(key: Row) -> int:
    """The id of the job with this key.

    Raises:
        DriverError: it is no integer.
    """
    ((_, value),) = key
    if not isinstance(value, int):
        raise DriverError(f"A job's id is an integer, not {value!r}.")
    return value


def deed_of(transition: Transition) -> Deed:
    """By which deed a transition is made; by an attempt where it could be by crashes as well."""
    match transition.source, transition.target:
        case None, _:
            return Deed.CREATE
        case _, None:
            return Deed.REMOVE
        case _, "cancelled":
            return Deed.CANCEL
        case "failed", _:
            return Deed.RETRY
    return Deed.SET_ASIDE if all(_SET_ASIDE in path for path in transition.paths) else Deed.ATTEMPT


def attempts_needed(ahead: Sequence[Transition], usual: int) -> int:
    """As many attempts as end with the first that has to be the last one, ahead of the next retry by hand.

    ``usual`` is how many a job has where none has to be the last, or more if it takes more.
    """
    attempts = [
        step.target
        for step in takewhile(lambda step: deed_of(step) is not Deed.RETRY, ahead)
        if deed_of(step) is Deed.ATTEMPT
    ]
    return attempts.index("failed") + 1 if "failed" in attempts else max(usual, len(attempts) + 1)


def path_of(transition: Transition, deed: Deed) -> tuple[str, ...] | None:
    """The arrow path that the deed took."""
    taken = [path for path in transition.paths if (_SET_ASIDE in path) is (deed is Deed.SET_ASIDE)]
    return taken[0] if taken else None
