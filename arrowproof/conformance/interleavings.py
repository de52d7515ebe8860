"""Interleavings: several workers on one row, for each pair of transitions out of a state.

The first is held in the middle of its transition: after its read, before it writes, and once more when all is written
and the commit comes next. Others that want the same row are set off meanwhile, to make the same transition or another
one, in both orders. Each of them comes as far as it can: it ends by itself (it finds nothing, is refused, is told that
the database is busy, or wins), or it waits for a lock of the first. Then the first is let go. What came of it is judged
by the journal (:mod:`arrowproof.conformance.winners`). The clock decides only how long to wait for a worker
that neither ends nor is seen to wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from arrowproof.conformance import abilities
from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.gates import Gate, gate, moments_of
from arrowproof.conformance.rivals import Rival, RivalDriver
from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.waiting import comes_true
from arrowproof.conformance.walks import Subject, attempt, beside, bring_row
from arrowproof.conformance.winners import Habit, rivalry_problem
from arrowproof.model.evidence import Interleaving, JournalRow, Moment, Process, Row
from arrowproof.model.record import record
from arrowproof.model.tours import Tour
from arrowproof.model.transitions import Pair, Transition

NO_RIVALS = "Interleavings were not tried: the driver has no set_off()."
NO_MOMENTS = (
    "Interleavings were not tried: on SQLite the service itself has to hold its first worker, and the driver has no"
    " set_off_held()."
)
PATIENCE_SECONDS = 10.0
IMPATIENCE_SECONDS = 1.0
"""How long the others may take to end or to wait for a lock; and how long, once some did neither in an interleaving.

Such a one may wait inside the service, where requests share a connection, for instance. That is no fault: the first is
let go then, and what comes of it is judged as ever. But a service that does so once does so often, and each such
interleaving takes the whole time.
"""

_RIVALS = {Moment.READ: 1, Moment.WRITTEN: 2}


@record
class Schedule:
    """One interleaving to try: the way to the state, the first and the others, and where the first waits."""

    way: tuple[Transition, ...]
    first: Transition
    rival: Transition
    rivals: int
    moment: Moment


def plan_interleavings(subject: Subject, tours: Sequence[Tour]) -> tuple[Schedule, ...]:
    """Every pair of transitions out of each state, in both orders and each with itself.

    Two workers where the first is held after its read, and three where it waits for its commit.

    Args:
        subject: what is proven.
        tours: the tours that have the transitions as steps: those of the model, or of a part of it.
    """
    ways = _ways(tours)
    moments = moments_of(subject)
    toured = {step.pair for tour in tours for step in tour.steps}
    leaving = [each for each in subject.transitions.values() if each.source in ways and each.pair in toured]
    return tuple(
        Schedule(ways[first.source], first, rival, _RIVALS[moment], moment)
        for first in leaving
        for rival in leaving
        if first.source == rival.source
        for moment in moments
    )


def why_not(subject: Subject) -> str | None:
    """Why no interleaving can be tried; None when they can."""
    if not isinstance(subject.driver, RivalDriver):
        return NO_RIVALS
    return None if moments_of(subject) else NO_MOMENTS


def try_interleaving(
    subject: Subject, schedule: Schedule, habits: Mapping[Pair, Habit], patience: float = PATIENCE_SECONDS
) -> Interleaving:
    """Bring a fresh row to the state, and have several workers at it.

    ``patience`` is how long the others may take to end or to be seen waiting, in seconds.
    What goes wrong is told in the ``problem``; errors of the environment or the input are raised.
    """
    tour = (*schedule.way, schedule.first, schedule.rival)
    row = bring_row(subject, tour, len(schedule.way))
    key = row.key
    if row.problem is not None or key is None:
        course = _Course(subject, schedule, key or (), patience)
        return _record(course, None, None, (), row.problem or "No row was created on the way.")
    before = subject.row(key)
    course = _Course(subject, schedule, key, patience)
    _, problem = attempt(course.run)
    _, unsettled = attempt(subject.journal.settle)
    journal, after = subject.journal.rows(after=row.mark), subject.row(key)
    wanted = (schedule.first, schedule.rival)
    problem = (
        beside(subject, problem, journal) or unsettled or rivalry_problem(subject, wanted, key, after, journal, habits)
    )
    _, untidy = attempt(lambda: abilities.end(subject.driver, key))
    problem = problem or untidy
    return _record(course, before, after, journal, problem)


class _Course:
    """The course of one interleaving, from when the first is set off to when all have ended."""

    def __init__(self, subject: Subject, schedule: Schedule, key: Row, patience: float) -> None:
        self._subject, self._patience = subject, patience
        self._set_off: list[Rival] = []
        self.schedule, self.key = schedule, key
        self.processes: list[Process] = []
        self.waited = self.unseen = 0

    def run(self) -> None:
        """Set all off, the first held until the others have come as far as they can.

        Raises:
            DriverError: one does not come there, or does not end.
        """
        schedule, driver = self.schedule, self._subject.driver
        assert isinstance(driver, RivalDriver)
        with gate(self._subject, schedule.first, self.key, schedule.moment) as held, self._all_finished(held):
            self._set_off.append(held.set_off())
            others = []
            for _ in range(schedule.rivals):
                others.append(driver.set_off(schedule.rival, self.key))
                self._set_off.append(others[-1])
            self._await_others(held, others)

    @contextmanager
    def _all_finished(self, held: Gate) -> Iterator[None]:
        """Open the gate at the end of the block, and have every worker come to its end, whatever went wrong before."""
        try:
            yield
        finally:
            held.open()
            failures = []
            for rival in self._set_off:
                processes, failure = attempt(rival.finish)
                self.processes += processes or ()
                failures.append(failure)
        if (first := next(filter(None, failures), None)) is not None:
            raise DriverError(first)

    def _await_others(self, held: Gate, others: Sequence[Rival]) -> None:
        """Wait until each of the others is over or waits for a lock, or until patience ends."""

        def are_all_seen() -> bool:
            over = sum(each.is_over for each in others)
            self.waited = min(held.waiting(others), len(others) - over)
            self.unseen = len(others) - over - self.waited
            return not self.unseen

        comes_true(are_all_seen, self._patience)


def _ways(tours: Sequence[Tour]) -> dict[str | None, tuple[Transition, ...]]:
    """The shortest way to each state that a row can leave, of those in the tours."""
    ways: dict[str | None, tuple[Transition, ...]] = {}
    for tour in tours:
        for at, step in enumerate(tour.steps):
            known = ways.get(step.source)
            if step.source is not None and (known is None or at < len(known)):
                ways[step.source] = tour.steps[:at]
    return ways


def _record(
    course: _Course,
    before: BoundRow | None,
    after: BoundRow | None,
    journal: tuple[JournalRow, ...],
    problem: str | None,
) -> Interleaving:
    schedule = course.schedule
    return Interleaving(
        source=schedule.first.source or "",
        target=schedule.first.target,
        rival=schedule.rival.target,
        rivals=schedule.rivals,
        moment=schedule.moment,
        waited=course.waited,
        key=course.key,
        processes=tuple(course.processes),
        before=None if before is None else before.columns,
        after=None if after is None else after.columns,
        journal=journal,
        problem=problem,
        unseen=course.unseen,
    )
