"""The worker: a bounded run of looks for due jobs.

Usage: ``python -m arrowproof.service.worker --db DATABASE --max-polls 5 --poll-interval 1 --retry-delay 1``

The run ends at the first job that is completed or has failed for good, or after ``--max-polls`` looks. On stderr, as
JSON lines, it tells what it works on (``started``, its process id, with the facts of the database), a ``warning`` when
the database's settings can lose a commit, and each attempt. The last printed line, on stdout, is one JSON object:
``outcome`` (``completed``, ``failed`` or ``retry_wait``: what the last attempt of this run came to; ``idle`` when it
made none) and ``job_id`` (null when idle). Idle does not mean that no job is waiting: it may not be due yet.

With ``--keep-finished SECONDS`` finished jobs that are older are removed, at most 100 before each look; see
:mod:`arrowproof.service.retention`. Without it nothing is ever removed.

Exit status: 0 the run ended, whatever its outcome; 1 the database failed; 2 refused: usage, database or hold point;
130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

from arrowproof.service.address import Address
from arrowproof.service.attempt import MOST_CRASHES, Attempt, AttemptLostError, Workbench, WriteLockBusyError
from arrowproof.service.backoff import LONGEST_SECONDS, Backoff
from arrowproof.service.clock import database_clock
from arrowproof.service.database import BusyError, DatabaseError, describe
from arrowproof.service.durability import durability_warnings
from arrowproof.service.hold import WORKER_POINTS, hold_from_environment
from arrowproof.service.options import add_database_options, seconds, whole_number
from arrowproof.service.refusal import BAD_USAGE, DATABASE_FAILED, RefusedError
from arrowproof.service.retention import Retention, kept_seconds

INTERRUPTED = 130


@dataclass(frozen=True)
class Bounds:
    """How long a run may be: looks in all, and the seconds between two of them."""

    max_polls: int
    poll_interval: float


Tell = Callable[[Mapping[str, object]], None]


def run(workbench: Workbench, bounds: Bounds, tell: Tell, retention: Retention | None = None) -> Attempt | None:
    """Look for due jobs until one is finished or the looks are used up; a look at a busy database counts.

    Args:
        workbench: Makes the attempts.
        bounds: The run's length.
        tell: Is given each attempt once it is committed, each look that found the database busy, and what was removed.
        retention: Removes finished jobs before each look.

    Returns:
        The last attempt of this run, or None when it made none.
    """
    last: Attempt | None = None
    for poll in range(bounds.max_polls):
        if poll:
            time.sleep(bounds.poll_interval)
        remove_finished(retention, tell)
        try:
            attempts = workbench.work()
        except WriteLockBusyError as error:
            tell({"busy": str(error)})
            continue
        for attempt in attempts:
            tell(asdict(attempt))
            last = attempt
        if any(attempt.outcome != "retry_wait" for attempt in attempts):
            break
    return last


def remove_finished(retention: Retention | None, tell: Tell) -> None:
    """Remove some finished jobs, if there is a retention; a busy database is told, and keeps nobody from work."""
    if retention is None:
        return
    try:
        removed = retention.remove_some()
    except BusyError as error:
        tell({"busy": str(error)})
        return
    if removed:
        tell({"removed": removed})


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; gives the exit status."""
    options = _parser().parse_args(arguments)
    try:
        last = _work(options)
    except RefusedError as error:
        return _complain(str(error), BAD_USAGE)
    except (DatabaseError, AttemptLostError) as error:
        return _complain(f"the database failed: {describe(error)}", DATABASE_FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    outcome, job_id = (last.outcome, last.job_id) if last else ("idle", None)
    sys.stdout.write(json.dumps({"outcome": outcome, "job_id": job_id}) + "\n")
    return 0


def _work(options: argparse.Namespace) -> Attempt | None:
    hold = hold_from_environment(os.environ, WORKER_POINTS)
    address = Address(options.db, options.busy_timeout)
    with closing(address.open()) as database, closing(address.open_begun()) as begun:
        _tell({"started": os.getpid(), **database.facts})
        for warning in durability_warnings(database.facts):
            _tell({"warning": warning})
        longest = options.max_retry_delay
        backoff = Backoff(
            options.retry_delay, max(options.retry_delay, LONGEST_SECONDS) if longest is None else longest
        )
        workbench = Workbench(database, begun, database_clock, hold, backoff, options.batch, options.max_crashes)
        retention = None
        if options.keep_finished is not None:
            retention = Retention(database, database_clock, options.keep_finished)
        return run(workbench, Bounds(options.max_polls, options.poll_interval), _tell, retention)


def _tell(line: Mapping[str, object]) -> None:
    print(json.dumps(line), file=sys.stderr, flush=True)  # noqa: T201 - a command's own output


def _complain(message: str, status: int) -> int:
    sys.stderr.write(f"worker: {message}\n")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="arrowproof.service.worker", description="Write the history of due notes.")
    add_database_options(parser, "that the server made")
    parser.add_argument("--max-polls", type=whole_number(1), default=5, metavar="N", help="looks in all (5)")
    parser.add_argument("--poll-interval", type=seconds, default=1.0, metavar="S", help="seconds between looks (1)")
    parser.add_argument(
        "--retry-delay", type=seconds, default=1.0, metavar="S", help="seconds to the second attempt; then doubled (1)"
    )
    parser.add_argument(
        "--max-retry-delay",
        type=seconds,
        metavar="S",
        help="seconds to the next attempt at most (3600, or the first delay if that is longer)",
    )
    parser.add_argument(
        "--batch", type=whole_number(1, 1000), default=1, metavar="N", help="jobs in one transaction (1)"
    )
    parser.add_argument(
        "--max-crashes",
        type=whole_number(1),
        default=MOST_CRASHES,
        metavar="N",
        help="a job whose attempts kill their worker so often in a row is set aside as failed (3)",
    )
    parser.add_argument(
        "--keep-finished",
        type=kept_seconds,
        metavar="S",
        help="seconds after which a finished job is removed with its note and its key (never)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
