"""Evidence is untrusted: whatever it says, the page is made, holds no code of it, and is as quick to make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.evidence import (
    Coverage,
    DynamicTarget,
    Environment,
    Evidence,
    Guard,
    Place,
    Process,
    Share,
    SneakPath,
    SourceFile,
    Statement,
    TransitionEvidence,
    Undecided,
)
from arrowproof.model.evidence_document import dump_evidence, load_evidence
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.log import Log, LogState, LogTransition
from arrowproof.model.staleness import find_differences
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import BUNDLED, Collector, show

JOB = load_lifecycle(BUNDLED)
AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")
BAD = "</script></style><script>document.title='broken'</script>\"'&\x00\u202e\x1b" * 3
HUGE = 2**62


def hostile() -> Evidence:
    """Evidence of the bundled job in which every text is a script and every number is huge, as its file gives it."""
    plain = build_evidence(JOB)
    first = plain.transitions[1]
    statement = Statement(Place(BAD, 10**9, BAD), BAD)
    row = ((BAD, BAD),)
    walk = replace(
        first.walks[0],
        source=BAD,
        path=(BAD,),
        key=row,
        processes=(Process(BAD, HUGE, BAD),),
        before=row,
        after=row,
        problem=BAD,
    )
    kill = replace(first.kills[0], point=BAD, problem=BAD, found=row, restarted=row)
    share = Share(HUGE, HUGE)
    evidence = replace(
        plain,
        model_id=BAD,
        model_title=BAD,
        sources=(SourceFile(BAD, "", 0),),
        started=BAD,
        seconds=1e308,
        environment=Environment(BAD, BAD, BAD, BAD, BAD, BAD, BAD),
        transitions=(
            replace(first, written=(statement,), walks=(walk, first.walks[0]), kills=(kill,)),
            TransitionEvidence(BAD, BAD, ((BAD,),), (statement,), (walk,), (kill,)),
            *plain.transitions,
        ),
        sneak_paths=(
            SneakPath(BAD, "pending", (statement,), (), BAD),
            SneakPath("", BAD),
            SneakPath(None, None),
            SneakPath("attempt", "attempt"),
        ),
        undecided=(Undecided(statement, BAD),),
        dynamic=(DynamicTarget(statement, (BAD, None), BAD),),
        reasons=(BAD, BAD * 50),
        coverage=Coverage(share, share, share, share, share),
        log=Log(BAD, HUGE, BAD, BAD, (LogTransition(None, "pending", HUGE),) * 3, (LogState("pending", 1e308),)),
        guard=Guard(HUGE, HUGE),
    )
    return load_evidence(dump_evidence(evidence).encode(), "evidence.json")


def test_no_text_of_evidence_becomes_code(tab: Page, tmp_path: Path) -> None:
    def scripts(page: str) -> int:
        return sum(tag == "script" for tag, _ in Collector(page).elements)

    evidence = hostile()
    strange = render_page(JOB, proof=bring_proof(JOB, evidence, "ab" * 32, find_differences(JOB, evidence)))
    assert scripts(strange) == scripts(render_page(JOB))
    page = render_page(JOB, proof=bring_proof(JOB, evidence, "ab" * 32))
    assert scripts(page) == scripts(render_page(JOB, proof=bring_proof(JOB, build_evidence(JOB), "")))
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    show(tab, tmp_path, page)
    for sneak in tab.locator("[data-sneak]").all():
        sneak.focus()
        tab.keyboard.press("Enter")
    assert tab.title() != "broken"
    assert errors == []


@pytest.mark.parametrize("lifecycle", [JOB, AGENT], ids=["another model's", "its own"])
def test_evidence_of_another_model_is_drawn_as_far_as_it_goes(lifecycle: object) -> None:
    evidence = build_evidence(AGENT, sneak_paths=AGENT_SNEAK_PATHS)
    page = render_page(lifecycle, proof=bring_proof(lifecycle, evidence, ""))  # type: ignore[arg-type]
    assert "sneak path" in page


def test_a_page_of_very_much_evidence_stays_small() -> None:
    plain = build_evidence(JOB)
    much = replace(
        plain,
        sneak_paths=tuple(SneakPath("completed", f"value {number}") for number in range(2000)),
        reasons=tuple(f"reason {number}" for number in range(2000)),
        transitions=tuple(replace(each, walks=each.walks * 500, kills=each.kills * 500) for each in plain.transitions),
    )
    small, large = (len(render_page(JOB, proof=bring_proof(JOB, each, ""))) for each in (plain, much))
    assert large < small + 40_000
