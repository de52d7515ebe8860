"""Defects of real services, rebuilt small, are found by scan or drive; the same without the defect is green."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.errors import DOES_NOT_HOLD, HOLDS
from arrowproof.model.loader import load_lifecycle
from tests.mutants.defects.defect import Defect, read_defects
from tests.mutants.trial import Judgement, check_plan, check_sql_of

DEFECTS = read_defects()


@pytest.fixture(params=DEFECTS, ids=lambda defect: defect.id)
def defect(request: pytest.FixtureRequest) -> Defect:
    found: Defect = request.param
    return found


def drive_of(defect: Defect, folder: Path, statements: str) -> Judgement:
    lifecycle = load_lifecycle(defect.write(folder, statements))
    return check_plan(lifecycle, defect.driver(statements), folder / "run", defect.plan(lifecycle))


def test_what_a_statement_gives_away_is_red_before_anything_runs(defect: Defect, tmp_path: Path) -> None:
    judgement = check_sql_of(defect.write(tmp_path, defect.wrong))
    if defect.sql is None:
        assert (judgement.status, judgement.reasons) == (HOLDS, ())
    else:
        assert judgement.status == DOES_NOT_HOLD
        assert any(defect.sql in reason for reason in judgement.reasons), judgement


def test_what_happens_in_the_wrong_order_is_red_in_a_drive(defect: Defect, tmp_path: Path) -> None:
    judgement = drive_of(defect, tmp_path, defect.wrong)
    assert judgement.status == DOES_NOT_HOLD
    assert any(defect.drive in reason for reason in judgement.reasons), judgement


def test_the_same_without_the_defect_is_green_in_both(defect: Defect, tmp_path: Path) -> None:
    judgement = check_sql_of(defect.write(tmp_path, defect.right))
    assert (judgement.status, judgement.reasons) == (HOLDS, ())
    judgement = drive_of(defect, tmp_path, defect.right)
    assert (judgement.status, judgement.reasons) == (HOLDS, ())
