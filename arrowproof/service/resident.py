"""The resident: a worker that stays, until it is told to end.

It works on while jobs are due. Then it waits: for its poll interval, or until the next job is due by the database's
clock, or until it is woken, whichever is first. A database that is busy or has vanished does not end it: it says so,
waits, longer each time up to half a minute, and opens the database anew. A job of which the database takes no record
does not end it either, nor keep those behind it waiting.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from arrowproof.service.address import MovedError
from arrowproof.service.attempt import Attempt, UnrecordedError, WriteLockBusyError
from arrowproof.service.clock import stored_moment, timestamp
from arrowproof.service.database import BusyError, DatabaseError
from arrowproof.service.ending import Ending
from arrowproof.service.passed_over import PAUSES, PassedOver
from arrowproof.service.refusal import RefusedError
from arrowproof.service.retention import MOST_AT_ONCE
from arrowproof.service.wake import Waker
from arrowproof.service.workplace import Tell, Workplace

SHORTEST_WAIT: Final = 0.01
REMOVAL_SECONDS: Final = 1.0
DRAIN_SECONDS: Final = 1.0
"""While there is work nobody has to be woken; but what is never taken away fills a FIFO, and PostgreSQL's queue."""
_CLOCK_STEP: Final = 0.001


class Resident:
    """See the module.

    Args:
        open_workplace: Opens the database; called again after each error.
        ending: Says when to end, and cuts a wait short.
        poll_interval: Seconds between two looks when nothing is due and nobody wakes it.
        tell: Is given each attempt, and all else that happens.
    """

    def __init__(
        self, open_workplace: Callable[[], Workplace], ending: Ending, poll_interval: float, tell: Tell
    ) -> None:
        self._open_workplace = open_workplace
        self._ending = ending
        self._poll_interval = max(poll_interval, SHORTEST_WAIT)
        self._tell = tell
        self._looked_until = datetime.min.replace(tzinfo=UTC)
        self._removes_at = 0.0
        self._drains_at = 0.0
        self._is_idle = True
        self._passed_over = PassedOver()
        self._last: Attempt | None = None

    def stay(self) -> Attempt | None:
        """Work until the ending is asked for.

        Returns:
            The last attempt that was made, or None when there was none.

        Raises:
            RefusedError: the database must not be used, at the start.
            DatabaseError: the database failed, at the start.
        """
        place: Workplace | None = self._open_workplace()
        # In a row, but for those of a single job: it waits longer each time by itself, and were the wait here as long,
        # its turn would come again before that of those behind it.
        failures = 0
        try:
            while not self._ending.is_asked:
                try:
                    place = place or self._reopen()
                    self._look(place)
                    failures = 0
                    continue
                except (BusyError, WriteLockBusyError) as error:
                    self._tell({"busy": str(error)})
                    if isinstance(error, WriteLockBusyError) and error.job_id is not None:
                        self._passed_over.add(error.job_id)
                        failures = 0
                except (DatabaseError, _NotOpenedError) as error:
                    self._tell({"error": str(error)})
                    if isinstance(error, UnrecordedError):
                        self._passed_over.add(error.job_id)
                        failures = 0
                    if place is not None:
                        place.close()
                    place = None
                failures += 1
                self._ending.wait(PAUSES.after(failures))
        finally:
            if place is not None:
                place.close()
        return self._last

    def _reopen(self) -> Workplace:
        try:
            place = self._open_workplace()
        except RefusedError as error:
            raise _NotOpenedError(str(error)) from error
        self._tell({"reopened": str(place.address)})
        return place

    def _look(self, place: Workplace) -> None:
        """Look once, and wait when nothing was due."""
        if not place.is_there():
            raise MovedError("the database file was removed, or replaced by another")
        self._drain(place.waker)
        has_more = self._remove_finished(place)
        made = place.attempts.make(self._passed_over.now())
        for attempt in made:
            self._tell(vars(attempt))
            self._passed_over.forget(attempt.job_id)
            self._last = attempt
        self._is_idle = not made and not has_more
        if self._is_idle:
            seconds = min(self._poll_interval, self._seconds_until_due(place), self._passed_over.seconds())
            self._ending.wait(seconds, place.waker)

    def _drain(self, waker: Waker | None) -> None:
        """Take the wake-ups away when the worker has waited, and now and then while it works.

        What is left there ends the next wait at once, so that at least one look comes after each.
        """
        if waker is None or not (self._is_idle or time.monotonic() >= self._drains_at):
            return
        waker.drain()
        self._drains_at = time.monotonic() + DRAIN_SECONDS

    def _remove_finished(self, place: Workplace) -> bool:
        """Remove some finished jobs, but not before each of many attempts; whether there may be more of them."""
        if time.monotonic() < self._removes_at:
            return False
        has_more = place.remove_finished(self._tell) == MOST_AT_ONCE
        self._removes_at = 0.0 if has_more else time.monotonic() + REMOVAL_SECONDS
        return has_more

    def _seconds_until_due(self, place: Workplace) -> float:
        """How long nothing becomes due.

        A job that was due before and that the look did not get is in the hands of another worker: it is not waited for
        again and again without a pause. One that became due since the last call may have been missed, and counts.
        """
        now = place.attempts.clock(place.database)
        ((due,),) = place.database.rows("next_due", after=timestamp(self._looked_until))
        self._looked_until = now
        moment = stored_moment(due)
        if moment is None:
            return math.inf
        # A millisecond more, for what is below one is cut off in the database.
        return max(0.0, (moment - now).total_seconds()) + _CLOCK_STEP


class _NotOpenedError(Exception):
    """The database cannot be opened, or not yet."""
