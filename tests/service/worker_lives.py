"""What tests of attempts need beside a database: a clock that is set by hand, a worker that is killed on the spot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

from arrowproof.service.attempt import Attempts
from arrowproof.service.backoff import Backoff
from arrowproof.service.begun import BegunAttempts
from arrowproof.service.database import Database
from arrowproof.service.hold import Hold
from tests.service.engines import Engine, open_begun, open_engine

TEN_SECONDS = Backoff(10.0, 10.0, lambda: 0.0)


class HandSetClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 29, 15, 9, 2, 118000, tzinfo=UTC)

    def __call__(self, _: Database) -> datetime:
        return self.moment

    def move(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


class Killed(BaseException):
    """The worker is no more: nothing of it may act on this, as nothing acts on a SIGKILL."""


class WatchedBegun:
    """The record, which also remembers the job whose attempt began last."""

    def __init__(self, begun: BegunAttempts) -> None:
        self._begun = begun
        self.job_id: int | None = None

    def begin(self, job_id: int, attempts: int) -> int:
        self.job_id = job_id
        return self._begun.begin(job_id, attempts)

    def end(self, job_id: int, attempts: int) -> None:
        self._begun.end(job_id, attempts)

    def clear(self, job_id: int, attempts: int) -> bool:
        return self._begun.clear(job_id, attempts)

    def catch_up(self) -> None:
        self._begun.catch_up()


class DoAt(Hold):
    """Does something at a point of the attempt at one job, or at any; what it does may raise."""

    def __init__(self, point: str, do: Callable[[], None], begun: WatchedBegun | None = None, job_id: int = 0) -> None:
        super().__init__()
        self._where = point
        self._do = do
        self._begun = begun
        self._job_id = job_id

    def reached(self, point: str, database: Database) -> None:
        if point == self._where and (self._begun is None or self._begun.job_id == self._job_id):
            database.stand_still()
            self._do()


def kill() -> None:
    """End the worker that comes to this."""
    raise Killed


@contextmanager
def worker_life(
    engine: Engine, clock: HandSetClock, *, point: str = "", victim: int = 0, batch: int = 1
) -> Iterator[Attempts]:
    """A worker with connections of its own, killed when it comes to a point of the attempt at the victim."""
    with closing(open_engine(engine)) as database, closing(open_begun(engine)) as begun:
        watched = WatchedBegun(begun)
        yield Attempts(database, watched, clock, DoAt(point, kill, watched, victim), TEN_SECONDS, batch)
    if point and engine.name == "postgresql":
        # The server notices a little later that the worker is gone; until then its job is locked.
        engine.sql("SELECT id FROM jobs FOR UPDATE")
