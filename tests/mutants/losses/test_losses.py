"""What goes wrong only when a connection is lost is red when it is: on PostgreSQL, whose connections can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.conformance.bundled import NotesDriver
from arrowproof.conformance.own_database import own_database
from arrowproof.errors import HOLDS
from arrowproof.model.loader import load_lifecycle
from tests.mutants.copies import Copies
from tests.mutants.table import Mutant, read_mutants
from tests.mutants.trial import Judgement, check_plan, check_sql, choose

MUTANTS = read_mutants("losses", Path(__file__).parent)


def lose(package_folder: Path, goals: tuple[str, ...], postgresql: str, run_folder: Path) -> Judgement:
    """What is said of a copy of the service when connections are taken from it, beside its kills."""
    lifecycle = load_lifecycle(package_folder / "arrowproof" / "service" / "notes-job.lifecycle.json")
    with own_database(postgresql) as url:
        plan = choose(lifecycle, goals)
        return check_plan(lifecycle, NotesDriver(package_folder), run_folder, plan, kills=True, database=url)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_by_a_lost_connection_and_by_nothing_else(
    copies: Copies, mutant: Mutant, postgresql: str, tmp_path: Path
) -> None:
    copy = copies.make(mutant.change)
    assert check_sql(copy).status == HOLDS
    judgement = lose(copy, mutant.tours, postgresql, tmp_path / "run")
    assert judgement.kills(mutant), judgement


def test_the_service_itself_comes_out_right(copies: Copies, postgresql: str, tmp_path: Path) -> None:
    goals = tuple({goal for mutant in MUTANTS for goal in mutant.tours})
    judgement = lose(copies.make(), goals, postgresql, tmp_path / "run")
    assert (judgement.status, judgement.reasons) == (HOLDS, ())
