"""The page on the narrowest screens: whatever a proof says and in whatever language, nothing runs out at its side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import LANGUAGES, load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import BUNDLED, show

CASES = Path(__file__).parent / "cases"
LONG = "W" * 300


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("model", [BUNDLED, CASES / "agent-run.json"], ids=lambda model: model.stem)
def test_a_proof_is_no_wider_than_a_screen_of_320_pixels(tab: Page, tmp_path: Path, model: Path, tag: str) -> None:
    lifecycle, language = load_lifecycle(model), load_language(tag)
    is_agent = model != BUNDLED
    evidence = build_evidence(
        lifecycle, AGENT_RUNGS if is_agent else {}, sneak_paths=AGENT_SNEAK_PATHS if is_agent else ()
    )
    evidence = replace(evidence, environment=replace(evidence.environment, database=LONG))
    tab.set_viewport_size({"width": 320, "height": 568})
    proof = bring_proof(lifecycle, evidence, "", (), language)
    show(tab, tmp_path, render_page(lifecycle, language=language, proof=proof))
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
