"""The word of the notes service: what it has to keep to beside the transitions, held against it after each deed.

A job is as its last deed has to leave it (:mod:`arrowproof.conformance.notes_jobs`), and every moment that the deed has
written lies between its begin and its end, by the clock of the database. The history has one row when the job is
completed, none before, which names the attempt. A note is stored as it was sent; a replay of its key is told as one,
and any other text under it is a conflict. What a client may not ask for in a state is refused and changes nothing.
Of a removed job nothing is left, its key is free, and what belongs to other jobs is as it was. The database itself
refuses a second note of one key, a second job of one note, a second history row of one job and a second error of one
attempt, whatever else they hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from arrowproof.conformance import notes_jobs
from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_database import Doubled, NotesDatabase, Others
from arrowproof.conformance.notes_deeds import Deed
from arrowproof.conformance.notes_service import NotesService
from arrowproof.model.record import record

if TYPE_CHECKING:
    from arrowproof.conformance.notes_api import Accepted, Job, Note

_DOORS = ((Deed.RETRY, ("failed",)), (Deed.CANCEL, ("pending", "retry_wait")))
"""What a client can ask for, and in which states it is not refused."""


@record
class Standing:
    """A job as it stands, with its note, and what belongs to other jobs."""

    job: Job
    note: Note
    others: Others
    past_outcomes: Mapping[str, int]

    def told(self) -> Mapping[str, object]:
        """What stands, by name."""
        return {
            **asdict(self.job),
            "text": self.note.text,
            "history": self.note.history,
            "of others": str(self.others),
            "past outcomes": dict(self.past_outcomes),
        }


@record
class _Posted:
    """A note that the service took: its number, which gives its key and text, and its id."""

    number: int
    note_id: int


class NotesWord:
    """Holds one service to its word. Every method raises DriverError when it is not kept, and says in what."""

    def __init__(self, service: NotesService, database: NotesDatabase) -> None:
        self._service = service
        self._database = database
        self._notes = 0
        self._posted: dict[int, _Posted] = {}
        self._removed: set[int] = set()
        self._began = datetime.min
        self.is_told = False
        """Whether the service has told of the deed as done."""

    @property
    def has_posted(self) -> bool:
        """Whether a note was posted by now."""
        return self._notes > 0

    def begin(self, job_id: int | None) -> Standing | None:
        """A deed begins: with which job, None when it makes one; gives that job as it stands."""
        self.is_told = False
        if job_id is not None:
            return self.standing(job_id)
        self._began = self._database.now()
        return None

    def next_note(self) -> int:
        """The number of a note that was not posted yet."""
        self._notes += 1
        return self._notes

    def create(self, max_attempts: int) -> int:
        """POST a note, the same once more, and other texts under its key; gives the job's id."""
        number = self.next_note()
        api = self._service.api(max_attempts)
        first = api.post(number, replayed=False)
        self.is_told = True
        again = api.post(number, replayed=True)
        if first != again:
            raise DriverError(f"A replay answered with {again}, the first POST with {first}.")
        api.post_other_texts(number)
        api.check_stored(number, first)
        self._database.check_refusal(Doubled.NOTE)
        self._database.check_refusal(Doubled.JOB)
        self._posted[first.job_id] = _Posted(number, first.note_id)
        job = self._service.api().job(first.job_id)
        notes_jobs.check_job(first.job_id, job, notes_jobs.after_creation(first.note_id, max_attempts))
        self._check_span(first.job_id, "next_run_at", job.next_run_at)
        self._check_doors(first.job_id, job)
        return first.job_id

    def post_again(self, *, replayed: bool) -> int:
        """POST the last note, whose server was killed over it; gives the job's id."""
        accepted = self._service.api().post(self._notes, replayed=replayed)
        self._posted[accepted.job_id] = _Posted(self._notes, accepted.note_id)
        return accepted.job_id

    def replay(self, job_id: int) -> Accepted:
        """POST the note of a job once more, which must be told as a replay."""
        return self._service.api().post(self._posted[job_id].number, replayed=True)

    def check_untouched(self, job_id: int, before: Standing) -> None:
        """After a kill before the commit: the job is as it was, with its history and its errors."""
        was, is_now = before.told(), self._look_at(job_id).told()
        said = [f"{name} {is_now[name]!r} and not {was[name]!r}" for name in was if is_now[name] != was[name]]
        if said:
            raise DriverError(f"A kill before the commit left job {job_id} with {', '.join(said)}.")

    def check(self, job_id: int, before: Standing, wanted: Job, wait: float) -> None:
        """After a deed that was no removal: the job is as wanted, and whatever else has to be so is.

        ``wait`` is the ``--retry-delay`` of the worker, in seconds.
        """
        found = self._look_at(job_id)
        job, history = found.job, found.note.history
        notes_jobs.check_job(job_id, job, wanted)
        expected = (job.attempts,) if job.status == "completed" else ()
        if history != expected:
            raise DriverError(
                f"Job {job_id} is {job.status} after {job.attempts} attempts, and its history rows"
                f" name the attempts {list(history)}, not {list(expected)}."
            )
        self._check_past(before, found.past_outcomes, has_left=before.job.status == "failed" != job.status)
        self._check_moments(job_id, before, found, wait)
        if history:
            self._database.check_refusal(Doubled.EVENT)
            self._check_replay(job_id)
        if job.errors:
            self._database.check_refusal(Doubled.ERROR)
        self._check_doors(job_id, job)

    def check_removed(self, job_id: int, before: Standing) -> None:
        """After a removal: nothing is left of the job, and all that belongs to others is."""
        self.check_gone(job_id, before.job.note_id)
        self._removed.add(job_id)
        self._check_past(before, self._database.past_outcomes(), has_left=True)
        others = self._database.others(job_id, before.job.note_id)
        if others != before.others:
            raise DriverError(f"Job {job_id} was removed, and of others {others} are left, of {before.others}.")

    def check_gone(self, job_id: int, note_id: int) -> None:
        """Nothing is left of a job and its note."""
        self._service.api().check_removed(job_id, note_id)
        self._database.check_removed(job_id, note_id)

    def _check_past(self, before: Standing, found: Mapping[str, int], *, has_left: bool) -> None:
        """Have the jobs that left an end again been counted, this one among them if it ``has_left`` its own."""
        wanted = Counter(before.past_outcomes) + Counter([before.job.status] if has_left else ())
        if wanted != Counter(found):
            raise DriverError(f"Past outcomes are counted as {dict(found)}, and not as {dict(wanted)}.")

    def is_removed(self, job_id: int) -> bool:
        """Whether a removal of this job was checked."""
        return job_id in self._removed

    def use_key_again(self, job_id: int) -> int:
        """POST the note of a removed job once more, which makes another; give that job's id."""
        posted = self._posted[job_id]
        api = self._service.api()
        accepted = api.post(posted.number, replayed=False)
        if accepted.job_id in self._posted or accepted.note_id == posted.note_id:
            raise DriverError(f"The key of removed job {job_id} was answered with ids that were used: {accepted}.")
        api.check_stored(posted.number, accepted)
        self._posted[accepted.job_id] = _Posted(posted.number, accepted.note_id)
        return accepted.job_id

    def standing(self, job_id: int) -> Standing:
        """A job as it stands before a deed, which begins now."""
        self._began = self._database.now()
        return self._look_at(job_id)

    def _look_at(self, job_id: int) -> Standing:
        api = self._service.api()
        job = api.job(job_id)
        others, past = self._database.others(job_id, job.note_id), self._database.past_outcomes()
        return Standing(job, api.note(job.note_id), others, past)

    def _check_moments(self, job_id: int, before: Standing, found: Standing, wait: float) -> None:
        """Each moment that is another than before was written by the deed, and so within it."""
        was, now = before.job, found.job
        if now.status == "retry_wait" and now.next_run_at != was.next_run_at:
            self._check_span(job_id, "next_run_at", now.next_run_at, *notes_jobs.waits(wait, now.attempts))
        elif now.next_run_at != was.next_run_at:
            self._check_span(job_id, "next_run_at", now.next_run_at)
        for name, then, told in (
            ("finished_at", was.finished_at, now.finished_at),
            ("its last error of", was.failed_at, now.failed_at),
            ("its history row of", before.note.written_at, found.note.written_at),
        ):
            if told != then:
                self._check_span(job_id, name, told)

    def _check_span(
        self, job_id: int, name: str, told: str | None, shortest: float = 0.0, longest: float = 0.0
    ) -> None:
        """Have a moment lie within the deed, or so many seconds after it."""
        if told is None:
            return
        began, now = self._began, self._database.now()
        after_begin = (datetime.fromisoformat(told) - began).total_seconds()
        # What the service stores is cut to milliseconds.
        if not shortest - 0.001 <= after_begin <= (now - began).total_seconds() + longest:
            wanted = f"{shortest:g} to {longest:g} s after what" if longest else "within what"
            raise DriverError(
                f"Job {job_id} has {name} {told}, which is to be {wanted} was done to it,"
                f" from {_moment(began)} to {_moment(now)}."
            )

    def _check_doors(self, job_id: int, job: Job) -> None:
        """Ask for what must be refused in this state; the job must stay as it is."""
        for deed, states in _DOORS:
            if job.status not in states:
                self._service.api().ask_in_vain(deed, job_id, 409)
        if (found := self._service.api().job(job_id)) != job:
            raise DriverError(f"Job {job_id} was changed by what was refused: it was {job} and is {found}.")

    def _check_replay(self, job_id: int) -> None:
        """POST the note of a completed job once more, which must be answered as the first time."""
        again = self.replay(job_id)
        if (again.job_id, again.note_id) != (job_id, self._posted[job_id].note_id):
            raise DriverError(f"The key of completed job {job_id} was answered with {again}.")


def _moment(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
