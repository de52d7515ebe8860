from __future__ import annotations

from pathlib import Path

from arrowproof.model.evidence import Log, LogTransition
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import load_language
from arrowproof.render.legend import ROW, ROW_GAP, legend_height, legend_of_proof
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence

AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")
ENGLISH = load_language()


def test_the_legend_names_what_occurs_and_counts_what_is_usual() -> None:
    proof = bring_proof(AGENT, build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS), "")
    assert [item.words for item in legend_of_proof(proof, ENGLISH)] == [
        "missing",
        "written",
        "walked",
        "survived: 21 of 25 arrows, where no word stands",
        "sneak path",
    ]


def test_the_legend_says_what_thickness_means_where_lines_differ() -> None:
    log = Log("runs.csv", 1, None, None, (LogTransition(None, "queued", 1),), ())
    proof = bring_proof(AGENT, build_evidence(AGENT, log=log), "")
    assert [item.words for item in legend_of_proof(proof, ENGLISH)][-1] == "thicker: more often in the log"
    silent = bring_proof(AGENT, build_evidence(AGENT, log=Log("runs.csv", 0, None, None, (), ())), "")
    assert len(legend_of_proof(silent, ENGLISH)) == 1


def test_groups_flow_in_rows_and_one_that_is_too_wide_flows_by_itself() -> None:
    two = 2 * ROW + ROW_GAP
    assert legend_height([], 40) == ROW
    assert legend_height([(10.0, 10.0), (10.0,)], 40) == ROW
    assert legend_height([(10.0, 10.0), (20.0,)], 40) == two
    assert legend_height([(10.0, 10.0, 10.0, 10.0)], 30) == two
