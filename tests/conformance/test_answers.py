"""A driver's answer of the wrong form is refused, and the message shows the right one."""

from __future__ import annotations

import re

import pytest

from arrowproof.conformance.answers import checked_killed, checked_walked
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.model.evidence import Process

WORKER = Process("worker", 7, "SIGKILL")


def test_a_right_answer_comes_back_with_tuples() -> None:
    given = Walked([["id", 7]], [WORKER], ["pick", "succeed"])  # type: ignore[arg-type]
    assert checked_walked(given, "walk") == Walked((("id", 7),), (WORKER,), ("pick", "succeed"))
    assert checked_killed(Killed("before", (WORKER,), None)) == Killed("before", (WORKER,), None)


@pytest.mark.parametrize("key", [7, "id", {"id": 7}, ("id", 7), ((1, 2),), None])
def test_a_key_of_another_form_is_told_the_right_one(key: object) -> None:
    with pytest.raises(DriverError, match=re.escape('a key is column and value pairs, such as (("id", 7),)')):
        checked_walked(Walked(key, ()), "walk")  # type: ignore[arg-type]


@pytest.mark.parametrize("processes", [None, 4217, ["worker"], WORKER])
def test_processes_of_another_form_are_refused(processes: object) -> None:
    with pytest.raises(DriverError, match=r"tuple of Process\(role, pid, ended\)"):
        checked_killed(Killed("before", processes, None))  # type: ignore[arg-type]


def test_an_answer_that_is_no_walk_is_bounded_in_the_message() -> None:
    with pytest.raises(DriverError, match=re.escape('must answer Walked(key), with a key such as (("id", 7),)')):
        checked_walked(None, "walk")
    with pytest.raises(DriverError) as raised:
        checked_walked("x" * 10_000, "recover")
    assert "recover() answered 'xxx" in str(raised.value)
    assert len(str(raised.value)) < 250
