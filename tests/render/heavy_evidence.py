"""Heavy evidence: about each transition it says as much as it can, in the words of one text."""

from __future__ import annotations

from dataclasses import replace

from arrowproof.model.evidence import (
    Evidence,
    JournalKind,
    JournalRow,
    Place,
    Process,
    Row,
    SneakPath,
    Statement,
    TransitionEvidence,
)
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.log import Log, LogState, LogTransition
from arrowproof.model.transitions import derive_transitions
from tests.render.evidence_builder import build_evidence

SQL = 2000
"""Characters of each statement."""
PLACES = 3
"""Places of each sneak path and of each transition."""

CYRILLIC = "рабочий слот освободился и срок выполнения задания ещё не истёк сегодня вечером"


def heavy_evidence(lifecycle: Lifecycle, text: str, rung: str = "not_survived", sneaks: int = 3) -> Evidence:
    """Evidence in which all is on one rung, with long statements, rows and problems, sneak paths, and a log."""
    evidence = build_evidence(lifecycle, default=rung, sneak_paths=_sneak_paths(lifecycle, text, sneaks))
    transitions = tuple(_heavy(each, number, text) for number, each in enumerate(evidence.transitions))
    counts = tuple(LogTransition(each.source, each.target, 1 + 7919 * n) for n, each in enumerate(transitions))
    medians = tuple(LogState(state.id, 61.5 * number) for number, state in enumerate(lifecycle.states, start=1))
    log = Log("runs", 1_234_567, "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z", counts, medians)
    return replace(evidence, transitions=transitions, log=log)


def _sneak_paths(lifecycle: Lifecycle, text: str, most: int) -> tuple[SneakPath, ...]:
    known = {each.pair for each in derive_transitions(lifecycle)}
    ids = [state.id for state in lifecycle.states]
    pairs = [(source, target) for target in ids for source in reversed(ids) if source != target]
    return tuple(
        SneakPath(
            source,
            target,
            possible=_statements(source, target, number, text),
            happened=(_journal(source, target, number, text),),
        )
        for number, (source, target) in enumerate([pair for pair in pairs if pair not in known][:most])
    )


def _statements(source: str | None, target: str | None, number: int, text: str) -> tuple[Statement, ...]:
    others = "\n".join(f"   AND (column_{each} = :v_{number}_{each} OR '{text[:40]}' <> n)" for each in range(60))
    sql = f"UPDATE runs\n   SET state = '{target}'\n WHERE id = :id_{number}\n   AND state IN ('{source}')\n{others}"
    places = (Place(f"sql/{text[:30]}_{each}.sql", 100 + number, f"make_{number}") for each in range(PLACES))
    return tuple(Statement(place, sql[:SQL]) for place in places)


def _journal(source: str, target: str, number: int, text: str) -> JournalRow:
    key: Row = (("id", number),)
    watched: tuple[Row, Row] = ((("why", f"{number} {text * 3}"),), (("why", f"{text * 3} {number}"),))
    return JournalRow(number + 1, "update", JournalKind.CHANGED, key, source, target, *watched)


def _heavy(found: TransitionEvidence, number: int, text: str) -> TransitionEvidence:
    """The evidence of a transition with long statements, and with long rows, processes and problems of its walks."""

    def row(plain: Row | None, side: str) -> Row | None:
        more = tuple((f"column_{each}_{text[:20]}", f"{side} {number} {each} {text * 5}") for each in range(8))
        return None if plain is None else (*plain, *more)

    def processes(first: int) -> tuple[Process, ...]:
        return tuple(
            Process(f"{text[:40]} {each}", first + 7 * number + each, f"killed {text[:40]}") for each in range(4)
        )

    problem = f"{number} {text * 3}"
    return replace(
        found,
        written=_statements(found.source, found.target, number, text) if found.written else (),
        walks=tuple(
            replace(
                walk,
                before=row(walk.before, "a"),
                after=row(walk.after, "b"),
                processes=processes(100),
                problem=problem,
            )
            for walk in found.walks
        ),
        kills=tuple(replace(kill, problem=problem, processes=processes(200)) for kill in found.kills),
    )
