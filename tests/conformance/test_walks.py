"""What a journal row witnesses, by the rule of transitions, self-transitions and touches."""

from __future__ import annotations

import sys
from asyncio import CancelledError
from dataclasses import replace
from typing import Any, cast

import pytest

from arrowproof.conformance.walks import Subject, attempt, classify, journal_problem, state_name
from arrowproof.model.evidence import JournalKind, JournalRow, Scalar
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Pair

DRAWN: frozenset[Pair] = frozenset({("retry_wait", "retry_wait"), ("pending", "completed")})


def row(kind: JournalKind, old: Scalar, new: Scalar, operation: str = "update", attempts: int = 0) -> JournalRow:
    watched = ((("attempts", 0),), (("attempts", attempts),))
    return JournalRow(1, operation, kind, (("id", 1),), old, new, *watched)


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        (row(JournalKind.CHANGED, "pending", "completed"), ("pending", "completed")),
        (row(JournalKind.CHANGED, "failed", "completed"), ("failed", "completed")),
        (row(JournalKind.CHANGED, None, "pending", "insert"), (None, "pending")),
        (row(JournalKind.CHANGED, "pending", None, "delete"), ("pending", None)),
        (row(JournalKind.CHANGED, "pending", None), ("pending", "NULL")),
        (row(JournalKind.CHANGED, "completed", "pending", "replace"), ("completed", "pending")),
        (row(JournalKind.NAMED, "retry_wait", "retry_wait"), ("retry_wait", "retry_wait")),
        (row(JournalKind.NAMED, "pending", "pending", attempts=1), ("pending", "pending")),
        (row(JournalKind.NAMED, "pending", "pending"), None),
        (row(JournalKind.TOUCHED, "retry_wait", "retry_wait", attempts=1), None),
        (row(JournalKind.TOUCHED, "pending", "pending"), None),
    ],
)
def test_a_journal_row_witnesses_a_transition_or_a_touch(
    note_job: Lifecycle, seen: JournalRow, wanted: Pair | None
) -> None:
    assert classify(note_job, DRAWN, seen) == wanted


class Beating:
    beats = ("attempts",)


@pytest.mark.parametrize(
    ("driver", "others"), [(Beating(), None), (object(), "also came a touch in retry_wait (id=2)")]
)
def test_a_heartbeat_of_another_row_is_nothing_beside_a_walk(
    note_job: Lifecycle, driver: Any, others: str | None
) -> None:
    subject = Subject(note_job, driver, cast(Any, None))
    beat = replace(row(JournalKind.TOUCHED, "retry_wait", "retry_wait", attempts=1), key=(("id", 2),))
    done = row(JournalKind.CHANGED, "pending", "completed")
    problem = journal_problem(subject, subject.transitions["pending", "completed"], done.key, (beat, done))
    assert problem is None if others is None else others in str(problem)


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(0), GeneratorExit("no"), CancelledError("no")])
def test_whatever_a_driver_raises_is_its_failure(error: BaseException) -> None:
    def call() -> None:
        raise error

    _, problem = attempt(call)
    assert problem is not None
    assert type(error).__name__ in problem


def test_an_interrupt_is_no_failure_of_the_driver() -> None:
    def call() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(call)


def test_what_a_driver_prints_stays_out_of_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert attempt(lambda: sys.stdout.write("rubbish")) == (7, None)
    assert capsys.readouterr() == ("", "rubbish")


@pytest.mark.parametrize(
    ("value", "name"),
    [("pending", "pending"), ("Pending", "Pending"), (None, "NULL"), (3, "3"), ("attempt", "attempt"), ("a\nb", "a b")],
)
def test_a_value_has_the_name_of_its_state_or_its_own_text(note_job: Lifecycle, value: Scalar, name: str) -> None:
    assert state_name(note_job, value) == name


def test_a_value_that_reads_like_the_id_of_another_state_is_not_taken_for_it(note_job: Lifecycle) -> None:
    states = tuple(replace(state, value=index) for index, state in enumerate(note_job.states))
    numbered = replace(note_job, states=states)
    assert state_name(numbered, 0) == "pending"
    assert state_name(numbered, "pending") == "pending (a value of no state)"
    assert state_name(numbered, "0") == "0"
