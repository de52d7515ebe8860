"""What the worker gets wrong is red once an attempt is made, or a worker is killed in one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.mutants.table import Mutant, read_mutants
from tests.mutants.trial import Judgement


@pytest.mark.parametrize("mutant", read_mutants("worker"), ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_by_its_check_for_its_reason(attempt: Callable[[Mutant], Judgement], mutant: Mutant) -> None:
    judgement = attempt(mutant)
    assert judgement.kills(mutant), judgement
