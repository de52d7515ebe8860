"""Pages with a proof to look at: of the bundled service, of an agent's run, and one in which every text is hostile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arrowproof.model.evidence import (
    Evidence,
    JournalKind,
    JournalRow,
    Place,
    Process,
    SneakPath,
    Statement,
    TransitionEvidence,
)
from arrowproof.model.evidence_document import load_evidence
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Panel
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import Language
from arrowproof.render.page import render_page
from arrowproof.render.proof import Proof, bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import BUNDLED, ROOT, SCRIPT, state

CASES = Path(__file__).parent / "cases"
BIDI = "\u202eevil\u2066 دورة حياة\x00\x07"
LONG = "Überraschungsfrei" * 18


def proof_of(lifecycle: Lifecycle, evidence: Evidence, language: Language | None = None) -> Proof:
    return bring_proof(lifecycle, evidence, "71d0e2c4" + "0" * 56, (), language)


def proof_page(lifecycle: Lifecycle, evidence: Evidence, language: Language | None = None) -> str:
    """The page of a lifecycle with its evidence, laid out as a command does it."""
    return render_page(lifecycle, None, language, proof_of(lifecycle, evidence, language))


def notes() -> tuple[Lifecycle, Evidence]:
    """The bundled service and the evidence that is committed."""
    file = ROOT / "artifacts" / "notes-job.evidence.json"
    return load_lifecycle(BUNDLED), load_evidence(file.read_bytes(), file.name)


def agent() -> tuple[Lifecycle, Evidence]:
    """An agent's run that is not proven; the statement of its sneak path makes a transition as well."""
    drawn = load_lifecycle(CASES / "agent-run.json")
    lifecycle = replace(drawn, binding=Binding("runs", ("id",), "state", watch=("restarts",)))
    evidence = build_evidence(lifecycle, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS)
    return lifecycle, written_by(evidence, ("reviewing", "completed"), AGENT_SNEAK_PATHS[0].possible[0])


def written_by(evidence: Evidence, pair: tuple[str | None, str | None], *statements: Statement) -> Evidence:
    """The evidence with one transition written by these statements."""
    return replace(
        evidence,
        transitions=tuple(
            replace(each, written=statements) if (each.source, each.target) == pair else each
            for each in evidence.transitions
        ),
    )


def hostile() -> tuple[Lifecycle, Evidence]:
    """Everything that is too long, too much or meant to break the page, at once, in one panel of each kind."""
    lifecycle = Lifecycle(
        "hostile",
        SCRIPT,
        (
            state("a", Kind.WAITING, LONG),
            state("b", Kind.PASSING, BIDI),
            state("c", Kind.SUCCESS, SCRIPT),
            state("d", Kind.FAILURE),
        ),
        (
            Arrow(SCRIPT, None, "a", LONG),
            Arrow(LONG, "a", "b", BIDI),
            Arrow("bc", "b", "c"),
            *(Arrow(f"bd{number}", "b", "d", f"{LONG} {number}") for number in range(3)),
            Arrow("remove", "d", None),
        ),
        binding=Binding(LONG, (LONG,), "state"),
        panels=(Panel(SCRIPT, (LONG[:60],)),),
    )
    evidence = build_evidence(lifecycle, {("a", "c"): "not_survived"}, sneak_paths=_hostile_sneak_paths())
    return lifecycle, replace(
        evidence,
        started=BIDI,
        reasons=tuple(f"{text} {number}" for number in range(3) for text in (LONG * 3, SCRIPT, BIDI)),
        transitions=tuple(_made_hostile(each) for each in evidence.transitions),
    )


def _long_statement(line: int) -> Statement:
    filler = "\n".join(f"     , column_{number} = '{SCRIPT}{LONG}'" for number in range(40))
    sql = f"UPDATE runs\n   SET state = 'd'\n{filler}\n WHERE note = '{BIDI}' AND state IN ('a', 'c')"
    return Statement(Place(f"{LONG}/{SCRIPT}.sql", line), sql)


def _hostile_sneak_paths() -> tuple[SneakPath, ...]:
    row = JournalRow(1, "update", JournalKind.CHANGED, (), LONG, BIDI, (), tuple((f"{LONG}{n}", n) for n in range(20)))
    statements = tuple(_long_statement(number) for number in range(1, 9))
    return (
        SneakPath(LONG, SCRIPT, statements, (row,) * 3),
        SneakPath("c", "d", statements, (), BIDI + LONG * 2),
        *(SneakPath(f"{SCRIPT}{number}", BIDI, (), (row,)) for number in range(14)),
    )


def _made_hostile(transition: TransitionEvidence) -> TransitionEvidence:
    wide = tuple((f"{text[:40]}{number}", text) for number in range(8) for text in (LONG, SCRIPT, BIDI))
    processes = tuple(Process(text, number, text) for number in range(5) for text in (LONG, SCRIPT, BIDI))
    return replace(
        transition,
        written=tuple(_long_statement(number) for number in range(6)) if transition.written else (),
        walks=tuple(
            replace(
                walk,
                processes=processes,
                before=None if walk.before is None else (*walk.before, *wide),
                after=None if walk.after is None else (*walk.after, *((name, "new") for name, _ in wide)),
                problem=LONG * 5 if transition.target == "d" else None,
            )
            for walk in transition.walks
        ),
        kills=tuple(
            replace(kill, processes=processes, found=(("state", LONG),), problem=kill.problem and LONG * 4)
            for kill in transition.kills
        ),
    )


PROOFS = {"notes": notes, "agent run": agent, "hostile": hostile}


def whole_panels(data: Mapping[str, Any]) -> list[Any]:
    """The panels of a page's proof data, with what they share put back into each."""

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: whole(each) for key, each in value.items()}
        if isinstance(value, int) and value < 0:
            return data["same"][-value - 1]
        return [whole(each) for each in value] if isinstance(value, list) else value

    return [whole(panel) for panel in data["panels"]]
