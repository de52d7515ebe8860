"""The overview of a lifecycle with a crowd of arrows: however small its lines come out, the fit check sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.render.fit import SCREENS, check_pages
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import build_evidence
from tests.render.test_scenes import SAYS_MUCH, crowded

RUNGS = ("missing", "walked", "survived", "guarded")


@pytest.mark.parametrize(
    ("states", "crowd", "says", "is_proven"),
    [
        (26, 40, "go", False),
        (26, 60, SAYS_MUCH, False),
        (26, 40, SAYS_MUCH, True),
        (60, 20, "go", False),
        (60, 20, SAYS_MUCH, True),
    ],
)
def test_a_page_whose_overview_has_a_crowd_fits(
    tmp_path: Path, states: int, crowd: int, says: str, is_proven: bool
) -> None:
    model = crowded(states, crowd, says)
    rungs = {(arrow.source, arrow.target): RUNGS[place % 4] for place, arrow in enumerate(model.arrows)}
    proof = bring_proof(model, build_evidence(model, rungs), "") if is_proven else None
    page = tmp_path / "page.html"
    page.write_text(render_page(model, proof=proof), encoding="utf-8")
    # The smallest screen and the largest, in both themes; the smallest also shows every scene.
    report = check_pages([page], tmp_path, screens=(*SCREENS[:2], *SCREENS[-2:]))
    assert [str(failure) for failure in report.pages[0].all_failures] == []
