"""Standing: on which rung of a proof each transition and each arrow of a lifecycle stands.

An arrow over several transitions stands where the lowest of them does; of the walks only those count that took it.
Evidence is untrusted: what it says of transitions that the lifecycle does not have is passed over.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.rung import Rung, rung_of
from arrowproof.model.transitions import Pair, Transition, derive_transitions

if TYPE_CHECKING:
    from arrowproof.model.evidence import Evidence, TransitionEvidence, Walk

FREQUENCY_STEPS = 6
"""Steps of thickness above the thinnest line, which the rarest arrows and those without a count have."""


@record
class TransitionStanding:
    """Where one transition stands, with its evidence. ``count`` is how often a log holds it, None without a log."""

    pair: Pair
    rung: Rung
    evidence: TransitionEvidence
    count: int | None = None


@record
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


@record
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
    transitions = derive_transitions(lifecycle)
    standings = {}
    for transition in transitions:
        found = known.get(transition.pair, TransitionEvidence(*transition.pair, transition.paths))
        rung = rung_of(found, is_guarded=evidence.is_guarded)
        count = None if counts is None else counts.get(transition.pair, 0)
        standings[transition.pair] = TransitionStanding(transition.pair, rung, found, count)
    arrows = _arrows(lifecycle, transitions, standings, evidence.is_guarded)
    states = evidence.log.states if evidence.log is not None else ()
    medians = {each.state: each.median_seconds for each in states if each.state in lifecycle.states_by_id}
    return Standing(standings, arrows, _usual(arrows.values()), medians)


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
            rungs[arrow].append(rung_of(standing.evidence, is_guarded=is_guarded, walks=walks.get(arrow, ())))
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
