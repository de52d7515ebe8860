"""Standing: on which rung of a proof each transition and each arrow of a lifecycle stands.

The rungs of DESIGN section 1, and what stands in their place where one is missing:

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

An arrow over several transitions stands where the lowest of them does; of the walks only those count that took it.
Evidence is untrusted: what it says of transitions that the lifecycle does not have is passed over.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Pair, Transition, derive_transitions

if TYPE_CHECKING:
    from arrowproof.model.evidence import Evidence, Kill, TransitionEvidence, Walk

FREQUENCY_STEPS = 6
"""Steps of thickness above the thinnest line, which the rarest arrows and those without a count have."""


class Rung(StrEnum):
    """Where a transition or an arrow stands, the lowest first. Its words are the interface text ``rung.VALUE``."""

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


_LOWEST_FIRST = tuple(Rung)


@dataclass(frozen=True)
class TransitionStanding:
    """Where one transition stands, with its evidence. ``count`` is how often a log holds it, None without a log."""

    pair: Pair
    rung: Rung
    evidence: TransitionEvidence
    count: int | None = None


@dataclass(frozen=True)
class ArrowStanding:
    """Where one arrow stands: ``at`` of the ``over`` transitions over it stand as low as ``rung``.

    ``count`` is how many rows of a log may have gone over it, None without a log, and ``is_exact`` says that they all
    did, since their transitions have no other path. ``step`` is the thickness of its line, from 0 to FREQUENCY_STEPS.
    """

    rung: Rung
    at: int
    over: int
    count: int | None = None
    is_exact: bool = True
    step: int = 0

    @property
    def is_mixed(self) -> bool:
        """Whether some of its transitions stand higher."""
        return self.at < self.over


@dataclass(frozen=True)
class Standing:
    """Where every transition and every arrow of a lifecycle stands, each under its pair or id, in the file's order.

    ``usual`` is the rung that holds and that most arrows share, so that a picture need not say it at each; None when
    no arrow holds. ``medians`` are the median seconds in a state, by state id, as a log has them.
    """

    transitions: Mapping[Pair, TransitionStanding]
    arrows: Mapping[str, ArrowStanding]
    usual: Rung | None
    medians: Mapping[str, float]

    def is_usual(self, arrow: str) -> bool:
        """Whether an arrow stands where most do, over all its transitions."""
        standing = self.arrows[arrow]
        return standing.rung is self.usual and not standing.is_mixed

    @property
    def usual_count(self) -> int:
        """How many arrows stand where most do."""
        return sum(self.is_usual(arrow) for arrow in self.arrows)


def stand(lifecycle: Lifecycle, evidence: Evidence) -> Standing:
    """Where a lifecycle stands by this evidence.

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions.
    """
    from arrowproof.model.evidence import TransitionEvidence  # a drawing without evidence need not pay for it

    known = {(each.source, each.target): each for each in reversed(evidence.transitions)}
    counts = _counts(evidence)
    is_guarded = evidence.guard is not None and evidence.guard.holds
    transitions = derive_transitions(lifecycle)
    standings = {}
    for transition in transitions:
        found = known.get(transition.pair, TransitionEvidence(*transition.pair, transition.paths))
        rung = _rung(found, found.walks, is_guarded)
        count = None if counts is None else counts.get(transition.pair, 0)
        standings[transition.pair] = TransitionStanding(transition.pair, rung, found, count)
    arrows = _arrows(lifecycle, transitions, standings, is_guarded)
    states = evidence.log.states if evidence.log is not None else ()
    medians = {each.state: each.median_seconds for each in states if each.state in lifecycle.states_by_id}
    return Standing(standings, arrows, _usual(arrows.values()), medians)


def _rung(found: TransitionEvidence, walks: Sequence[Walk], is_guarded: bool) -> Rung:
    if not walks or any(walk.problem is not None for walk in walks):
        return Rung.WRITTEN if found.is_written else Rung.MISSING
    if any(kill.problem is not None for kill in found.kills):
        return Rung.NOT_SURVIVED
    if not found.is_written:
        return Rung.NOT_WRITTEN
    if not _on_both_sides(found.kills):
        return Rung.WALKED
    return Rung.GUARDED if is_guarded else Rung.SURVIVED


def _on_both_sides(kills: Iterable[Kill]) -> bool:
    return len({kill.side for kill in kills}) > 1  # before and after the commit are all the sides that there are


def _counts(evidence: Evidence) -> Mapping[Pair, int] | None:
    if evidence.log is None:
        return None
    counts: Counter[Pair] = Counter()
    for each in evidence.log.transitions:
        counts[each.source, each.target] += each.count
    return counts


def _arrows(
    lifecycle: Lifecycle,
    transitions: Sequence[Transition],
    standings: Mapping[Pair, TransitionStanding],
    is_guarded: bool,
) -> dict[str, ArrowStanding]:
    rungs: dict[str, list[Rung]] = defaultdict(list)
    rows: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for transition in transitions:
        standing = standings[transition.pair]
        walks = _walks_by_arrow(standing.evidence.walks)
        paths = Counter(arrow for path in transition.paths for arrow in path)
        for arrow in dict.fromkeys(arrow for path in transition.paths for arrow in path):
            rungs[arrow].append(_rung(standing.evidence, walks.get(arrow, ()), is_guarded))
            if standing.count is not None:
                rows[arrow].append((standing.count, not standing.count or paths[arrow] == len(transition.paths)))
    most = max((sum(count for count, _ in found) for found in rows.values()), default=0)
    return {arrow.id: _arrow(rungs[arrow.id], rows.get(arrow.id), most) for arrow in lifecycle.arrows}


def _walks_by_arrow(walks: Iterable[Walk]) -> Mapping[str, list[Walk]]:
    found: dict[str, list[Walk]] = defaultdict(list)
    for walk in walks:
        for arrow in dict.fromkeys(walk.path):
            found[arrow].append(walk)
    return found


def _arrow(rungs: Sequence[Rung], rows: Sequence[tuple[int, bool]] | None, most: int) -> ArrowStanding:
    """The standing of an arrow over transitions that stand at ``rungs``; one over none of them is missing."""
    lowest = min(rungs, key=lambda rung: rung.height, default=Rung.MISSING)
    if rows is None:
        return ArrowStanding(lowest, rungs.count(lowest), len(rungs))
    count = sum(number for number, _ in rows)
    step = round(FREQUENCY_STEPS * math.log1p(count) / math.log1p(most)) if most else 0
    return ArrowStanding(lowest, rungs.count(lowest), len(rungs), count, all(exact for _, exact in rows), step)


def _usual(arrows: Iterable[ArrowStanding]) -> Rung | None:
    """The rung that holds and that most arrows share; of two as frequent the higher one."""
    counts = Counter(arrow.rung for arrow in arrows if arrow.rung.tone == "holds" and not arrow.is_mixed)
    return max(counts, key=lambda rung: (counts[rung], rung.height), default=None)
