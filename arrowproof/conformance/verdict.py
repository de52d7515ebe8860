"""The verdict: what a proof came to, and why it is not better.

The rules are those of DESIGN section 5. Everything found counts down from *proven*:

==============================================================  ================
finding                                                         at most
==============================================================  ================
a sneak path happened and is not accepted                       not proven
an event did something where the model does not have it         not proven
a random walk failed                                            not proven
a transition was not walked, or a walk of it went wrong         not proven
a kill lost or doubled a commit, its restart ended wrong, or
it was asked for and could not be made                          not proven
several workers on one row came out wrong, or could not be set
off where that was asked for                                    not proven
the run cannot be trusted (its journal did not stand)           not proven
a transition is not written, and nothing read could explain it  not proven
a transition is not written, but an undecided statement or a
dynamic target may be what makes it                             walked
a sneak path is possible and is not accepted                    walked
a statement is undecided, or its target is dynamic              walked
==============================================================  ================

A guard that the service's own schema makes, and that has been seen to refuse all that the model lacks, takes dynamic
targets from this list; the sneak paths that it makes impossible are not handed in.

An accepted sneak path is let through whether it is possible or happened: the owner has said that the database does
this and why, and every report repeats it. Where crash checks were left out, that is no finding: the transition is then
proven, and reported as not survived.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from arrowproof.conformance.display import one_line, places_text
from arrowproof.conformance.near_states import no_state_text
from arrowproof.model.evidence import (
    DynamicTarget,
    IllegalEvent,
    Interleaving,
    Kill,
    RandomWalks,
    SneakPath,
    Statement,
    TransitionEvidence,
    Undecided,
    Verdict,
    Walk,
)
from arrowproof.model.lifecycle import State
from arrowproof.model.transitions import source_text, transition_name

if TYPE_CHECKING:
    from arrowproof.conformance.guard_check import GuardCheck

_Finding = tuple[Verdict, str]
_WAY = re.compile(r"^The way to .{1,600}? failed at .{1,600}?: ")
_KEY_BEHIND = re.compile(r" \([^()]{1,200}=[^()]{1,200}\)")
_JOURNAL_BESIDE = re.compile(r" The journal holds .*$")
_FROM_BEST = (Verdict.PROVEN, Verdict.WALKED, Verdict.NOT_PROVEN)


def judge(
    transitions: Sequence[TransitionEvidence],
    sneak_paths: Sequence[SneakPath] = (),
    undecided: Sequence[Undecided] = (),
    dynamic: Sequence[DynamicTarget] = (),
    problems: Sequence[str] = (),
    *,
    pinned: Container[Statement] = (),
    states: Sequence[State] = (),
    guard: GuardCheck | None = None,
    interleavings: Sequence[Interleaving] = (),
    events: Sequence[IllegalEvent] = (),
    random_walks: RandomWalks | None = None,
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict and the reasons why it is not better, one sentence each; no reasons when proven.

    Args:
        transitions: the evidence of every transition of the model.
        sneak_paths: possible and happened, merged by pair.
        undecided: statements of which the scan cannot say what they do.
        dynamic: statements whose target state is a parameter.
        problems: what makes the run as a whole untrustworthy, one sentence each.
        pinned: the statements in which naming source states would rule nothing more out.
        states: the states of the model that are stored, to tell a misspelt value by; none are known when empty.
        guard: what the service's own guard was seen to refuse. One that holds makes dynamic targets harmless; one
            that does not is credited with nothing, and is named where it would have helped.
        interleavings: what several workers at once made of one row.
        events: what events did that were fired where the model does not have them.
        random_walks: the shortest of the random walks that failed, where one did.

    Reasons stand in a fixed order: sneak paths, transitions (written, walked, killed), random walks, illegal events,
    interleavings, undecided statements, dynamic targets, problems of the run.
    """
    findings = [
        *(finding for path in sneak_paths if path.accepted is None for finding in _of_sneak_path(path, pinned, states)),
        *(finding for transition in transitions for finding in _of_transition(transition, undecided, dynamic)),
        *_of_random_walks(random_walks),
        *(_of_event(event) for event in events if event.problem is not None),
        *(_of_interleaving(it) for it in interleavings if it.problem is not None),
        *(_of_undecided(statement) for statement in undecided),
        *(_of_dynamic(statement) for statement in (() if guard is not None and guard.holds else dynamic)),
        *((Verdict.NOT_PROVEN, one_line(problem)) for problem in problems),
    ]
    if not transitions:
        findings.append((Verdict.NOT_PROVEN, "The model has no transition, so there is nothing to prove."))
    if findings and guard is not None and not guard.holds:
        findings.append((Verdict.WALKED, _of_guard(guard)))
    worst = max((verdict for verdict, _ in findings), key=_FROM_BEST.index, default=Verdict.PROVEN)
    return worst, tuple(dict.fromkeys(reason for _, reason in findings))


def holds(verdict: Verdict, lowest: Verdict = Verdict.PROVEN) -> bool:
    """Whether a verdict is at least ``lowest``: the bar is *proven* unless someone lowers it openly."""
    return _FROM_BEST.index(verdict) <= _FROM_BEST.index(lowest)


def shortfalls(
    transition: TransitionEvidence, undecided: Sequence[Undecided] = (), dynamic: Sequence[DynamicTarget] = ()
) -> Iterator[str]:
    """Why a transition is not written or not walked, one sentence each; none when it is both.

    The statements that the scan could not decide are named where one of them may be what makes it.
    """
    yield from (reason for _, reason in _of_written_and_walked(transition, undecided, dynamic))


def candidates(
    transition: TransitionEvidence, undecided: Sequence[Undecided], dynamic: Sequence[DynamicTarget]
) -> tuple[Statement, ...]:
    """The statements that may make a transition that is not written, for all that the scan can tell."""
    if transition.is_written:
        return ()
    # A dynamic target is a value that is written; it never removes a row.
    by_parameter = [it for it in dynamic if transition.source in it.sources and transition.target is not None]
    return (*(it.statement for it in by_parameter), *(it.statement for it in undecided))


def causes_of(transition: TransitionEvidence) -> Iterator[tuple[str, str]]:
    """The reasons that the walks and kills of a transition give, each with its cause: equal causes, equal texts.

    A cause is the problem without what differs from step to step: the way that was gone ahead of a kill, the keys of
    rows, and what the journal held beside the driver's own complaint.
    """
    name = one_line(transition_name(transition.source, transition.target))
    for walk in transition.walks:
        if walk.problem is not None:
            yield _of_walk(walk, name, transition)[1], _cause(walk.problem)
    for kill in transition.kills:
        if kill.problem is not None:
            yield _of_kill(kill, name, transition)[1], _cause(kill.problem)


def _cause(problem: str) -> str:
    # Bounded ahead of the report's own bound, which would cut equal causes behind unequal ways at unequal places.
    return _KEY_BEHIND.sub("", _JOURNAL_BESIDE.sub("", _WAY.sub("", one_line(problem, 2_000)))).rstrip(".")


def _of_sneak_path(path: SneakPath, pinned: Container[Statement], states: Sequence[State]) -> Iterator[_Finding]:
    name = one_line(transition_name(path.source, path.target))
    places = places_text(statement.place for statement in path.possible)
    if path.happened:
        by = f"; {places} can make it" if places else "; no statement that was read can make it"
        stray = _stray(path, states)
        by += f"; {stray}" if stray else ""
        yield (
            Verdict.NOT_PROVEN,
            f"Sneak path {name} happened: the journal holds it {_times(len(path.happened))}{_ended(by)}",
        )
    else:
        out = _stray(path, states) or _way_out(path, pinned)
        yield Verdict.WALKED, f"Sneak path {name} is possible: {places} can make it; {_ended(out)}"


def _way_out(path: SneakPath, pinned: Container[Statement]) -> str:
    """What would close a sneak path between states of the model."""
    if path.only_in_race:
        return "the row is looked at without a lock: lock it (FOR UPDATE), or name the source states in the outer WHERE"
    is_one = len(path.possible) == 1
    if all(statement in pinned for statement in path.possible):
        return f"draw the arrow, or take the statement{'' if is_one else 's'} out"
    return "name its source states, or draw the arrow" if is_one else "name their source states"


def _stray(path: SneakPath, states: Sequence[State]) -> str | None:
    """That an end of the path is a value of no state, and which state may have been meant."""
    known = {state.id for state in states}
    ends = [end for end in (path.target, path.source) if end is not None and end not in known] if known else []
    # A value that reads like a state's id, and is none by its type or its white space, says so in its own text.
    ends = [end for end in ends if not end.endswith("(a value of no state)")]
    return no_state_text(states, ends[0]) if ends else None


def _ended(text: str) -> str:
    """A sentence with its full stop, unless it asks."""
    return text if text.endswith("?") else f"{text}."


def _of_transition(
    transition: TransitionEvidence, undecided: Sequence[Undecided], dynamic: Sequence[DynamicTarget]
) -> Iterator[_Finding]:
    name = one_line(transition_name(transition.source, transition.target))
    yield from _of_written_and_walked(transition, undecided, dynamic)
    yield from (_of_kill(kill, name, transition) for kill in transition.kills if kill.problem is not None)


def _of_written_and_walked(
    transition: TransitionEvidence, undecided: Sequence[Undecided], dynamic: Sequence[DynamicTarget]
) -> Iterator[_Finding]:
    name = one_line(transition_name(transition.source, transition.target))
    if not transition.is_written:
        yield _unwritten(transition, name, undecided, dynamic)
    if not transition.walks:
        yield Verdict.NOT_PROVEN, f"{name} is not walked: no walk of it was made{_beside(transition)}."
    yield from (_of_walk(walk, name, transition) for walk in transition.walks if walk.problem is not None)


def _unwritten(
    transition: TransitionEvidence, name: str, undecided: Sequence[Undecided], dynamic: Sequence[DynamicTarget]
) -> _Finding:
    places = places_text(it.place for it in candidates(transition, undecided, dynamic))
    if places:
        return Verdict.WALKED, f"{name} is not written: only {places} may make it, and the scan cannot tell."
    if transition.is_walked:
        return (
            Verdict.NOT_PROVEN,
            f"{name} is not written, yet it was walked: its statement stands outside the model's sources.",
        )
    return Verdict.NOT_PROVEN, f"{name} is not written: no statement that was read can make it."


def _of_walk(walk: Walk, name: str, transition: TransitionEvidence) -> _Finding:
    path = f" by {one_line(', '.join(walk.path))}" if len(transition.paths) > 1 else ""
    return Verdict.NOT_PROVEN, f"{name} is not walked{path}: {_clause(walk.problem)}{_beside(transition)}."


def _of_kill(kill: Kill, name: str, transition: TransitionEvidence) -> _Finding:
    # Without a hold point there was no kill: the driver did not come so far.
    what = (
        f'did not survive a kill {kill.side} at "{one_line(kill.point)}"'
        if kill.point
        else f"was not killed {kill.side}"
    )
    return Verdict.NOT_PROVEN, f"{name} {what}: {_clause(kill.problem)}{_beside(transition)}."


def _of_random_walks(random_walks: RandomWalks | None) -> Iterator[_Finding]:
    if random_walks is not None and random_walks.problem is not None:
        steps = ", then ".join(map(one_line, random_walks.failed))
        again = f"--walks {random_walks.asked} --seed {random_walks.seed}"
        yield (
            Verdict.NOT_PROVEN,
            f"A random walk failed at its last step: {steps}: {_clause(random_walks.problem)}. {again} makes it again.",
        )


def _of_event(event: IllegalEvent) -> _Finding:
    name, state = one_line(event.event), one_line(event.state)
    return (
        Verdict.NOT_PROVEN,
        f"{name} is no event of {state} in the model, and it did something: {_clause(event.problem)}.",
    )


def _of_interleaving(it: Interleaving) -> _Finding:
    first, rival = (one_line(transition_name(it.source, target)) for target in (it.target, it.rival))
    workers = "another worker" if it.rivals == 1 else f"{it.rivals} other workers"
    return Verdict.NOT_PROVEN, f"{first}, held {it.moment}, and {rival} by {workers}: {_clause(it.problem)}."


def _of_undecided(undecided: Undecided) -> _Finding:
    return Verdict.WALKED, f"{one_line(str(undecided.statement.place))} is undecided: {_clause(undecided.reason)}."


def _of_guard(guard: GuardCheck) -> str:
    wrong = (*guard.leaks, *guard.wrongly_refused, *guard.untried)
    said = _first(map(str, wrong), len(wrong))
    if guard.set_aside:
        counted = guard.as_evidence()
        rest = f"{counted.refused} of {counted.tried} undeclared writes were refused by the row alone"
        said = "; ".join([_first(guard.set_aside, len(guard.set_aside)), rest, *map(str, wrong[:1])])
    return f"The triggers of the table are credited with no guard: {said}."


def _first(texts: Iterable[str], count: int) -> str:
    """Three texts, and how many more there are."""
    return "; ".join(islice(texts, 3)) + (f", and {count - 3} more" if count > 3 else "")


def _of_dynamic(dynamic: DynamicTarget) -> _Finding:
    sources = ", ".join(one_line(source_text(source)) for source in dynamic.sources)
    place = one_line(str(dynamic.statement.place))
    return Verdict.WALKED, f"{place} has a dynamic target from {sources or 'no state'}: {_clause(dynamic.reason)}."


def _beside(transition: TransitionEvidence) -> str:
    places = places_text(statement.place for statement in transition.written)
    return f" (written at {places})" if places else ""


def _clause(text: str | None) -> str:
    """A sentence of someone else as part of ours: on one line, without its full stop."""
    return one_line(text or "").rstrip(".")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
