from __future__ import annotations

from pathlib import Path

from arrowproof.model.loader import load_lifecycle
from arrowproof.model.log import Log, LogTransition
from arrowproof.render.language import load_language
from arrowproof.render.legend import ROW, ROW_GAP, legend_height, legend_of_page, legend_of_proof
from arrowproof.render.outline import outline_lifecycle
from arrowproof.render.proof import bring_proof
from arrowproof.render.stage import set_stage
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence

CASES = Path(__file__).parent / "cases"
AGENT = load_lifecycle(CASES / "agent-run.json")
ENGLISH = load_language()


def test_the_legend_names_what_occurs_and_counts_what_is_usual() -> None:
    proof = bring_proof(AGENT, build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS), "")
    assert [item.words for item in legend_of_proof(proof, ENGLISH)] == [
        "missing",
        "written",
        "walked",
        "survived: the other 21 arrows",
        "sneak path",
    ]


def test_the_legend_says_what_thickness_means_where_lines_differ() -> None:
    log = Log("runs.csv", 1, None, None, (LogTransition(None, "queued", 1),), ())
    proof = bring_proof(AGENT, build_evidence(AGENT, log=log), "")
    assert [item.words for item in legend_of_proof(proof, ENGLISH)][-1] == "thicker: more often in the log"
    silent = bring_proof(AGENT, build_evidence(AGENT, log=Log("runs.csv", 0, None, None, (), ())), "")
    assert len(legend_of_proof(silent, ENGLISH)) == 1


def test_a_rung_that_all_arrows_share_is_said_of_all() -> None:
    proof = bring_proof(AGENT, build_evidence(AGENT), "")
    assert [item.words for item in legend_of_proof(proof, ENGLISH)] == ["survived: all 25 arrows"]


def test_the_legend_of_a_large_lifecycle_names_groups_and_what_stands_outside_of_one() -> None:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    stage = set_stage(lifecycle, None, ENGLISH)
    *_, (kinds,) = legend_of_page(outline_lifecycle(lifecycle), stage, None, ENGLISH)
    assert [item.words for item in kinds][-2:] == ["group", "outside the group"]


def test_parts_share_one_row_or_each_flows_by_itself() -> None:
    two = 2 * ROW + ROW_GAP
    assert legend_height([], 40) == ROW
    assert legend_height([((10.0, 10.0),), ((10.0,),)], 40) == ROW
    assert legend_height([((10.0, 10.0),), ((20.0,),)], 40) == two
    assert legend_height([((10.0, 10.0, 10.0, 10.0),)], 30) == two
    assert legend_height([((10.0,), (10.0,), (10.0,)), ((10.0,),)], 30) == 3 * ROW + 2 * ROW_GAP


def test_the_items_of_all_groups_of_a_part_flow_together() -> None:
    assert legend_height([((10.0, 10.0), (10.0, 10.0), (5.0,))], 40) == 2 * ROW + ROW_GAP


def test_a_part_shares_the_row_of_the_next_one_where_it_has_none_before_it() -> None:
    parts = [((10.0, 10.0, 10.0),), ((8.0,), (8.0,)), ((10.0,),)]
    assert legend_height(parts, 40) == 2 * ROW + ROW_GAP
    assert legend_height(parts, 60) == 2 * ROW + ROW_GAP
    assert legend_height(parts, 70) == ROW
