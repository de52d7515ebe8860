"""Illegal events, fired: the row and the journal must stay as they were.

How a service refuses is its own affair. What it leaves in the journal is judged alone, and a touch is a change as well:
section 1 of the design lets a touch pass as no transition, but an event that the model does not have in this state has
nothing to write at all. A sneak path that the owner accepts is accepted here too, and an event that creates rows may
create another one, as it is drawn to.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import field

from arrowproof.conformance.display import one_line
from arrowproof.conformance.driver import DriverError, FireDriver
from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.walks import Subject, attempt, describe
from arrowproof.model.evidence import IllegalEvent, JournalRow, Row, Share
from arrowproof.model.illegal_events import illegal_events
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair

NO_FIRE = "Illegal events were not fired: the driver has no fire()."
_ANSWER_LENGTH = 300


@record
class IllegalEvents:
    """The illegal events of one run: what is left to fire, what was fired, and what could not be."""

    subject: Subject
    left: list[tuple[str, str]] = field(default_factory=list)
    fired: list[IllegalEvent] = field(default_factory=list)
    not_fired: list[str] = field(default_factory=list)

    def fire_all(self, state: str, key: Row, mark: int) -> int | None:
        """Fire at a row that has just come to ``state`` what was not fired in it.

        Returns:
            The last order of the journal, which was ``mark`` so far; None when the row was changed.
        """
        driver = self.subject.driver
        if not isinstance(driver, FireDriver):
            return mark
        for each in [each for each in self.left if each[0] == state]:
            self.left.remove(each)
            event = self.fire(driver, each[1], state, key, mark)
            if event is not None:
                self.fired.append(event)
                mark = max([mark, *(row.order for row in event.journal)])
                if any(row.key == key for row in event.journal):
                    return None
        return mark

    @property
    def left_out(self) -> list[str]:
        """What was not fired, one sentence for each event that the driver could not fire, and for each state."""
        if not isinstance(self.subject.driver, FireDriver):
            return [NO_FIRE] if self.left else []
        spent = {event.state for event in self.fired}
        left: dict[str, list[str]] = {}
        for state, event in self.left:
            left.setdefault(state, []).append(event)
        return [
            *self.not_fired,
            *(
                f"{', '.join(events)} {'was' if len(events) == 1 else 'were'} not fired in {state}:"
                f" {'other events changed each row that' if state in spent else 'no row'} came there."
                for state, events in left.items()
            ),
        ]

    @property
    def share(self) -> Share | None:
        """Those that changed nothing, of all; None where the driver can fire none."""
        if not isinstance(self.subject.driver, FireDriver):
            return None
        total = len(self.left) + len(self.fired) + len(self.not_fired)
        return Share(sum(event.problem is None for event in self.fired), total)

    def fire(self, driver: FireDriver, event: str, state: str, key: Row, mark: int) -> IllegalEvent | None:
        """Fire one event at a row in ``state``; None when the driver could not, which is kept, and nothing changed."""
        before = self.subject.row(key)
        answer, failure = attempt(lambda: _answer(driver, event, key))
        journal, after = self.subject.journal.rows(after=mark), self.subject.row(key)
        if failure is not None and not journal and before == after:
            self.not_fired.append(f"{event} was not fired in {state}: {failure}")
            return None
        return IllegalEvent(
            event=event,
            state=state,
            answer=answer or failure or "",
            key=key,
            before=None if before is None else before.columns,
            after=None if after is None else after.columns,
            journal=journal,
            problem=_problem(self.subject, _not_drawn(self.subject, event, key, journal), before, after),
        )


def events_to_fire(subject: Subject) -> IllegalEvents:
    """All illegal events of the model, none of them fired yet."""
    return IllegalEvents(subject, list(illegal_events(subject.lifecycle, tuple(subject.transitions.values()))))


def _answer(driver: FireDriver, event: str, key: Row) -> str:
    """What the service answers; a refusal that the driver complains of is an answer too."""
    try:
        answer = driver.fire(event, key)
    except DriverError as error:
        answer = error
    return "" if answer is None else one_line(str(answer), _ANSWER_LENGTH)


def _not_drawn(subject: Subject, event: str, key: Row, journal: tuple[JournalRow, ...]) -> tuple[JournalRow, ...]:
    """The journal without rows that the event has created besides, as the model lets it."""
    arrows = subject.lifecycle.arrows_by_id
    creations = {
        pair
        for pair, transition in subject.transitions.items()
        if pair[0] is None and any(arrows[arrow].event == event for path in transition.paths for arrow in path)
    }
    return tuple(row for row in journal if row.key == key or subject.pair(row) not in creations)


def _problem(
    subject: Subject, journal: tuple[JournalRow, ...], before: BoundRow | None, after: BoundRow | None
) -> str | None:
    accepted: Container[Pair] = {(path.source, path.target) for path in subject.lifecycle.accepted_sneak_paths}
    made = [subject.pair(row) for row in journal]
    if journal and all(pair is not None and pair in accepted for pair in made):
        return None
    if journal:
        return f"the journal holds {describe(subject, journal)}"
    return None if before == after else "the row was changed, and the journal holds nothing of it"
