"""The report: what its text, JSON and HTML forms share.

A report is made of one evidence record and its lifecycle, by pure functions. Its *stable* form holds only what the same
code and the same model give again on any day and machine, so that a committed report can be compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from arrowproof.conformance.display import value_text
from arrowproof.conformance.verdict import causes_of
from arrowproof.model.evidence import (
    Detour,
    Environment,
    Evidence,
    IllegalEvent,
    Interleaving,
    JournalKind,
    JournalRow,
    Kill,
    Process,
    RandomWalks,
    Row,
    Scalar,
    Share,
    SneakPath,
    Statement,
    TransitionEvidence,
    Walk,
)
from arrowproof.model.lifecycle import Binding, Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import transition_name

COVERAGE_NAMES: Mapping[str, str] = {
    "pairs": "transition pairs",
    "kills": "kills survived",
    "events": "illegal events without effect",
    "guard": "undeclared writes refused",
}
"""What reports call a share of the coverage, where the name of its field is not all of it."""

NO_ENVIRONMENT = Environment("", "", "", "", "")
"""Stands in a stable report, which says nothing of the machine."""


def walk_tally(transition: TransitionEvidence) -> Share:
    """The walks of a transition that went right, of those made."""
    return Share(sum(walk.problem is None for walk in transition.walks), len(transition.walks))


def kill_tally(transition: TransitionEvidence) -> Share:
    """The kills that a transition survived, of those made."""
    return Share(sum(kill.problem is None for kill in transition.kills), len(transition.kills))


def interleaving_tally(evidence: Evidence) -> Share:
    """The interleavings that came out right, of those tried."""
    return Share(sum(it.problem is None for it in evidence.interleavings), len(evidence.interleavings))


@record
class Rivalry:
    """What an interleaving was, in words: whose transitions, where the first waited, and what the others came to."""

    first: str
    rival: str
    workers: str
    moment: str
    others: str
    outcome: str
    problem: str | None


def rivalries(evidence: Evidence) -> tuple[Rivalry, ...]:
    """The interleavings of a proof, as reports show them."""
    return tuple(map(_rivalry, evidence.interleavings))


def _rivalry(it: Interleaving) -> Rivalry:
    counts = {"waited": it.waited, "not seen": it.unseen, "ended": it.rivals - it.waited - it.unseen}
    others = [f"{count} {what}" for what, count in counts.items() if count]
    steps = [row for row in it.journal if row.kind is not JournalKind.TOUCHED]
    outcome = ", ".join(f"{_value(row.old_state)} → {_value(row.new_state, row.operation)}" for row in steps[:4])
    return Rivalry(
        first=transition_name(it.source, it.target),
        rival=transition_name(it.source, it.rival),
        workers=str(1 + it.rivals),
        moment=str(it.moment),
        others=" and ".join(others),
        outcome=outcome or "unchanged",
        problem=it.problem,
    )


def _value(state: Scalar, operation: str = "update") -> str:
    return "removed" if operation == "delete" else value_text(state)


def open_sneak_paths(evidence: Evidence) -> tuple[SneakPath, ...]:
    """The sneak paths that nobody has accepted."""
    return tuple(path for path in evidence.sneak_paths if path.accepted is None)


def accepted_sneak_paths(evidence: Evidence) -> tuple[SneakPath, ...]:
    """The sneak paths that the owner has accepted, each with a reason."""
    return tuple(path for path in evidence.sneak_paths if path.accepted is not None)


@record
class OpenStatement:
    """A statement that the scan cannot decide, and why. A guard closes one whose target alone is not known."""

    statement: Statement
    reason: str
    is_closed: bool


CLOSED = "the guard refuses every other target"
"""What is said of an open statement that a guard closes."""


def open_statements(evidence: Evidence) -> tuple[OpenStatement, ...]:
    """What is undecided, and then what has a dynamic target."""
    undecided = [OpenStatement(it.statement, it.reason, is_closed=False) for it in evidence.undecided]
    dynamic = [OpenStatement(it.statement, it.reason, evidence.is_guarded) for it in evidence.dynamic]
    return (*undecided, *dynamic)


def fate(path: SneakPath) -> str:
    """What is known of a sneak path in one or two words."""
    possible = "possible in a race" if path.only_in_race else "possible"
    if not path.happened:
        return possible
    times = "once" if len(path.happened) == 1 else f"{len(path.happened)} times"
    return f"happened {times}" + (f", {possible}" if path.possible else "")


@record
class Reason:
    """A reason, and how many others of the verdict have the same cause."""

    text: str
    alike: int = 0

    @property
    def alike_text(self) -> str:
        """The line for the others."""
        return f"and {self.alike} more for the same reason"


def grouped_reasons(evidence: Evidence) -> tuple[Reason, ...]:
    """The reasons of a verdict in their order; of those with one cause the first, which counts the others.

    The walks and kills of many transitions fail alike when a driver does. The evidence keeps every reason.
    """
    causes = {text: cause for transition in evidence.transitions for text, cause in causes_of(transition)}
    groups: dict[str, list[str]] = {}
    for text in evidence.reasons:
        groups.setdefault(causes.get(text, text), []).append(text)
    return tuple(Reason(texts[0], len(texts) - 1) for texts in groups.values())


def stale_words(evidence: Evidence) -> str:
    """The verdict of evidence that is not of today."""
    return f"Stale, {evidence.verdict} then"


def figures(evidence: Evidence) -> Mapping[str, str]:
    """Coverage, kills where some were made, sneak paths and what a guard refused as (what, figure), in their order."""
    coverage, guard = evidence.coverage, evidence.guard
    refused = {} if guard is None else {COVERAGE_NAMES["guard"]: f"{guard.refused} of {guard.tried}"}
    tally = interleaving_tally(evidence)
    return {
        "transitions": str(coverage.transitions),
        "states": str(coverage.states),
        "arrows": str(coverage.arrows),
        COVERAGE_NAMES["pairs"]: str(coverage.pairs),
        **({COVERAGE_NAMES["kills"]: str(coverage.kills)} if evidence.has_kills else {}),
        **({} if coverage.events is None else {COVERAGE_NAMES["events"]: str(coverage.events)}),
        **({"interleavings": str(tally)} if tally.total else {}),
        **refused,
        "sneak paths": str(len(open_sneak_paths(evidence))),
    }


@record
class Remark:
    """What a report says beside the verdict, as a heading and one sentence a line."""

    title: str
    lines: tuple[str, ...]


def remarks(evidence: Evidence) -> tuple[Remark, ...]:
    """Random walks, what went otherwise on a longer way, and what was not tried; none when there is nothing to say."""
    found = (
        Remark("Random walks", tuple(_random_walks(evidence.random_walks))),
        Remark(
            "What went otherwise on a longer way, and was walked on the shortest", tuple(map(_detour, evidence.detours))
        ),
        Remark("What was not tried", evidence.left_out),
    )
    return tuple(remark for remark in found if remark.lines)


def _random_walks(walks: RandomWalks | None) -> Iterator[str]:
    """What was walked; and the steps of the shortest one that failed, one a line."""
    if walks is None:
        return
    yield f"{walks.walks} walks, {walks.steps} steps; --walks {walks.asked} --seed {walks.seed} makes them again."
    if walks.problem is not None:
        yield "The shortest that failed:"
        yield from (f"{number}. {step}" for number, step in enumerate(walks.failed, start=1))
        yield walks.problem


def _detour(detour: Detour) -> str:
    return f"{', '.join(detour.steps)}: {detour.problem}"


def stable_evidence(evidence: Evidence, lifecycle: Lifecycle) -> Evidence:
    """The evidence without what another run of the same code would change.

    Left out: times, durations, process ids, keys, the order numbers of the journal, the environment, and every column
    but the state and the watched ones. A watched column that holds a time keeps the report from being stable.
    """
    binding = lifecycle.binding or Binding("", ())
    return replace(
        evidence,
        started="",
        seconds=0.0,
        environment=NO_ENVIRONMENT,
        transitions=tuple(
            replace(
                transition,
                walks=tuple(
                    replace(_stable_trial(walk, binding), processes=_stable_processes(walk.processes))
                    for walk in transition.walks
                ),
                kills=tuple(_stable_kill(kill, binding) for kill in transition.kills),
            )
            for transition in evidence.transitions
        ),
        events=tuple(replace(_stable_trial(event, binding), answer="") for event in evidence.events),
        interleavings=tuple(
            replace(_stable_trial(it, binding), processes=_stable_processes(it.processes))
            for it in evidence.interleavings
        ),
        sneak_paths=tuple(
            replace(path, happened=tuple(map(_stable_journal_row, path.happened))) for path in evidence.sneak_paths
        ),
    )


_Trial = TypeVar("_Trial", Walk, Interleaving, IllegalEvent)


def _stable_trial(trial: _Trial, binding: Binding) -> _Trial:
    return replace(
        trial,
        key=(),
        before=_bound_columns(trial.before, binding),
        after=_bound_columns(trial.after, binding),
        journal=tuple(map(_stable_journal_row, trial.journal)),
    )


def _stable_kill(kill: Kill, binding: Binding) -> Kill:
    return replace(
        kill,
        key=None,
        processes=_stable_processes(kill.processes),
        before=_bound_columns(kill.before, binding),
        found=_bound_columns(kill.found, binding),
        restarted=_bound_columns(kill.restarted, binding),
        journal=tuple(map(_stable_journal_row, kill.journal)),
    )


def _stable_processes(processes: Iterable[Process]) -> tuple[Process, ...]:
    return tuple(replace(process, pid=0) for process in processes)


def _bound_columns(row: Row | None, binding: Binding) -> Row | None:
    columns = {binding.state, *binding.watch}
    return None if row is None else tuple(pair for pair in row if pair[0] in columns)


def _stable_journal_row(row: JournalRow) -> JournalRow:
    return replace(row, order=0, key=(), query=None)
