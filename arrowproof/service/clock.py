"""The clock: where the service gets its time from, and how a moment is written down.

The database's own clock judges what is due, so that workers on several machines agree. A moment is written as RFC
3339 text in UTC with milliseconds, ``2026-11-29T15:09:02.118Z``. All moments have the same width, so that comparing the
texts compares the moments; PostgreSQL holds them as ``timestamptz``, and is given and asked for the text.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from arrowproof.service.database import Database

Clock = Callable[[Database], datetime]
"""Gives the present moment, with its time zone, to who works on this database."""


def database_clock(database: Database) -> datetime:
    """The database's own time."""
    ((now,),) = database.rows("read_clock")
    return datetime.fromisoformat(str(now))


def asked_moment(clock: Clock, database: Database) -> str | None:
    """The present moment for a query that takes the database's own time where it is given none, and so is given none.

    That is one way to the database less. Another clock is asked.
    """
    return None if clock is database_clock else timestamp(clock(database))


def stored_moment(stored: object) -> datetime | None:
    """A moment that a job holds, which somebody may have put in by hand: without a time zone it is in UTC.

    None for null, and for what RFC 3339 cannot tell, such as infinity.
    """
    try:
        moment = datetime.fromisoformat(str(stored))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def timestamp(moment: datetime) -> str:
    """A moment as the database holds it; what is below a millisecond is cut off."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def timestamp_after(moment: datetime, seconds: float) -> str:
    """The moment that lies ``seconds`` after another."""
    return timestamp(moment + timedelta(seconds=seconds))
