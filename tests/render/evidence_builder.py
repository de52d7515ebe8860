"""Evidence made by hand: a proof of any lifecycle in which each transition stands where a test wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arrowproof.conformance.coverage import measure_coverage
from arrowproof.conformance.verdict import judge
from arrowproof.model.evidence import (
    Environment,
    Evidence,
    Guard,
    JournalKind,
    JournalRow,
    Kill,
    Place,
    Process,
    Row,
    Side,
    SneakPath,
    SourceFile,
    Statement,
    TransitionEvidence,
    Walk,
)
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.log import Log
from arrowproof.model.transitions import Pair, Transition, derive_transitions

AGENT_RUNGS: Mapping[Pair, str] = {
    ("approval", "failed"): "missing",
    ("paused", "cancelled"): "written",
    ("queued", "cancelled"): "walked",
    ("running", "cancelled"): "walked",
}
"""Of tests/render/cases/agent-run.json: one missing, one written, two walked; the rest survived."""

AGENT_SNEAK_PATHS = (
    SneakPath(
        "cancelled",
        "completed",
        possible=(
            Statement(
                Place("sql/review.sql", 31, "accept_review"),
                "UPDATE runs\n   SET state = 'completed'\n WHERE id = :id\n   AND state IN ('reviewing', 'cancelled')",
            ),
        ),
    ),
)


def build_evidence(
    lifecycle: Lifecycle,
    rungs: Mapping[Pair, str] | None = None,
    *,
    default: str = "survived",
    sneak_paths: Sequence[SneakPath] = (),
    log: Log | None = None,
    guard: Guard | None = None,
) -> Evidence:
    """Evidence of a lifecycle, with coverage and verdict as a proof would find them.

    ``rungs`` says where a transition stands: missing, not_survived, written, not_written, walked or survived, and
    ``default`` where all others do. Every path of a walked transition is walked.
    """
    transitions = tuple(
        _transition(each, number, (rungs or {}).get(each.pair, default))
        for number, each in enumerate(derive_transitions(lifecycle))
    )
    verdict, reasons = judge(transitions, sneak_paths)
    return Evidence(
        model_id=lifecycle.id,
        model_title=lifecycle.title,
        model_sha256=lifecycle.origin.sha256,
        sources=(SourceFile("sql/runs.sql", "ab" * 32, len(transitions)),),
        started="2030-01-02T03:04:05Z",
        seconds=127.25,
        environment=Environment("0.1.0", "3.11.7", "Linux x86_64", "PostgreSQL", "17.2"),
        transitions=transitions,
        sneak_paths=tuple(sneak_paths),
        undecided=(),
        dynamic=(),
        coverage=measure_coverage(lifecycle, transitions),
        verdict=verdict,
        reasons=reasons,
        log=log,
        guard=guard,
    )


def _transition(transition: Transition, number: int, rung: str) -> TransitionEvidence:
    is_written = rung not in ("missing", "not_written")
    is_walked = rung not in ("missing", "written")
    is_killed = rung in ("survived", "not_survived")
    problem = "the restart left the row where it was" if rung == "not_survived" else None
    return TransitionEvidence(
        transition.source,
        transition.target,
        transition.paths,
        (_statement(transition, number),) if is_written else (),
        tuple(_walk(transition, path, number) for path in transition.paths) if is_walked else (),
        tuple(_kill(transition, side, number, problem) for side in Side) if is_killed else (),
    )


def _statement(transition: Transition, number: int) -> Statement:
    place = Place("sql/runs.sql", 10 * number + 1, f"make_{number}")
    if transition.source is None:
        return Statement(place, f"INSERT INTO runs (state)\nVALUES ('{transition.target}')")
    if transition.target is None:
        return Statement(place, f"DELETE FROM runs\n WHERE state = '{transition.source}'")
    return Statement(
        place,
        f"UPDATE runs\n   SET state = '{transition.target}'\n WHERE id = :id\n   AND state = '{transition.source}'",
    )


def _row(state: str | None) -> Row | None:
    return None if state is None else (("id", 7), ("state", state), ("restarts", 0), ("slot", 3))


def _journal(transition: Transition, number: int) -> tuple[JournalRow, ...]:
    operation = "insert" if transition.source is None else "delete" if transition.target is None else "update"
    key: Row = (("id", 7),)
    return (JournalRow(number + 1, operation, JournalKind.CHANGED, key, transition.source, transition.target, (), ()),)


def _walk(transition: Transition, path: tuple[str, ...], number: int) -> Walk:
    return Walk(
        transition.source,
        transition.target,
        path,
        (("id", 7),),
        (Process("worker", 5108, "exit 0"), Process("worker", 5123, "running")),
        _row(transition.source),
        _row(transition.target),
        _journal(transition, number),
    )


def _kill(transition: Transition, side: Side, number: int, problem: str | None) -> Kill:
    found = transition.source if side is Side.BEFORE else transition.target
    return Kill(
        transition.source,
        transition.target,
        side,
        "before-commit" if side is Side.BEFORE else "after-commit",
        (("id", 7),),
        (Process("worker", 5108, "killed"), Process("worker", 5123, "exit 0")),
        _row(transition.source),
        _row(found),
        _row(transition.target),
        _journal(transition, number),
        problem,
    )
