"""Coverage: how much of a lifecycle a proof has walked.

Every share counts walks that went right and nothing else; a walk with a problem covers nothing. The terms are those of
model-based testing:

* *transition coverage* (all-transitions, 0-switch): transitions walked, of the transitions in the model;
* *state coverage* (all-states): stored states that a row was in, of the stored states; a passing state is never in a
  row, so no run can witness it;
* *arrow coverage*: arrows on a path that a walk took, of the arrows. A transition with two paths of which one was taken
  covers the arrows of that one alone;
* *transition-pair coverage* (all-transition-pairs, 1-switch after Chow 1978): pairs (a, b) of transitions, where b
  leaves the state that a enters, that were walked one after the other on one row. The total counts every such pair of
  the model, feasible or not, as is the use;
* *illegal events*: events that were fired in a state in which the model does not have them, and changed nothing, of all
  events and states that the model does not join;
* *kills*: kills that were survived, of those made; a side of a commit on which none was made counts as one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from arrowproof.model.evidence import Coverage, Kill, Share, Side, TransitionEvidence, Walk
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Pair


def measure_coverage(
    lifecycle: Lifecycle, transitions: Sequence[TransitionEvidence], events: Share | None = None
) -> Coverage:
    """The coverage of one proof.

    Args:
        lifecycle: the model, for the totals of states and arrows.
        transitions: the evidence of every transition of the model, in any order.
        events: the illegal events that changed nothing; None where the driver can fire none.
    """
    walks = [walk for transition in transitions for walk in transition.walks]
    model = {(transition.source, transition.target): transition for transition in transitions}
    good = [walk for walk in walks if walk.problem is None and (walk.source, walk.target) in model]
    entered = {state for walk in good for state in (walk.source, walk.target)}
    taken = {arrow for walk in good if walk.path in model[walk.source, walk.target].paths for arrow in walk.path}
    return Coverage(
        transitions=Share(sum(transition.is_walked for transition in transitions), len(transitions)),
        states=Share(
            sum(state.id in entered for state in lifecycle.stored_states),
            len(lifecycle.stored_states),
        ),
        arrows=Share(sum(arrow.id in taken for arrow in lifecycle.arrows), len(lifecycle.arrows)),
        pairs=_pair_share(model, walks),
        kills=Share(
            sum(kill.problem is None for transition in transitions for kill in transition.kills),
            sum(max(1, len(_kills(transition, side))) for transition in transitions for side in Side),
        ),
        events=events,
    )


def walked_pairs(walks: Iterable[Walk]) -> frozenset[tuple[Pair, Pair]]:
    """The pairs of transitions that were walked one after the other on one row.

    The journal's order says what came after what. A walk that went wrong but left journal rows stands between its
    neighbours; one that left none did not touch the row.
    """
    journalled = sorted((walk for walk in walks if walk.journal), key=lambda walk: (repr(walk.key), _first(walk)))
    return frozenset(pair for _, chain in groupby(journalled, key=lambda walk: walk.key) for pair in _links(chain))


def _links(chain: Iterable[Walk]) -> Iterator[tuple[Pair, Pair]]:
    for former, latter in pairwise(chain):
        goes_on = former.target is not None and former.target == latter.source
        if goes_on and former.problem is None and latter.problem is None:
            yield (former.source, former.target), (latter.source, latter.target)


def _first(walk: Walk) -> int:
    return min(row.order for row in walk.journal)


def _pair_share(model: Iterable[Pair], walks: Iterable[Walk]) -> Share:
    pairs = list(model)
    wanted = {(a, b) for a in pairs for b in pairs if a[1] is not None and a[1] == b[0]}
    return Share(len(wanted & walked_pairs(walks)), len(wanted))


def _kills(transition: TransitionEvidence, side: Side) -> list[Kill]:
    return [kill for kill in transition.kills if kill.side is side]
