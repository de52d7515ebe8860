"""What the journal must hold when several workers were at one row, case by case."""

from __future__ import annotations

from typing import Any, cast

import pytest

from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.walks import Subject
from arrowproof.conformance.winners import Habit, habits_of, rivalry_problem
from arrowproof.model.evidence import JournalKind, JournalRow, Row
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Pair
from tests.conformance.conftest import make_walks

KEY: Row = (("id", 7),)


def change(source: str | None, target: str | None, attempts: tuple[int, int] = (0, 0), key: Row = KEY) -> JournalRow:
    operation = "insert" if source is None else "delete" if target is None else "update"
    kind = JournalKind.TOUCHED if source == target else JournalKind.CHANGED
    old, new = (((("attempts", count),)) for count in attempts)
    return JournalRow(1, operation, kind, key, source, target, old, new)


def named(state: str) -> JournalRow:
    return JournalRow(1, "update", JournalKind.NAMED, KEY, state, state, (("attempts", 1),), (("attempts", 1),))


def judged(job: Lifecycle, journal: list[JournalRow], after: str | None, **habits: Habit) -> str | None:
    subject = Subject(job, cast(Any, None), cast(Any, None))
    wanted = subject.transitions["pending", "completed"], subject.transitions["pending", "retry_wait"]
    known: dict[Pair, Habit] = {("pending", target): habit for target, habit in habits.items()}
    row = None if after is None else BoundRow((("id", 7), ("status", after)), after)
    return rivalry_problem(subject, wanted, KEY, row, journal, known)


def test_one_that_wins_and_one_that_goes_on_from_there_are_right(note_job: Lifecycle) -> None:
    assert judged(note_job, [change("pending", "completed")], "completed") is None
    went_on = [change("pending", "retry_wait"), change("retry_wait", "completed")]
    assert judged(note_job, went_on, "completed") is None


def test_a_touch_of_a_row_that_goes_on_is_nobodys_fault(note_job: Lifecycle) -> None:
    journal = [change("pending", "retry_wait"), change("retry_wait", "retry_wait", (0, 1))]
    assert judged(note_job, journal, "retry_wait") is None


@pytest.mark.parametrize(
    ("journal", "after", "said"),
    [
        ([], "pending", "Nobody made a transition: each kept the other from it."),
        ([change("pending", "pending", (0, 1))], "pending", "Nobody made a transition"),
        ([change("pending", "completed", key=(("id", 8),))], "pending", "Another row was changed too: pending"),
        ([change("pending", "failed")], "failed", "pending -> failed was made, which nobody was set off to make."),
        ([change("pending", "completed"), change("completed", "failed")], "failed", "made by a late worker."),
        ([change("pending", "completed"), change("pending", "retry_wait")], "x", "of a row that stood in completed."),
        ([change("pending", "completed"), change("completed", "completed", (0, 1))], "completed", "was finished in"),
        ([change("pending", "retry_wait"), change("retry_wait", None)], None, "retry_wait -> removed, which the model"),
        ([change("pending", "completed"), named("completed")], "completed", "wrote the state completed once more"),
        ([change("pending", "completed")], "failed", "At the end the row was in failed, where completed was expected."),
    ],
)
def test_what_is_wrong_is_said(note_job: Lifecycle, journal: list[JournalRow], after: str | None, said: str) -> None:
    assert said in str(judged(note_job, journal, after))


def test_what_comes_behind_a_transition_when_it_is_alone_is_no_late_worker(note_job: Lifecycle) -> None:
    journal = [change("pending", "completed"), change("completed", "completed", (0, 1))]
    assert judged(note_job, journal, "completed", completed=Habit(afterwards=1)) is None
    assert "was finished" in str(judged(note_job, [*journal, journal[-1]], "completed", completed=Habit(afterwards=1)))


def test_a_count_is_lost_only_where_every_walk_adds_to_it(note_job: Lifecycle) -> None:
    journal = [change("pending", "completed")]
    counts = Habit({"attempts": 1})
    assert "attempts grew by 0, where each of what was made adds to it, 1 in all" in str(
        judged(note_job, journal, "completed", completed=counts)
    )
    assert judged(note_job, [change("pending", "completed", (0, 1))], "completed", completed=counts) is None
    assert judged(note_job, journal, "completed", completed=Habit({"attempts": -1})) is None
    assert judged(note_job, journal, "completed", completed=Habit()) is None


def test_the_habit_of_a_transition_is_what_all_its_walks_have(note_job: Lifecycle) -> None:
    subject = Subject(note_job, cast(Any, None), cast(Any, None))
    habits = habits_of(subject, make_walks())
    assert habits["pending", "completed"] == Habit({"attempts": 1}, 0)
    assert habits[None, "pending"] == Habit({}, 0)
