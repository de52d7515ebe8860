"""The driver of the bundled notes service: real HTTP, real workers, one database.

Each deed has its own door. A note comes in by POST, and a retry and a cancel are asked for by POST. An attempt is one
look of a worker. It fails because a trigger on ``note_events`` refuses the history row; the driver adds and drops it.
On the way to a retry it refuses by FAIL, which leaves the row in the table: only a service that rolls back to a
savepoint is rid of it. On the way to failed it refuses by ROLLBACK, which ends the whole transaction: only a service
that then counts the attempt in a new one comes to an end. A job is set aside after three workers were killed in their
attempt at it, each at another point. A job is removed by a retention that keeps nothing.

What a tour leaves behind must not be picked up by a later one. A job that waits is put out of reach, at first by a long
``--retry-delay``, or worked off; one that is finished by a late ``finished_at``; one that was set aside is retried
first, because only a service that has forgotten its crashes completes it then. The first that waits is brought to its
last attempt, which succeeds. The first that was removed makes way for two jobs, of which one worker makes both attempts
and one retention removes both.

On PostgreSQL it also names the process, whose connection is taken from it (:mod:`arrowproof.conformance.notes_losses`).

Beside the walks the driver holds the service to its word (:mod:`arrowproof.conformance.notes_word`), to what a worker
prints, and to that a worker finds nothing to do where another has claimed the job.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.conformance import notes_jobs, notes_losses
from arrowproof.conformance.driver import DriverError, Killable, Killed, Walked
from arrowproof.conformance.notes_database import NotesDatabase
from arrowproof.conformance.notes_deeds import Deed, attempts_needed, deed_of, id_of, path_of
from arrowproof.conformance.notes_rivals import KEEP_NOTHING, OUT_OF_REACH, NotesRivals
from arrowproof.conformance.notes_service import PACKAGE_FOLDER, USUAL_ATTEMPTS, NotesService
from arrowproof.conformance.notes_word import NotesWord, Standing
from arrowproof.conformance.rivals import HeldRival, Rival
from arrowproof.model.evidence import Moment, Process, Row, Side
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
        self._word = NotesWord(self._service, self._database)
        self._before_blow: Standing | None = None
        self._rivals = NotesRivals(self._service)
        self._tour: Sequence[Transition] = ()
        self._is_contested = self._is_killed = False
        self._lasts = self._doubles = self._asides = 0

    def start(self, folder: Path) -> Path:
        """Start a server on a new file."""
        return Path(self._start(folder))

    def start_on(self, url: str, folder: Path) -> None:
        """Start a server on an empty PostgreSQL database."""
        self._start(folder, url)

    def stop(self) -> None:
        """End every process, and leave no trigger of the driver in the database: those that are there are judged."""
        try:
            self._service.stop()
        finally:
            self._database.set_fault(None)

    def begin(self, tour: Sequence[Transition]) -> None:
        """Keep the tour: a job is created, and retried, by a server whose jobs fail for good when the tour says so."""
        if self._word.has_posted:
            # Not for the first tour: where it is the only one, nobody needs another server.
            self._service.start_ahead()
        self._ahead = tuple(tour)
        self._tour, self._is_contested = tour, False

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Do what makes the transition, and hold the service to what has to be so after it."""
        self._ahead, self._is_killed = self._ahead[1:], False
        before = self._before_blow = self._word.begin(None if key is None else id_of(key))
        if key is None or before is None:
            return self._create()
        deed = deed_of(transition)
        match deed:
            case Deed.ATTEMPT:
                processes = self._attempt(transition, key, before.job)
            case Deed.SET_ASIDE:
                processes = self._set_aside(key, before.job)
            case Deed.REMOVE:
                processes = self._remove(key)
            case _:
                processes = self._ask(deed, key)
        self._check(transition, key, before)
        return Walked(key, processes, path_of(transition, deed))

    def end(self, key: Row | None) -> None:
        """Leave no job behind that a later worker or retention could take."""
        self._ahead = ()
        if key is None or (self._is_contested and not self._database.has_job(id_of(key))):
            return
        job_id = id_of(key)
        if self._word.is_removed(job_id):
            job_id = self._word.use_key_again(job_id)
            if not self._doubles:
                self._have_two(job_id)
                return
            self._service.api().ask_for(Deed.CANCEL, job_id)
        else:
            self._work_off(key)
        self._database.put_out_of_reach(job_id)

    def fire(self, event: str, key: Row) -> str:
        """Have done by its own door what an event stands for, where it must be refused or find nothing to do."""
        api, job_id = self._service.api(), id_of(key)
        match event:
            case "POST /notes":
                self._word.replay(job_id)
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
        return self._rivals.set_off(deed_of(transition), id_of(key))

    def set_off_held(self, transition: Transition, key: Row, moment: Moment) -> HeldRival:
        """The same, to be held at this moment."""
        self._contest(key)
        return self._rivals.set_off_held(deed_of(transition), id_of(key), moment)

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Hold the process that makes the transition at its point, and kill it there."""
        self._ahead, self._is_killed = self._ahead[1:], True
        before = self._before_blow = self._word.begin(None if key is None else id_of(key))
        if key is None or before is None:
            number = self._word.next_note()
            return self._service.kill_server(side, None, lambda api: api.post(number, replayed=False))
        deed = deed_of(transition)
        if deed in (Deed.RETRY, Deed.CANCEL):
            self._max_attempts = USUAL_ATTEMPTS
            return self._service.kill_server(side, key, lambda api: api.ask_for(deed, id_of(key)))
        if deed is Deed.REMOVE:
            hold = self._service.hold("retention", side, "--keep-finished", KEEP_NOTHING)
        else:
            self._prepare(key, before.job, _ACTIONS.get(transition.target or ""))
            hold = self._service.hold("worker", side, *self._worker_options())
        return Killed(hold.point, (hold.kill(),), key)

    is_cut = staticmethod(notes_losses.is_cut)

    def process_of(self, transition: Transition) -> Killable:
        """The server that was asked; the worker or the retention that was started last."""
        if deed_of(transition) in (Deed.CREATE, Deed.RETRY, Deed.CANCEL):
            return self._service.serving(self._max_attempts)
        return self._service.last_run

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        """Start the same program again: the server is asked the same once more, the others look once for work."""
        if side is Side.BEFORE and self._word.is_told:
            raise DriverError(f"The service told of {transition.name} as done, which was not committed.")
        if transition.source is None:
            job_id = self._word.post_again(replayed=side is Side.AFTER)
            return Walked((("id", job_id),), (self._service.server(),))
        key, before, deed = killed.key, self._before_blow, deed_of(transition)
        if key is None or before is None:
            raise DriverError("A job was killed whose id nobody knows.")
        # A worker that was killed has counted nothing; one that has lost its connection lives on.
        lives_on = deed is Deed.ATTEMPT and not self._is_killed
        is_counted = lives_on and notes_losses.is_counted(before.job, self._job(key))
        if side is Side.BEFORE:
            if is_counted:
                return self._attempt_again(transition, key, before)
            self._word.check_untouched(id_of(key), before)
        if deed in (Deed.RETRY, Deed.CANCEL):
            process = self._ask_again(deed, key, side)
        elif deed is Deed.REMOVE:
            process = self._run_retention(KEEP_NOTHING, removed=1 if side is Side.BEFORE else 0)
        else:
            process = self._run_worker(key, transition.target if side is Side.BEFORE else None)
        self._check(transition, key, before, notes_losses.LOST if is_counted else None)
        return Walked(key, (process,))

    def _attempt_again(self, transition: Transition, key: Row, before: Standing) -> Walked:
        """The attempt has failed, as it lost its connection: have the next one come to what was wanted of it."""
        lost = notes_jobs.after_attempt(before.job, "retry_wait", notes_losses.LOST)
        self._word.check(id_of(key), before, lost, self._retry_delay)
        self._database.make_due(id_of(key))
        self._try_once(key, transition.target or "")
        return Walked(key, (self._service.last_run.record(),), ahead=((transition.source, lost.status),))

    def _contest(self, key: Row) -> None:
        """Ahead of the first that is set off: have an attempt come to what is wanted of the first that is one.

        Servers that are asked for something start now, and not while somebody is held.
        """
        if not self._is_contested:
            if any(deed_of(it) in (Deed.RETRY, Deed.CANCEL) for it in self._tour[-2:]):
                self._rivals.start_servers()
            attempts = (_ACTIONS.get(it.target or "") for it in self._tour[-2:] if deed_of(it) is Deed.ATTEMPT)
            self._make_ready(self._job(key), next(attempts, None))
            self._is_contested = True

    def _start(self, folder: Path, url: str | None = None) -> Path | str:
        self._service = NotesService(folder, self._package_folder, url)
        self._database = NotesDatabase(url or self._service.database)
        self._rivals = NotesRivals(self._service)
        self._word = NotesWord(self._service, self._database)
        self._service.start()
        return self._service.database

    def _create(self) -> Walked:
        """Have a note posted by a server whose jobs have as many attempts as the tour needs."""
        self._max_attempts = attempts_needed(self._ahead, USUAL_ATTEMPTS)
        job_id = self._word.create(self._max_attempts)
        return Walked((("id", job_id),), (self._service.server(self._max_attempts),))

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
            killed.append(self._kill_worker(point))
            if (found := self._job(key)) != before:
                raise DriverError(f"A worker was killed {point}, and job {id_of(key)} is {found}; it was {before}.")
        self._asides += 1
        # The second worker to set one aside is killed right after the commit that does. That has to have forgotten the
        # crashes: with them still on record a retry of the job would be set aside as well.
        last = self._run_worker(key, "failed") if self._asides != 2 else self._kill_worker("after-commit")
        return (*killed, last)

    def _kill_worker(self, point: str) -> Process:
        killed = self._service.hold("worker", point, *self._worker_options()).kill()
        self._database.settle()
        return killed

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
        self._max_attempts = attempts_needed(self._ahead, USUAL_ATTEMPTS)
        answered = self._service.api(self._max_attempts).ask_for(deed, id_of(key))
        self._word.is_told = True
        if answered != (stored := self._job(key)):
            raise DriverError(f"The answer to a {deed} was {answered}; what is stored is {stored}.")
        return (self._service.server(self._max_attempts),)

    def _ask_again(self, deed: Deed, key: Row, side: Side) -> Process:
        if side is Side.BEFORE:
            self._service.api().ask_for(deed, id_of(key))
        else:
            self._service.api().ask_in_vain(deed, id_of(key), 409)
        return self._service.server()

    def _remove(self, key: Row) -> tuple[Process, ...]:
        """A retention that keeps what is as new as this job; then one that keeps nothing."""
        self._run_retention(str(OUT_OF_REACH), removed=0)
        self._job(key)
        return (self._run_retention(KEEP_NOTHING, removed=1),)

    def _check(self, transition: Transition, key: Row, before: Standing, error: str | None = None) -> None:
        """Hold the service to what has to be so once the transition was made from ``before``, by this error if any."""
        if transition.target is None:
            self._word.check_removed(id_of(key), before)
            return
        error = error or self._database.error(_ACTIONS.get(transition.target))
        deed = deed_of(transition)
        wanted = notes_jobs.after_deed(deed, before.job, transition.target, error, self._max_attempts)
        self._word.check(id_of(key), before, wanted, self._retry_delay)

    def _work_off(self, key: Row) -> None:
        """Complete a job that is pending or due soon, or that was set aside and is now retried."""
        before = self._job(key)
        if notes_jobs.is_set_aside(before):
            self._ask(Deed.RETRY, key)
            set_aside, before = before, self._job(key)
            notes_jobs.check_job(id_of(key), before, notes_jobs.after_retry(set_aside, self._max_attempts))
        due_in = before.due_in()
        if before.status == "pending" or (due_in is not None and due_in < _LONGEST_WAIT):
            self._try_once(key, "completed")
        elif before.status == "retry_wait" and not self._lasts:
            self._lasts += 1
            for attempt in range(before.attempts + 1, before.max_attempts + 1):
                self._database.make_due(id_of(key))
                self._try_once(key, "completed" if attempt == before.max_attempts else "retry_wait")

    def _try_once(self, key: Row, outcome: str) -> None:
        """An attempt that no tour asks for."""
        before = self._word.standing(id_of(key))
        self._prepare(key, before.job, _ACTIONS.get(outcome))
        self._run_worker(key, outcome)
        self._word.check(id_of(key), before, notes_jobs.after_attempt(before.job, outcome), self._retry_delay)

    def _have_two(self, job_id: int) -> None:
        """Have one worker fail at this job and another together, and complete both; one retention removes both."""
        self._doubles += 1
        ids = job_id, self._word.create(USUAL_ATTEMPTS)
        last = (("id", ids[-1]),)
        for outcome in ("retry_wait", "completed"):
            before = [self._word.standing(each) for each in ids]
            self._database.set_fault(_ACTIONS.get(outcome))
            self._run_worker(last, outcome, "--batch", str(len(ids)))
            for each, standing in zip(ids, before, strict=True):
                self._word.check(each, standing, notes_jobs.after_attempt(standing.job, outcome), self._retry_delay)
                self._database.make_due(each)
        self._run_retention(KEEP_NOTHING, removed=len(ids))
        for each, standing in zip(ids, before, strict=True):
            self._word.check_gone(each, standing.job.note_id)

    def _prepare(self, key: Row, job: Job, fault: str | None) -> None:
        """Have the next attempt end as it should, and wait until it is due."""
        due_in = job.due_in()
        if due_in is None or due_in > _LONGEST_WAIT:
            raise DriverError(f"Job {id_of(key)} is {job.status} and is not due (next_run_at is {job.next_run_at}).")
        self._make_ready(job, fault)

    def _make_ready(self, job: Job, fault: str | None) -> None:
        """Have attempts end by this fault, and wait until the job is due, if it is to be at all."""
        self._database.set_fault(fault, job.attempts)
        time.sleep(max(0.0, job.due_in() or 0.0))

    def _job(self, key: Row) -> Job:
        return self._service.api().job(id_of(key))

    def _run_worker(self, key: Row, outcome: str | None, *options: str) -> Process:
        """One look of one worker, which must come to ``outcome`` with this job (None: it must find nothing to do)."""
        worker, told = self._service.run("worker", *self._worker_options(), *options)
        wanted = {"outcome": outcome or "idle", "job_id": id_of(key) if outcome else None}
        if told != wanted:
            raise DriverError(f"The worker's last line is {told}; expected {wanted}.")
        self._word.is_told |= outcome is not None
        return worker

    def _worker_options(self) -> list[str]:
        return ["--max-polls", "1", "--retry-delay", str(self._retry_delay)]

    @property
    def _retry_delay(self) -> float:
        """Seconds until the next attempt at a job that fails now: out of reach where the tour ends with it."""
        return SHORT_DELAY if self._ahead else OUT_OF_REACH

    def _run_retention(self, keep: str, removed: int) -> Process:
        """A retention that must remove so many jobs."""
        retention, told = self._service.run("retention", "--keep-finished", keep)
        if told != {"removed": removed}:
            raise DriverError(f"A retention that keeps {keep} s says {told}; expected {removed} removed.")
        self._word.is_told |= removed > 0
        return retention
