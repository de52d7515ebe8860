"""What the journal says of several workers on one row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.walks import Subject
from arrowproof.conformance.winners import rivalry_problem
from arrowproof.model.evidence import JournalKind, JournalRow, Row
from arrowproof.model.lifecycle import Lifecycle

KEY: Row = (("id", 1),)
WON = JournalRow(1, "update", JournalKind.CHANGED, KEY, "pending", "completed", (("attempts", 0),), (("attempts", 0),))
BEAT = JournalRow(
    2, "update", JournalKind.TOUCHED, KEY, "completed", "completed", (("attempts", 0),), (("attempts", 1),)
)
ELSEWHERE = replace(BEAT, key=(("id", 2),))


class Beating:
    beats = ("attempts",)


@pytest.mark.parametrize(
    ("driver", "beat", "said"),
    [
        (Beating(), ELSEWHERE, "None"),
        (object(), ELSEWHERE, "Another row was changed too"),
        (Beating(), BEAT, "A late worker changed the row, which was finished in completed"),
    ],
)
def test_a_heartbeat_is_nothing_on_another_row_and_too_late_on_one_that_is_finished(
    note_job: Lifecycle, driver: Any, beat: JournalRow, said: str
) -> None:
    subject = Subject(note_job, driver, cast(Any, None))
    settle = subject.transitions["pending", "completed"]
    after = BoundRow((*KEY, ("status", "completed")), "completed")
    assert str(rivalry_problem(subject, (settle, settle), KEY, after, (WON, beat), {})).startswith(said)
