"""Rungs: how far a transition has come in a proof. Pages and reports have them from here, so that they never differ.

=============  ======  ==============================================================================
rung           tone    a transition stands there when
=============  ======  ==============================================================================
missing        wrong   no statement can make it, and no walk did
not_survived   wrong   it was walked, and a kill ended wrong
written        gap     a statement can make it, and no walk did, or one went wrong
not_written    gap     it was walked, and no statement that was read can make it
walked         holds   it is written, and every walk of it ended right
survived       holds   it is walked, and was killed on both sides of its commit without harm
guarded        holds   it survived, and the database refused every undeclared write that was tried
=============  ======  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arrowproof.model.evidence import TransitionEvidence, Walk


class Rung(StrEnum):
    """Where a transition or an arrow stands, the lowest first."""

    MISSING = "missing"
    NOT_SURVIVED = "not_survived"
    WRITTEN = "written"
    NOT_WRITTEN = "not_written"
    WALKED = "walked"
    SURVIVED = "survived"
    GUARDED = "guarded"

    @property
    def tone(self) -> str:
        """``wrong``, ``gap`` or ``holds``."""
        if self in (Rung.MISSING, Rung.NOT_SURVIVED):
            return "wrong"
        return "gap" if self in (Rung.WRITTEN, Rung.NOT_WRITTEN) else "holds"

    @property
    def height(self) -> int:
        """Its place from the lowest, 0."""
        return _LOWEST_FIRST.index(self)

    @property
    def words(self) -> str:
        """Its words in English, for reports; those of a page are the interface text ``rung.VALUE``."""
        return self.replace("_", " ")


_LOWEST_FIRST = tuple(Rung)


def rung_of(found: TransitionEvidence, *, is_guarded: bool, walks: Sequence[Walk] | None = None) -> Rung:
    """Where a transition stands.

    Args:
        found: all that is known of it.
        is_guarded: whether a guard refused everything that the model does not have.
        walks: those of its walks that count; all of them when left out.
    """
    walks = found.walks if walks is None else walks
    if not walks or any(walk.problem is not None for walk in walks):
        return Rung.WRITTEN if found.is_written else Rung.MISSING
    if any(kill.problem is not None for kill in found.kills):
        return Rung.NOT_SURVIVED
    if not found.is_written:
        return Rung.NOT_WRITTEN
    if not found.is_survived:
        return Rung.WALKED
    return Rung.GUARDED if is_guarded else Rung.SURVIVED
