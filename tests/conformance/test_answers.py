"""A driver's answer of the wrong form is refused, and the message shows the right one."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from arrowproof.conformance.answers import (
    checked_beats,
    checked_database,
    checked_killed,
    checked_moments,
    checked_walked,
)
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.errors import InputError
from arrowproof.model.evidence import Moment, Process

WORKER = Process("worker", 7, "SIGKILL")


def test_a_right_answer_comes_back_with_tuples() -> None:
    given = Walked([["id", 7]], [WORKER], ["pick", "succeed"])  # type: ignore[arg-type]
    assert checked_walked(given, "walk") == Walked((("id", 7),), (WORKER,), ("pick", "succeed"))
    assert checked_killed(Killed("before", (WORKER,), None)) == Killed("before", (WORKER,), None)


@pytest.mark.parametrize("key", [7, "id", {"id": 7}, ("id", 7), ((1, 2),), None])
def test_a_key_of_another_form_is_told_the_right_one(key: object) -> None:
    with pytest.raises(DriverError, match=re.escape('a key is column and value pairs, such as (("id", 7),)')):
        checked_walked(Walked(key, ()), "walk")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [[1], object(), 2**63, float("nan"), "\ud800", Decimal(7)])
def test_a_key_that_no_database_and_no_report_holds_is_refused(value: object) -> None:
    with pytest.raises(DriverError, match="its values are text, numbers of 64 bits, or None"):
        checked_walked(Walked((("id", value),)), "walk")  # type: ignore[arg-type]


def test_a_key_of_what_a_client_gives_for_a_uuid_or_a_blob_is_taken_as_its_text() -> None:
    key = (("id", UUID(int=7)), ("code", b"\xff"), ("name", "Zoë"))
    wanted = (("id", "00000000-0000-0000-0000-000000000007"), ("code", "x'FF'"), ("name", "Zoë"))
    assert checked_walked(Walked(key), "walk").key == wanted  # type: ignore[arg-type]


@pytest.mark.parametrize("path", [5, "pick", [5], {"pick"}])
def test_a_path_of_another_form_is_told_the_right_one(path: object) -> None:
    with pytest.raises(DriverError, match=re.escape('it is the ids of arrows, such as ("pick", "succeed")')):
        checked_walked(Walked((("id", 7),), path=path), "walk")  # type: ignore[arg-type]


@pytest.mark.parametrize("beats", ["leased_until", 5, (5,)])
def test_beats_that_are_no_columns_are_wrong_input(beats: object) -> None:
    assert checked_beats(("leased_until", "seen")) == {"leased_until", "seen"}
    with pytest.raises(InputError, match=re.escape('such as ("leased_until",)')):
        checked_beats(beats)


@pytest.mark.parametrize("moments", [None, "before its commit", Moment.READ, ("read",)])
def test_moments_that_are_none_are_wrong_input(moments: object) -> None:
    assert checked_moments([Moment.WRITTEN, Moment.READ]) == (Moment.READ, Moment.WRITTEN)
    with pytest.raises(InputError, match=re.escape("such as (Moment.READ, Moment.WRITTEN)")):
        checked_moments(moments)


def test_a_database_file_that_somebody_else_has_under_another_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "precious.db").touch()
    os.link(tmp_path / "precious.db", tmp_path / "run" / "service.db")
    with pytest.raises(DriverError, match="a file elsewhere"):
        checked_database(tmp_path / "run" / "service.db", tmp_path / "run")


@pytest.mark.parametrize("processes", [None, 4217, ["worker"], WORKER, [Process("worker", 7, None)]])  # type: ignore[arg-type]
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
