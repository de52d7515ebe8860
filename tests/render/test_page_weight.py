"""What a page weighs, and that it carries nothing that it does not use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from arrowproof.model.lifecycle import Kind, Lifecycle, View
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import BUNDLED, NOTES, TWO, Collector, page_of, state

CASES = Path(__file__).parent / "cases"
MOST = 150_000


def weight(page: str) -> int:
    return len(page.encode())


def proven(lifecycle: Lifecycle) -> str:
    evidence = build_evidence(lifecycle, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS)
    return render_page(lifecycle, proof=bring_proof(lifecycle, evidence, "3ad814f6" * 8))


def test_twelve_states_with_and_without_a_proof_weigh_less_than_150_kb() -> None:
    agent = load_lifecycle(CASES / "agent-run.json")
    assert len(agent.states) == 12
    assert weight(render_page(agent)) < MOST
    assert weight(proven(agent)) < MOST


def test_the_bundled_lifecycle_weighs_less_than_150_kb_with_a_proof() -> None:
    assert weight(proven(load_lifecycle(BUNDLED))) < MOST


def test_a_page_embeds_the_faces_and_the_letters_that_it_uses() -> None:
    def faces(lifecycle: Lifecycle) -> tuple[int, int]:
        css = "".join(Collector(page_of(lifecycle)).raw["style"])
        return css.count("@font-face"), css.count("font-style:italic;font-weight")

    passing = replace(TWO, states=(*TWO.states, state("between", Kind.PASSING)))
    assert faces(TWO) == (2, 0)
    assert faces(passing) == (3, 1)
    accented = replace(TWO, summary="Größe")
    assert weight(page_of(accented)) > weight(page_of(TWO)) + 15_000


def test_a_page_carries_the_scripts_of_what_it_has() -> None:
    def script(lifecycle: Lifecycle) -> str:
        return "".join(Collector(page_of(lifecycle)).raw["script"])

    viewed = replace(NOTES, views=(View("all", "All", ("pending",), ()),))
    assert ".view-note" not in script(NOTES)
    assert ".view-note" in script(viewed)
    for part in ("mostZoom", "mostFound", "proofParts"):
        assert part not in script(viewed)
