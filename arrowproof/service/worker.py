"""The worker: looks for due jobs, in a bounded run or for as long as it is let.

Usage: ``python -m arrowproof.service.worker --db DATABASE --max-polls 5 --poll-interval 1 --retry-delay 1``, or with
``--forever`` in place of ``--max-polls``.

A bounded run ends at the first job that is completed or has failed for good, or after ``--max-polls`` looks; with
``--forever`` it goes on until SIGTERM; see :mod:`arrowproof.service.resident`. On stderr, as JSON lines with their
``time``, it tells what it works on (``started``, its process id, with the facts of the database), a ``warning`` when
the database's settings can lose a commit, and each attempt. What a resident worker has to tell again and again it tells
less and less often, with how many ``times`` it came, the last of them at its end. The last printed line, on stdout, is
one JSON object: ``outcome`` (``completed``, ``failed`` or ``retry_wait``: what the last attempt of this run came to;
``idle`` when it made none) and ``job_id`` (null when idle). Idle does not mean that no job is waiting: one may not be
due yet.

With ``--keep-finished SECONDS`` finished jobs that are older are removed, at most 100 before each look; see
:mod:`arrowproof.service.retention`. Without it nothing is ever removed.

Exit status: 0 the run ended, whatever its outcome, also when a resident worker was told to end and had drained; 1 the
database failed; 2 refused: usage, database or hold point; 130 interrupted; 143 ended at once by SIGTERM
(:mod:`arrowproof.service.ending`).
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before the other imports, which take their time.
    from arrowproof.service.beginning import begin

    begin()

import argparse
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from arrowproof.service.address import Address
from arrowproof.service.attempt import MOST_CRASHES, Attempt, WriteLockBusyError
from arrowproof.service.backoff import LONGEST_SECONDS, Backoff
from arrowproof.service.command import exit_status
from arrowproof.service.ending import Ending
from arrowproof.service.hold import WORKER_POINTS, hold_from_environment
from arrowproof.service.log_line import write_log_line
from arrowproof.service.options import add_database_options, command_parser, seconds, whole_number
from arrowproof.service.refusal import RefusedError
from arrowproof.service.repetition import Sparing
from arrowproof.service.resident import Resident
from arrowproof.service.retention import kept_seconds
from arrowproof.service.streams import say
from arrowproof.service.workplace import Tell, WorkerSettings, Workplace, open_workplace

USUAL_POLLS = 5


@dataclass(frozen=True)
class Bounds:
    """How long a run may be: looks in all, and the seconds between two of them."""

    max_polls: int
    poll_interval: float


def run(workplace: Workplace, bounds: Bounds, tell: Tell) -> Attempt | None:
    """Look for due jobs until one is finished or the looks are used up; a look at a busy database counts.

    Args:
        workplace: What is worked on. Before each look finished jobs are removed there, when that is asked for.
        bounds: The run's length.
        tell: Is given each attempt once it is committed, each look that found the database busy, and what was removed.

    Returns:
        The last attempt of this run, or None when it made none.
    """
    last: Attempt | None = None
    for poll in range(bounds.max_polls):
        if poll:
            time.sleep(bounds.poll_interval)
        workplace.remove_finished(tell)
        try:
            attempts = workplace.attempts.make()
        except WriteLockBusyError as error:
            tell({"busy": str(error)})
            continue
        for attempt in attempts:
            tell(vars(attempt))
            last = attempt
        if any(attempt.outcome != "retry_wait" for attempt in attempts):
            break
    return last


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; gives the exit status."""
    options = _parser().parse_args(arguments)
    if not options.forever:
        # It has not the time to say much.
        return _told(options, write_log_line)
    with closing(Sparing(write_log_line)) as tell:
        return _told(options, tell)


def _told(options: argparse.Namespace, tell: Tell) -> int:
    logging.basicConfig(handlers=[_Telling(tell)])
    return exit_status("worker", lambda: _run(options, tell))


def _run(options: argparse.Namespace, tell: Tell) -> None:
    with Ending(drains=options.forever) as ending:
        last = _work(options, ending, tell)
    outcome, job_id = (last.outcome, last.job_id) if last else ("idle", None)
    say(json.dumps({"outcome": outcome, "job_id": job_id}))


def _work(options: argparse.Namespace, ending: Ending, tell: Tell) -> Attempt | None:
    open_anew = partial(open_workplace, Address(options.db, options.busy_timeout), _settings(options), tell)
    if options.forever:
        return Resident(open_anew, ending, options.poll_interval, tell).stay()
    with closing(open_anew()) as workplace:
        return run(workplace, Bounds(options.max_polls or USUAL_POLLS, options.poll_interval), tell)


def _settings(options: argparse.Namespace) -> WorkerSettings:
    hold = hold_from_environment(os.environ, WORKER_POINTS)
    longest = options.max_retry_delay
    if longest is not None and longest < options.retry_delay:
        raise RefusedError(
            f"--max-retry-delay {longest:g} is less than --retry-delay {options.retry_delay:g}: raise the one or lower "
            "the other"
        )
    backoff = Backoff(options.retry_delay, max(options.retry_delay, LONGEST_SECONDS) if longest is None else longest)
    kept, wakes = options.keep_finished, options.forever
    return WorkerSettings(hold, backoff, options.batch, options.max_crashes, kept, wakes=wakes)


class _Telling(logging.Handler):
    """Tells what the parts of the service and the drivers warn of, as JSON lines like all else."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell({record.levelname.lower(): record.getMessage()})


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "worker",
        "Write the history of due notes.",
        "--db ./notes.sqlite3 --forever",
        "--db ./notes.sqlite3 --max-polls 1",
        "--db postgresql://notes@db.example/notes --forever --keep-finished 2592000",
    )
    add_database_options(parser, "that the server made")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--max-polls", type=whole_number(1), metavar="N", help=f"looks in all ({USUAL_POLLS})")
    length.add_argument("--forever", action="store_true", help="work until SIGTERM, which lets an attempt end first")
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
