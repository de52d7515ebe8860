"""The hold: stops a process at one named point until it is released, so that a test can kill it exactly there.

``NOTES_HOLD=POINT:DIR`` in the environment asks for it. At POINT the process writes ``DIR/POINT.held`` (JSON: ``pid``
and ``point``), whole or not at all, and waits until ``DIR/POINT.release`` exists. As long as that is there already, it
passes the point as if nothing were asked. It holds the first time that it comes to the point and finds no release.
To have it hold there again, remove its ``.held`` and its ``.release``. While it waits, it ends when its parent process
dies; a server that is told to end gives the held request up.

The points are boundaries between statements. The server has five, in this order:

=================  ==================================================================
after-begin        the transaction has begun, nothing is read
after-select       the idempotency key was looked up
after-note         the note is inserted
after-job          the job is inserted or changed; the commit comes next
after-commit       the commit is done, the client has no answer yet
=================  ==================================================================

A note passes them all; a retry or a cancel of a job passes all but after-note.

The worker has nine. An attempt that succeeds passes all but after-rollback-to, one that fails all but after-history:

=================  ==================================================================
after-begin        the transaction has begun, nothing is read
after-select       a due job was looked for
after-count        attempts + 1 is written
after-savepoint    the savepoint stands
after-history      the history row is inserted
after-rollback-to  the attempt is rolled back to the savepoint
after-release      the savepoint is released
after-state        the new state is written; the commit comes next
after-commit       the commit is done, nothing is printed yet
=================  ==================================================================

A job that is not there (idle), and a key that was seen before (replay), come from after-select straight to the end
of their transaction; a replay passes after-commit then. When the database has ended the transaction of an attempt on
its own, the attempt is recorded in a new one, which passes after-begin, after-count, after-state and after-commit.

At the point everything before it is done, also on PostgreSQL, where statements otherwise go several at a time; and the
server, which ends a transaction in which nothing is said for a minute, leaves that of a held process alone.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arrowproof.service.database import Database
from arrowproof.service.refusal import RefusedError

VARIABLE = "NOTES_HOLD"
SERVER_POINTS = ("after-begin", "after-select", "after-note", "after-job", "after-commit")
WORKER_POINTS = (
    "after-begin",
    "after-select",
    "after-count",
    "after-savepoint",
    "after-history",
    "after-rollback-to",
    "after-release",
    "after-state",
    "after-commit",
)
_LOOK_SECONDS = 0.002


class HoldAbandonedError(RefusedError):
    """The process was told to end while it was held."""


@dataclass
class Hold:
    """Where to hold; without ``point`` nowhere. ``parent`` is the process whose death ends the wait."""

    point: str | None = None
    folder: Path = field(default_factory=Path)
    parent: int = field(default_factory=os.getppid)
    _is_abandoned: bool = field(default=False, init=False)
    _was_held: bool = field(default=False, init=False)
    _waiting: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def reached(self, point: str, database: Database) -> None:
        """Between two statements: wait here if this is the point, when all that was said to the database is done.

        Raises: as ``at``, and
            DatabaseError: a statement before the point has failed, or the connection is lost.
        """
        # Passed many times for each job, and nearly always for nothing.
        if point == self.point:
            database.stand_still()
            self.at(point)

    def is_at(self, point: str) -> bool:
        """Whether the process will be held when it comes to this point."""
        return point == self.point

    def at(self, point: str) -> None:
        """Wait here if this is the point, there is no release, and this process has no ``.held`` file there already.

        Raises:
            HoldAbandonedError: another thread abandoned the hold.
            RefusedError: the signal cannot be written.
        """
        if not self.is_at(point):
            return
        release = self.folder / f"{point}.release"
        is_passed = release.exists() or (self._was_held and self._held(point).exists())
        if is_passed or not self._waiting.acquire(blocking=False):
            return
        try:
            self._was_held = True
            self._signal(point)
            self._wait(point, release)
        finally:
            self._waiting.release()

    def _wait(self, point: str, release: Path) -> None:
        while not release.exists():
            if os.getppid() != self.parent:
                # At once and without clean-up: nothing may be committed or answered any more.
                os._exit(1)
            if self._is_abandoned:
                raise HoldAbandonedError(f"the process was told to end while it was held {point}")
            time.sleep(_LOOK_SECONDS)

    def abandon(self) -> None:
        """End the wait of another thread with an error, now or later."""
        self._is_abandoned = True

    def _held(self, point: str) -> Path:
        """The signal that a process is held."""
        return self.folder / f"{point}.held"

    def _signal(self, point: str) -> None:
        content = json.dumps({"pid": os.getpid(), "point": point}) + "\n"
        unfinished = self.folder / f".{point}.{os.getpid()}"
        try:
            unfinished.write_text(content, encoding="utf-8")
            unfinished.replace(self._held(point))
        except OSError as error:
            raise RefusedError(
                f"{VARIABLE}: cannot signal {point} in {str(self.folder)!r}: {error.strerror}"
            ) from error


def hold_from_environment(environment: Mapping[str, str], known: Collection[str]) -> Hold:
    """The hold that ``NOTES_HOLD`` asks for, or one that never holds when the variable is not set or empty.

    Args:
        environment: The process's environment variables.
        known: The points of this process.

    Raises:
        RefusedError: the point is not one of ``known``, or the folder is not there.
    """
    asked = environment.get(VARIABLE, "")
    if not asked:
        return Hold()
    point, _, folder = asked.partition(":")
    if point not in known:
        raise RefusedError(f"{VARIABLE}: {point!r} is no hold point of this process; known are {', '.join(known)}")
    if not folder or not Path(folder).is_dir():
        raise RefusedError(
            f"{VARIABLE}: {folder!r} is no folder; write {VARIABLE}={point}:DIR with a folder that exists"
        )
    return Hold(point, Path(folder))
