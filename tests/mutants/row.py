"""A row of the table that ``python -m tests.mutants`` prints: a mutant, and what killed it.

Rows are made in processes, not in threads: a drive turns standard output aside for all threads of its process.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from arrowproof.errors import DOES_NOT_HOLD
from arrowproof.model.record import record
from tests.mutants.copies import Copies
from tests.mutants.table import Mutant
from tests.mutants.trial import Judgement, check_whole, try_mutant

LIVES = "LIVES"
ERROR = "ERROR"


@record
class Row:
    """What killed a mutant, in how many seconds, and the reason; or that it lives or could not be tried, and why."""

    killed_by: str
    seconds: float
    reason: str

    @property
    def is_killed(self) -> bool:
        """Whether it was killed as the table of mutants says."""
        return self.killed_by not in (LIVES, ERROR)


def make_row(folder: Path, whole: bool, mutant: Mutant) -> Row:
    """Try a mutant in a copy below ``folder``, by the cheapest check or by a whole proof."""
    try:
        copy = _copies(folder).make(mutant.change)
        run_folder = copy / "run"
        judgement = check_whole(copy, run_folder) if whole else try_mutant(mutant, copy, run_folder)
    except Exception as error:  # whatever it is: it kills nothing, and the others are still tried
        return Row(ERROR, 0.0, f"{type(error).__name__}: {error}".replace("\n", " "))
    return _row(mutant, judgement, whole)


def _row(mutant: Mutant, judgement: Judgement, whole: bool) -> Row:
    is_killed = judgement.status == DOES_NOT_HOLD if whole else judgement.kills(mutant)
    if is_killed and (reason := judgement.reason(mutant)) is not None:
        return Row(str(judgement.check), judgement.seconds, reason)
    said = "; ".join(judgement.reasons) or "it holds"
    wanted = f"wanted by {mutant.check}: {mutant.reason!r}; {judgement.check} says: {said}"
    return Row(LIVES, judgement.seconds, wanted)


@cache
def _copies(folder: Path) -> Copies:
    """The copies of this process."""
    return Copies(Path(tempfile.mkdtemp(dir=folder)) / "all")
