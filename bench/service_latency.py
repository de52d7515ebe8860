"""How long a note waits: from the return of its commit until a resident worker tells that its job is completed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count

from service_jobs import resident_worker
from service_places import Places, made

from arrowproof.service.address import Address
from arrowproof.service.clock import database_clock
from arrowproof.service.database import Database, Value
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note

_REST_SECONDS = 0.01
"""Between two notes, so that the worker is back in its wait: it polls every ten minutes, and is woken or late."""


class _TimedDatabase:
    """A database that remembers when its last commit had returned, and the bell was rung."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.committed_at = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)

    def commit(self) -> None:
        self._database.commit()
        self.committed_at = time.perf_counter()

    def row(self, query: str, **parameters: Value) -> tuple[Value, ...] | None:
        return self._database.row(query, **parameters)


@contextmanager
def waits(places: Places) -> Iterator[Callable[[int], list[float]]]:
    """What has so many notes come one by one, and gives the wait of each in milliseconds."""
    db = made(places)
    address = Address(db)
    numbers = count(1)
    with resident_worker(db) as next_line, closing(address.open(rings=True)) as database:
        while "started" not in next_line():
            pass
        timed = _TimedDatabase(database)

        def wait() -> float:
            time.sleep(_REST_SECONDS)
            sent = SentUnderKey(f"key-{next(numbers)}", "a note")
            accepted = accept_note(timed, sent, 3, database_clock, Hold())  # type: ignore[arg-type]
            line = next_line()
            milliseconds = (time.perf_counter() - timed.committed_at) * 1000
            assert (line["job_id"], line["outcome"]) == (accepted.job_id, "completed"), line
            return milliseconds

        yield lambda notes: [wait() for _ in range(notes)]
