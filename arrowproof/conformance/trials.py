"""What a proof tries beside the walk of every transition."""

from __future__ import annotations

from arrowproof.model.record import record


@record
class Trials:
    """What is tried of a service beside the walk of every transition."""

    crash_checks: bool = True
    """Whether each transition is killed on both sides of its commit; otherwise it is reported as not survived."""
    interleavings: bool = False
    """Whether several workers at once are set off on one row."""
    pairs: bool = False
    """Whether every pair of transitions that can follow each other is walked."""
    random_walks: int = 0
    """How many random walks are made."""
    seed: int | None = None
    """What gives the same random walks again; one is chosen, and said, where it is None."""


USUAL = Trials()
NO_CRASHES = Trials(crash_checks=False)
