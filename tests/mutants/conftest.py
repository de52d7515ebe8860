"""The copies in which mutants are tried, made once for each process of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.copies import Copies
from tests.mutants.table import Mutant
from tests.mutants.trial import Judgement, try_mutant


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    return Copies(tmp_path_factory.mktemp("copies") / "all")


@pytest.fixture
def attempt(copies: Copies, tmp_path: Path) -> Callable[[Mutant], Judgement]:
    """Tries a mutant."""
    return lambda mutant: try_mutant(mutant, copies.make(mutant.change), tmp_path / "run")
