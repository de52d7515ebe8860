"""The driver of the bundled notes service: real HTTP, real workers, one database.

Each deed has its own door. A note comes in by POST, and a retry and a cancel are asked for by POST. An attempt is one
look of a worker. It fails because a trigger on ``note_events`` refuses the history row; the driver adds and drops it.
On the way to a retry it refuses by FAIL, which leaves the row in the table: only a service that rolls back to a
savepoint is rid of it. On the way to failed it refuses by ROLLBACK, which ends the whole transaction: only a service
that then counts the attempt in a new one comes to an end. A job is set aside after three workers were killed in their
attempt at it, each at another point. A job is removed by a retention that keeps nothing.

What a tour leaves behind must not be picked up by a later one. A job that waits is put out of reach by a long
``--retry-delay``, or worked off; one that is finished by a late ``finished_at``; one that was set aside is retried
first, because only a service that has forgotten its crashes completes it then.

Beside the walks the driver holds the service to its word: what a worker prints, the job after each deed
(:mod:`arrowproof.conformance.notes_jobs`), the history (one row when the job is completed, none before, which names the
attempt), the note as it was sent, replays and conflicts of an Idempotency-Key, a refusal of what a client may not ask
for in this state, that a worker finds nothing to do where another has claimed the job, that nothing of a removed job is
left and its key is free, and that the database itself refuses a second note of one key, a second job of one note, a
second history row of one job and a second error of one attempt.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.conformance import notes_jobs
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.notes_database import Doubled, NotesDatabase
from arrowproof.conformance.notes_deeds import Deed, deed_of, path_of
from arrowproof.conformance.notes_rivals import KEEP_NOTHING, OUT_OF_REACH, NotesRivals
from arrowproof.conformance.notes_service import PACKAGE_FOLDER, USUAL_ATTEMPTS, NotesService
from arrowproof.conformance.rivals import HeldRival, Rival
from arrowproof.model.evidence import Moment, Process, Row, Side
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition

if TYPE_CHECKING:
    from arrowproof.conformance.notes_api import Job

SHORT_DELAY = 0.02
"""Seconds until the next attempt at a job that the tour goes on with; of one that it leaves it is out of reach."""

_LONGEST_WAIT = 20.0
_ACTIONS = {"retry_wait": "FAIL", "failed": "ROLLBACK"}
_CRASH_POINTS = ("after-count", "after-savepoint", "after-history")
"""Points of an attempt that a worker does not come to when it sets the job aside."""
_CLAIMED = "after-select"


@record
class _Posted:
    """A note that the service took: its number, which gives its key and text, and its id."""

    number: int
    note_id: int


class NotesDriver:
    """Walks the lifecycle of a note job. See :class:`arrowproof.conformance.driver.Driver`.

    ``package_folder`` is the folder that holds the package whose service runs: a test may give that of a changed copy.
    """

    def __init__(self, package_folder: Path = PACKAGE_FOLDER) -> None:
        self._package_folder = package_folder
        self._service = NotesService(Path(), package_folder)
        self._database = NotesDatabase(Path())
        self._max_attempts = USUAL_ATTEMPTS
        self._ahead: Sequence[Transition] = ()
        self._notes = 0
        self._posted: dict[int, _Posted] = {}
        self._removed: set[int] = set()
        self._before_kill: Job | None = None
        self._rivals = NotesRivals(self._service)
        self._tour: Sequence[Transition] = ()
        self._is_contested = False

    def start(self, folder: Path) -> Path:
        """Start a server on a new file."""
        return Path(self._start(folder))

    def start_on(self, url: str, folder: Path) -> None:
        """Start a server on an empty PostgreSQL database."""
        self._start(folder, url)

    def stop(self) -> None:
        """End every process."""
        self._service.stop()

    def begin(self, tour: Sequence[Transition]) -> None:
        """Keep the tour: a job is created, and retried, by a server whose jobs fail for good when the tour says so."""
        if self._notes:
            # Not for the first tour: where it is the only one, nobody needs another server.
            self._service.start_ahead()
        self._ahead = tuple(tour)
        self._tour, self._is_contested = tour, False

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Do what makes the transition, and hold the service to what has to be so after it."""
        self._ahead = self._ahead[1:]
        if key is None:
            return self._create()
        deed = deed_of(transition)
        before = self._job(key)
        match deed:
            case Deed.ATTEMPT:
                processes = self._attempt(transition, key, before)
            case Deed.SET_ASIDE:
                processes = self._set_aside(key, before)
            case Deed.REMOVE:
                processes = self._remove(key)
            case _:
                processes = self._ask(deed, key)
        self._check(transition, key, before)
        return Walked(key, processes, path_of(transition, deed))

    def end(self, key: Row | None) -> None:
        """Leave no job behind that a later worker or retention could take."""
        self._ahead = ()
        if key is None or (self._is_contested and not self._database.has_job(_id(key))):
            return
        job_id = _id(key)
        if job_id in self._removed:
            job_id = self._use_key_again(job_id)
        else:
            self._work_off(key)
        self._database.put_out_of_reach(job_id)

    def fire(self, event: str, key: Row) -> str:
        """Have done by its own door what an event stands for, where it must be refused or find nothing to do."""
        api, job_id = self._service.api(), _id(key)
        match event:
            case "POST /notes":
                api.post(self._posted[job_id].number, replayed=True)
                return "202, a replay"
            case "POST /jobs/{id}/retry" | "POST /jobs/{id}/cancel":
                api.ask_in_vain(event.rpartition("/")[2], job_id, 409)
                return "409"
            case "poll":
                self._run_worker(key, None)
                return "nothing to do"
            case "retention":
                self._run_retention(KEEP_NOTHING, removed=0)
                return "nothing removed"
            case _:
                raise LookupError(f"The service has no event {event!r}.")

    @property
    def moments(self) -> Sequence[Moment]:
        """Server, worker and retention can be held at each."""
        return tuple(Moment)

    def set_off(self, transition: Transition, key: Row) -> Rival:
        """Start a worker or a retention, or send a request, and do not wait for what comes of it."""
        self._contest(key)
        return self._rivals.set_off(deed_of(transition), _id(key))

    def set_off_held(self, transition: Transition, key: Row, moment: Moment) -> HeldRival:
        """The same, to be held at this moment."""
        self._contest(key)
        return self._rivals.set_off_held(deed_of(transition), _id(key), moment)

    def _contest(self, key: Row) -> None:
        """Ahead of the first that is set off: have an attempt come to what is wanted of the first that is one."""
        if not self._is_contested:
            attempts = (_ACTIONS.get(it.target or "") for it in self._tour[-2:] if deed_of(it) is Deed.ATTEMPT)
            self._make_ready(self._job(key), next(attempts, None))
            self._is_contested = True

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Hold the process that makes the transition at its point, and kill it there."""
        self._ahead = self._ahead[1:]
        if key is None:
            self._notes += 1
            number = self._notes
            return self._service.kill_server(side, None, lambda api: api.post(number, replayed=False))
        deed = deed_of(transition)
        before = self._before_kill = self._job(key)
        if deed in (Deed.RETRY, Deed.CANCEL):
            self._max_attempts = USUAL_ATTEMPTS
            return self._service.kill_server(side, key, lambda api: api.ask_for(deed, _id(key)))
        if deed is Deed.REMOVE:
            hold = self._service.hold("retention", side, "--keep-finished", KEEP_NOTHING)
        else:
            self._prepare(key, before, _ACTIONS.get(transition.target or ""))
            hold = self._service.hold("worker", side, *self._worker_options())
        return Killed(hold.point, (hold.kill(),), key)

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        """Start the same program again: the server is asked the same once more, the others look once for work."""
        if transition.source is None:
            return self._post_again(side)
        key, before, deed = killed.key, self._before_kill, deed_of(transition)
        if key is None or before is None:
            raise DriverError("A job was killed whose id nobody knows.")
        if deed in (Deed.RETRY, Deed.CANCEL):
            process = self._ask_again(deed, key, side)
        elif deed is Deed.REMOVE:
            process = self._run_retention(KEEP_NOTHING, removed=1 if side is Side.BEFORE else 0, restarts=True)
        else:
            process = self._run_worker(key, transition.target if side is Side.BEFORE else None, restarts=True)
        self._check(transition, key, before)
        return Walked(key, (process,))

    def _start(self, folder: Path, url: str | None = None) -> Path | str:
        self._service = NotesService(folder, self._package_folder, url)
        self._database = NotesDatabase(url or self._service.database)
        self._rivals = NotesRivals(self._service)
        self._service.start()
        return self._service.database

    def _choose_attempts(self) -> None:
        """As many attempts as end with the first that has to be the last one, ahead of the next retry by hand."""
        ahead = takewhile(lambda step: deed_of(step) is not Deed.RETRY, self._ahead)
        attempts = [step.target for step in ahead if deed_of(step) is Deed.ATTEMPT]
        last = attempts.index("failed") + 1 if "failed" in attempts else len(attempts) + 1
        self._max_attempts = last if "failed" in attempts else max(USUAL_ATTEMPTS, last)

    def _create(self) -> Walked:
        """POST a note, the same once more, and another text under its key."""
        self._notes += 1
        self._choose_attempts()
        api = self._service.api(self._max_attempts)
        first, again = (api.post(self._notes, replayed=replayed) for replayed in (False, True))
        if first != again:
            raise DriverError(f"A replay answered with {again}, the first POST with {first}.")
        api.post_another_text(self._notes)
        api.check_stored(self._notes, first)
        self._database.check_refusal(Doubled.NOTE)
        self._database.check_refusal(Doubled.JOB)
        self._posted[first.job_id] = _Posted(self._notes, first.note_id)
        key = (("id", first.job_id),)
        self._check_doors(key, self._job(key))
        return Walked(key, (self._service.server(self._max_attempts),))

    def _post_again(self, side: Side) -> Walked:
        accepted = self._service.api().post(self._notes, replayed=side is Side.AFTER)
        self._posted[accepted.job_id] = _Posted(self._notes, accepted.note_id)
        return Walked((("id", accepted.job_id),), (self._service.server(),))

    def _attempt(self, transition: Transition, key: Row, before: Job) -> tuple[Process, ...]:
        self._prepare(key, before, _ACTIONS.get(transition.target or ""))
        return (self._run_worker(key, transition.target),)

    def _set_aside(self, key: Row, before: Job) -> tuple[Process, ...]:
        """Kill a worker in its attempt, three times, each of which must leave the job as it was; then run one.

        A worker that was killed before that, when it had claimed the job and not begun, is no crash.
        """
        self._prepare(key, before, None)
        self._check_claim(key)
        killed = []
        for point in _CRASH_POINTS:
            killed.append(self._service.hold("worker", point, *self._worker_options()).kill())
            self._database.settle()
            if (found := self._job(key)) != before:
                raise DriverError(f"A worker was killed {point}, and job {_id(key)} is {found}; it was {before}.")
        return (*killed, self._run_worker(key, "failed"))

    def _check_claim(self, key: Row) -> None:
        """Have a worker that looks while another has claimed the job find nothing to do, whoever is the faster."""
        holder = self._service.hold("worker", _CLAIMED, *self._worker_options())
        try:
            holder.await_held()
            self._run_worker(key, None, "--busy-timeout", "0")
        finally:
            holder.process.kill()
            self._database.settle()

    def _ask(self, deed: Deed, key: Row) -> tuple[Process, ...]:
        """Ask for a retry or a cancel; the answer must be the job as it is stored after that."""
        self._choose_attempts()
        answered = self._service.api(self._max_attempts).ask_for(deed, _id(key))
        if answered != (stored := self._job(key)):
            raise DriverError(f"The answer to a {deed} was {answered}; what is stored is {stored}.")
        return (self._service.server(self._max_attempts),)

    def _ask_again(self, deed: Deed, key: Row, side: Side) -> Process:
        if side is Side.BEFORE:
            self._service.api().ask_for(deed, _id(key))
        else:
            self._service.api().ask_in_vain(deed, _id(key), 409)
        return self._service.server()

    def _remove(self, key: Row) -> tuple[Process, ...]:
        """A retention that keeps what is as new as this job; then one that keeps nothing."""
        self._run_retention(str(OUT_OF_REACH), removed=0)
        self._job(key)
        return (self._run_retention(KEEP_NOTHING, removed=1),)

    def _check(self, transition: Transition, key: Row, before: Job) -> None:
        """Hold the service to what has to be so once the transition was made from ``before``."""
        if transition.target is None:
            self._service.api().check_removed(_id(key), before.note_id)
            self._database.check_removed(_id(key), before.note_id)
            self._removed.add(_id(key))
            return
        found = self._job(key)
        error = self._database.error(_ACTIONS.get(transition.target))
        wanted_job = notes_jobs.after_deed(deed_of(transition), before, transition.target, error, self._max_attempts)
        notes_jobs.check_job(_id(key), found, wanted_job)
        history = self._service.api().note(found.note_id).history
        wanted = (found.attempts,) if found.status == "completed" else ()
        if history != wanted:
            raise DriverError(
                f"Job {_id(key)} is {found.status} after {found.attempts} attempts, and its history rows"
                f" name the attempts {list(history)}, not {list(wanted)}."
            )
        if history:
            self._database.check_refusal(Doubled.EVENT)
            self._check_replay(key)
        if found.errors:
            self._database.check_refusal(Doubled.ERROR)
        self._check_doors(key, found)

    def _check_doors(self, key: Row, job: Job) -> None:
        """Ask for what must be refused in this state; the job must stay as it is."""
        for deed, states in ((Deed.RETRY, ("failed",)), (Deed.CANCEL, ("pending", "retry_wait"))):
            if job.status not in states:
                self._service.api().ask_in_vain(deed, _id(key), 409)
        if (found := self._job(key)) != job:
            raise DriverError(f"Job {_id(key)} was changed by what was refused: it was {job} and is {found}.")

    def _check_replay(self, key: Row) -> None:
        """POST the note of a completed job once more, which must be answered as the first time."""
        posted = self._posted[_id(key)]
        again = self._service.api().post(posted.number, replayed=True)
        if (again.job_id, again.note_id) != (_id(key), posted.note_id):
            raise DriverError(f"The key of completed job {_id(key)} was answered with {again}.")

    def _use_key_again(self, job_id: int) -> int:
        """POST the note of a removed job once more, which makes another; give that job's id, cancelled."""
        posted = self._posted[job_id]
        api = self._service.api()
        accepted = api.post(posted.number, replayed=False)
        if accepted.job_id in self._posted or accepted.note_id == posted.note_id:
            raise DriverError(f"The key of removed job {job_id} was answered with ids that were used: {accepted}.")
        api.check_stored(posted.number, accepted)
        self._posted[accepted.job_id] = _Posted(posted.number, accepted.note_id)
        api.ask_for(Deed.CANCEL, accepted.job_id)
        return accepted.job_id

    def _work_off(self, key: Row) -> None:
        """Complete a job that is pending or due soon, or that was set aside and is now retried."""
        before = self._job(key)
        if notes_jobs.is_set_aside(before):
            self._ask(Deed.RETRY, key)
            set_aside, before = before, self._job(key)
            notes_jobs.check_job(_id(key), before, notes_jobs.after_retry(set_aside, self._max_attempts))
        due_in = before.due_in()
        if before.status == "pending" or (due_in is not None and due_in < _LONGEST_WAIT):
            self._prepare(key, before, None)
            self._run_worker(key, "completed")
            notes_jobs.check_job(_id(key), self._job(key), notes_jobs.after_attempt(before, "completed"))

    def _prepare(self, key: Row, job: Job, fault: str | None) -> None:
        """Have the next attempt end as it should, and wait until it is due."""
        due_in = job.due_in()
        if due_in is None or due_in > _LONGEST_WAIT:
            raise DriverError(f"Job {_id(key)} is {job.status} and is not due (next_run_at is {job.next_run_at}).")
        self._make_ready(job, fault)

    def _make_ready(self, job: Job, fault: str | None) -> None:
        """Have attempts end by this fault, and wait until the job is due, if it is to be at all."""
        self._database.set_fault(fault)
        time.sleep(max(0.0, job.due_in() or 0.0))

    def _job(self, key: Row) -> Job:
        return self._service.api().job(_id(key))

    def _run_worker(self, key: Row, outcome: str | None, *options: str, restarts: bool = False) -> Process:
        """One look of one worker, which must come to ``outcome`` with this job (None: it must find nothing to do)."""
        worker, told = self._service.run("worker", *self._worker_options(), *options, restarts=restarts)
        wanted = {"outcome": outcome or "idle", "job_id": _id(key) if outcome else None}
        if told != wanted:
            raise DriverError(f"The worker's last line is {told}; expected {wanted}.")
        return worker

    def _worker_options(self) -> list[str]:
        delay = str(SHORT_DELAY if self._ahead else OUT_OF_REACH)
        return ["--max-polls", "1", "--retry-delay", delay]

    def _run_retention(self, keep: str, removed: int, *, restarts: bool = False) -> Process:
        """A retention that must remove so many jobs."""
        retention, told = self._service.run("retention", "--keep-finished", keep, restarts=restarts)
        if told != {"removed": removed}:
            raise DriverError(f"A retention that keeps {keep} s says {told}; expected {removed} removed.")
        return retention


def _id(key: Row) -> int:
    ((_, value),) = key
    if not isinstance(value, int):
        raise DriverError(f"A job's id is an integer, not {value!r}.")
    return value
