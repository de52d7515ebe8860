"""What is broken in an example is found out, by the cheapest check that can and for the right reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.conformance.own_database import own_database
from tests.examples.copies import try_mutant
from tests.mutants.table import Check, Mutant, read_mutants

HERE = Path(__file__).parent
LEASE, PLPGSQL = (read_mutants(part, HERE) for part in ("lease", "plpgsql"))


@pytest.mark.parametrize("mutant", LEASE, ids=lambda mutant: mutant.id)
def test_a_mutant_of_the_leased_queue_is_killed_by_its_check_for_its_reason(mutant: Mutant, tmp_path: Path) -> None:
    judgement = try_mutant(mutant, "lease", tmp_path)
    assert judgement.kills(mutant), judgement


@pytest.mark.parametrize("mutant", [each for each in PLPGSQL if each.check is Check.SQL], ids=lambda mutant: mutant.id)
def test_a_mutant_of_the_payments_is_red_before_anything_runs(mutant: Mutant, tmp_path: Path) -> None:
    judgement = try_mutant(mutant, "plpgsql", tmp_path)
    assert judgement.kills(mutant), judgement


@pytest.mark.parametrize(
    "mutant", [each for each in PLPGSQL if each.check is not Check.SQL], ids=lambda mutant: mutant.id
)
def test_a_mutant_of_the_payments_is_killed_on_a_server(mutant: Mutant, tmp_path: Path, postgresql: str) -> None:
    with own_database(postgresql) as database:
        judgement = try_mutant(mutant, "plpgsql", tmp_path, database)
    assert judgement.kills(mutant), judgement
