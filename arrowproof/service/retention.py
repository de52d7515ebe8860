"""The retention: how long a finished job is kept, and its removal.

Usage: ``python -m arrowproof.service.retention --db DATABASE --keep-finished SECONDS``

A job that was completed, failed for good or was cancelled is removed once it has been so for ``--keep-finished``
seconds by the database's clock, and with it its note, its history and its errors. The idempotency key goes with the
note: sent once more, it makes a new note. A job that is waiting is never removed, nor is its key. How many jobs were
removed in each state is kept for the count of outcomes. In a SQLite file the freed room is used again; it does not
shrink.

The command removes all that there is to remove and prints one JSON object, ``removed``: how many jobs. A worker with
``--keep-finished`` does the same as it goes along. ``NOTES_HOLD`` (:mod:`arrowproof.service.hold`) stops the command
at ``after-begin``, ``after-select`` (finished jobs were looked for), ``after-state`` (they are removed; the commit
comes next) or ``after-commit``.

Exit status: 0 done; 1 the database failed; 2 refused: usage, database or hold point; 130 interrupted;
143 ended by SIGTERM. What was removed
before a failure stays removed.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before the other imports, which take their time.
    from arrowproof.service.beginning import begin

    begin()

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, cast

from arrowproof.service.address import Address
from arrowproof.service.clock import Clock, database_clock, timestamp
from arrowproof.service.command import exit_status
from arrowproof.service.database import Database, DatabaseError
from arrowproof.service.hold import Hold, hold_from_environment
from arrowproof.service.options import add_database_options, command_parser, seconds_up_to
from arrowproof.service.streams import say

MOST_AT_ONCE: Final = 100
kept_seconds: Final = seconds_up_to(3_153_600_000.0)
"""Reads how long a finished job is kept: a hundred years at most."""
HOLD_POINTS: Final = ("after-begin", "after-select", "after-state", "after-commit")
"""Those of a worker's points that the command comes to."""


class RemovalLostError(DatabaseError):
    """A job that was claimed as finished, under a lock, was not removed."""


@dataclass(frozen=True)
class Retention:
    """Removes jobs that have been finished for ``keep_seconds``, at most ``most_at_once`` in one transaction."""

    database: Database
    clock: Clock
    keep_seconds: float
    most_at_once: int = MOST_AT_ONCE
    hold: Hold = field(default_factory=Hold)

    def remove_some(self) -> int:
        """Remove the jobs that have been finished longest, in one transaction. Passes over what another process has.

        Returns:
            How many; fewer than ``most_at_once`` when nothing is left to be removed.

        Raises:
            DatabaseError: nothing was removed.
        """
        try:
            self.database.begin()
            self.hold.reached("after-begin", self.database)
            before = timestamp(self.clock(self.database) - timedelta(seconds=self.keep_seconds))
            found = self.database.rows("claim_removable_jobs", finished_before=before, most=self.most_at_once)
            self.hold.reached("after-select", self.database)
            if not found:
                return 0
            jobs = cast(list[tuple[int, int, str]], found)
            for job_id, note_id, _ in jobs:
                self._remove(job_id, note_id, before)
            # In one order for all, so that two processes cannot wait for each other.
            for state, count in sorted(Counter(state for _, _, state in jobs).items()):
                self.database.change("count_past_outcome", status=state, jobs=count)
            self.hold.reached("after-state", self.database)
            self.database.commit()
            self.hold.reached("after-commit", self.database)
            return len(jobs)
        finally:
            self.database.roll_back()

    def remove_all(self) -> int:
        """Remove all that there is to remove, in as many transactions as it takes; gives how many jobs."""
        total = 0
        while True:
            removed = self.remove_some()
            total += removed
            if removed < self.most_at_once:
                return total

    def _remove(self, job_id: int, note_id: int, before: str) -> None:
        self.database.change("remove_errors", job_id=job_id)
        self.database.change("remove_history", job_id=job_id)
        if self.database.change("remove_job", job_id=job_id, finished_before=before) != 1:
            raise RemovalLostError(f"job {job_id} was not removed, although it was claimed as finished")
        self.database.change("remove_note", note_id=note_id)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; gives the exit status."""
    parser = command_parser(
        "retention", "Remove what finished long ago.", "--db ./notes.sqlite3 --keep-finished 2592000"
    )
    add_database_options(parser, "that the server made")
    parser.add_argument(
        "--keep-finished", type=kept_seconds, required=True, metavar="S", help="seconds to keep a finished job for"
    )
    options = parser.parse_args(arguments)
    return exit_status("retention", lambda: _remove(options))


def _remove(options: argparse.Namespace) -> None:
    hold = hold_from_environment(os.environ, HOLD_POINTS)
    with closing(Address(options.db, options.busy_timeout).open()) as database:
        removed = Retention(database, database_clock, options.keep_finished, hold=hold).remove_all()
    say(json.dumps({"removed": removed}))


if __name__ == "__main__":
    sys.exit(main())
