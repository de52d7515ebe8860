"""The table of mutants: large and wide enough, true to the service as it stands, and tried by checks that can fail."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.errors import HOLDS, InputError
from tests.mutants.copies import Copies
from tests.mutants.table import SERVICE, Check, Equivalent, read_equivalents, read_mutants
from tests.mutants.trial import NoVerdictError, check_sql, check_tours, try_mutant

MUTANTS = read_mutants()
CLASSES = Counter(mutant.change.kind for mutant in MUTANTS)
(DROPPED,) = (mutant for mutant in MUTANTS if mutant.id == "complete-from-any-state")


def test_there_are_sixty_mutants_in_twelve_classes_at_least() -> None:
    assert len(MUTANTS) >= 60
    assert len(CLASSES) >= 12
    names = [each.change.id for each in (*MUTANTS, *read_equivalents())]
    assert len(set(names)) == len(names)


def test_no_two_mutants_are_the_same() -> None:
    changed = [(each.change.file, each.change.of(source(each.change.file))) for each in MUTANTS]
    assert len(set(changed)) == len(changed)


def source(file: str) -> str:
    return (SERVICE / file).read_text(encoding="utf-8")


def test_a_mutant_that_needs_a_walk_names_its_tours_and_one_that_does_not_names_none() -> None:
    assert all((mutant.check is Check.SQL) == (not mutant.tours) for mutant in MUTANTS)


@pytest.mark.parametrize("equivalent", read_equivalents(), ids=lambda each: each.change.id)
def test_an_equivalent_change_is_argued_and_is_nothing_that_the_sql_gives_away(
    copies: Copies, equivalent: Equivalent
) -> None:
    assert len(equivalent.why.split()) > 10
    assert check_sql(copies.make(equivalent.change)).status == HOLDS


@pytest.mark.parametrize("check", [Check.WALK, Check.KILL])
def test_the_service_as_it_is_passes_every_check_that_kills_a_mutant(
    copies: Copies, tmp_path: Path, check: Check
) -> None:
    goals = sorted({goal for mutant in MUTANTS if mutant.check is check for goal in mutant.tours})
    judgement = check_tours(copies.make(), tmp_path / "run", goals, kills=check is Check.KILL)
    assert (judgement.status, judgement.reasons) == (HOLDS, ())


def test_a_mutant_whose_old_text_does_not_stand_there_is_an_error() -> None:
    for old in ("not in the file", "status"):
        change = replace(DROPPED.change, id="moved", old=old)
        with pytest.raises(ValueError, match="it must be there once"):
            change.of(source(change.file))


def test_what_breaks_the_tool_kills_nothing(copies: Copies, tmp_path: Path) -> None:
    broken = replace(DROPPED.change, id="no-json", file="notes-job.lifecycle.json", old='"format"', new="format")
    with pytest.raises(NoVerdictError, match="ended with 2"):
        try_mutant(replace(DROPPED, change=broken), copies.make(broken), tmp_path / "run")


def test_a_service_that_does_not_start_kills_nothing(copies: Copies, tmp_path: Path) -> None:
    broken = replace(DROPPED.change, id="no-python", file="server.py", old="from __future__", new="from __past__")
    mutant = replace(DROPPED, change=broken, check=Check.WALK, tours=("created -> pending",))
    with pytest.raises(InputError, match="did not start"):
        try_mutant(mutant, copies.make(broken), tmp_path / "run")


def test_a_mutant_lives_when_it_is_killed_for_another_reason_or_by_another_check(
    copies: Copies, tmp_path: Path
) -> None:
    judgement = try_mutant(DROPPED, copies.make(DROPPED.change), tmp_path / "run")
    assert judgement.kills(DROPPED)
    assert not judgement.kills(replace(DROPPED, reason="attempts"))
    assert not judgement.kills(replace(DROPPED, check=Check.WALK))
