"""The SVG of one arrow: its rung by line, head and bead, and in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from arrowproof.model.evidence import Evidence, Guard
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.log import Log, LogTransition
from arrowproof.model.rung import Rung
from arrowproof.render.arrow_svg import THICK, THIN, arrow_group, rung_sample, sneak_sample
from arrowproof.render.bundles import bundle_proof
from arrowproof.render.drawing import ArrowPath, Box, TextLine
from arrowproof.render.language import load_language
from arrowproof.render.names import distinct_names
from arrowproof.render.proof import Proof, bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence

AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")
ENGLISH = load_language()
ALL_RUNGS = (
    AGENT_RUNGS | {("running", "reviewing"): "not_written", ("reviewing", "running"): "not_survived"},
    AGENT_SNEAK_PATHS,
)


def proof_of(evidence: Evidence) -> Proof:
    return bring_proof(AGENT, evidence, "ab" * 32)


def group(proof: Proof | None, *arrows: str, has_label: bool = True) -> ElementTree.Element:
    """The parsed group of one arrow, or of a bundle of several that stands for the first."""
    lifecycle = AGENT if proof is None else proof.lifecycle
    places = [[each.id for each in lifecycle.arrows].index(arrow) for arrow in arrows]
    caption = TextLine(proof.captions[arrows[0]], 40, 30, 30) if proof and arrows[0] in proof.captions else None
    label = (TextLine("label", 40, 15, 30),) if has_label else ()
    box = Box(40, 0, 40, 35) if label or caption else None
    path = ArrowPath(arrows[0], ((0, 0), (0, 90)), (0, 40), label, box, caption)
    names = distinct_names(state.id for state in lifecycle.states)
    return ElementTree.fromstring(arrow_group(places, arrows[0], path, lifecycle, names, ENGLISH, proof))


def signs(arrow: ElementTree.Element) -> list[str]:
    """Everything that tells rungs apart without colour: the head, and the shapes in the bead."""
    bead = next(node for node in arrow if (node.get("class") or "").startswith("bead"))
    head = next(node.get("class") or "" for node in arrow if (node.get("class") or "").startswith("tip"))
    return [head, *(node.get("d") or node.get("class") or "" for node in bead)]


def test_without_a_proof_an_arrow_has_a_dot_at_its_label_and_no_tooltip() -> None:
    arrow = group(None, "t1")
    assert arrow.get("class") == "arrow"
    assert arrow.get("aria-label") == "queued to scheduling: worker slot free"
    assert [node.tag for node in arrow] == ["path", "path", "path", "circle", "g"]


def test_an_arrow_whose_label_is_left_out_says_it_in_a_tooltip_and_one_without_any_has_none() -> None:
    left_out = group(None, "t1", has_label=False)
    assert left_out.get("aria-label") is None
    assert [node.text for node in left_out if node.tag == "title"] == ["queued to scheduling: worker slot free"]
    path = ArrowPath("t1", ((0, 0), (0, 90)), (0, 40))
    plain = replace(AGENT, arrows=tuple(replace(arrow, event="", guard="", effect="") for arrow in AGENT.arrows))
    names = distinct_names(state.id for state in plain.states)
    unlabelled = ElementTree.fromstring(arrow_group([0], "t1", path, plain, names, ENGLISH))
    assert unlabelled.get("aria-label") == "queued to scheduling"
    assert [node for node in unlabelled if node.tag == "title"] == []


@pytest.mark.parametrize(
    ("arrow", "classes", "words"),
    [
        ("t1", "arrow holds survived", "survived"),
        ("t2", "arrow holds walked", "walked"),
        ("t13", "arrow wrong missing", "missing"),
        ("t16", "arrow gap written", "written"),
        ("t21", "arrow gap not-written", "not written"),
        ("t22", "arrow wrong not-survived", "not survived"),
        ("sneak path 1", "arrow wrong sneak", "possible"),
    ],
)
def test_an_arrow_says_where_it_stands_by_class_by_name_and_by_tooltip(arrow: str, classes: str, words: str) -> None:
    proof = proof_of(build_evidence(AGENT, ALL_RUNGS[0], sneak_paths=ALL_RUNGS[1]))
    made = group(proof, arrow)
    assert made.get("class") == classes
    assert made[0].tag == "title"
    assert (made[0].text or "").endswith(f", {words}")
    assert "aria-label" not in made.attrib


def test_no_two_rungs_look_alike_without_colour() -> None:
    proof = proof_of(build_evidence(AGENT, ALL_RUNGS[0], sneak_paths=ALL_RUNGS[1]))
    guarded = proof_of(build_evidence(AGENT, guard=Guard(9, 9)))
    looks = [signs(group(proof, arrow)) for arrow in ("t1", "t2", "t13", "t16", "t21", "t22", "sneak path 1")]
    looks.append(signs(group(guarded, "t1")))
    assert len({tuple(look) for look in looks}) == len(looks)


def test_only_what_nobody_has_made_has_an_open_head() -> None:
    proof = proof_of(build_evidence(AGENT, ALL_RUNGS[0], sneak_paths=ALL_RUNGS[1]))
    arrows = [arrow.id for arrow in proof.lifecycle.arrows]
    assert [arrow for arrow in arrows if signs(group(proof, arrow))[0] == "tip open"] == ["t13", "t16"]


def test_the_caption_is_a_line_of_its_own_class_under_the_label() -> None:
    proof = proof_of(build_evidence(AGENT, AGENT_RUNGS))
    label = group(proof, "t16")[-1]
    assert [(node.get("class"), node.text) for node in label if node.tag == "text"] == [
        (None, "label"),
        ("caption", "written"),
    ]
    assert [node.text for node in group(proof, "t1")[-1] if node.tag == "text"] == ["label"]


def test_an_arrow_without_a_label_still_bears_its_sign_and_its_word() -> None:
    proof = proof_of(build_evidence(AGENT, AGENT_RUNGS))
    bare = group(proof, "t13", has_label=False)
    assert [node.text for node in bare.iter("text")] == ["missing"]
    assert signs(group(proof, "t1", has_label=False))[1:] == signs(group(proof, "t1"))[1:]


def test_a_sneak_path_is_marked_so_that_the_page_can_tell_it_from_the_models_arrows() -> None:
    proof = proof_of(build_evidence(AGENT, sneak_paths=AGENT_SNEAK_PATHS))
    sneak = group(proof, "sneak path 1")
    assert (sneak.get("data-from"), sneak.get("data-to"), sneak.get("data-sneak")) == ("cancelled", "completed", "")
    assert group(proof, "t1").get("data-sneak") is None


def test_a_bundle_looks_like_the_lowest_of_its_arrows() -> None:
    proof = bundle_proof(proof_of(build_evidence(AGENT, AGENT_RUNGS)), {"t1": ("t1", "t16")}, ENGLISH)
    low = group(proof, "t1", "t16")
    assert low.get("class") == "arrow bundle gap written"
    assert (low.findtext("title") or "").endswith(", written 1 of 2")


def test_thickness_and_head_grow_with_the_count_of_a_log_and_the_count_is_said() -> None:
    log = Log(
        "runs.csv",
        9,
        None,
        None,
        (LogTransition(None, "queued", 90000), LogTransition("queued", "scheduling", 300)),
        (),
    )
    proof = proof_of(build_evidence(AGENT, log=log))
    most, some, none = (group(proof, arrow) for arrow in ("t0", "t1", "t2"))
    assert [made.get("class") for made in (most, some, none)] == [
        "arrow holds survived f6",
        "arrow holds survived f3",
        "arrow holds survived",
    ]
    assert (most.findtext("title") or "").endswith(", survived, 90,000 times in the log")
    assert (none.findtext("title") or "").endswith(", survived, 0 times in the log")
    heads = [next(node.get("d") for node in made if node.get("class") == "tip") for made in (most, some, none)]
    assert heads == ["M0 90L6.1 76.9H-6.1Z", "M0 90L5 78.7H-5Z", "M0 90L4 80.4H-4Z"]


def test_the_stylesheet_holds_the_width_of_every_step() -> None:
    css = (Path(__file__).parents[2] / "arrowproof/render/templates/page/drawing.css").read_text(encoding="utf-8")
    for step in range(7):
        width = f"{THIN + (THICK - THIN) * step / 6:.1f}".removesuffix(".0")
        assert f"--weight:{width}px" in css, step


@pytest.mark.parametrize("text", ['<script>alert(1)</script>"&', "\x00\u202e\x1b", "x" * 300])
def test_whatever_evidence_says_of_an_end_stays_text(text: str) -> None:
    hostile = replace(AGENT_SNEAK_PATHS[0], target=text)
    proof = proof_of(build_evidence(AGENT, sneak_paths=(hostile,)))
    made = group(proof, "sneak path 1")
    assert {node.tag for node in made.iter()} == {"g", "title", "path", "circle", "rect", "text"}


def test_every_sample_of_the_legend_is_well_formed_and_unlike_the_others() -> None:
    samples = [*(rung_sample(rung) for rung in Rung), sneak_sample()]
    assert len({ElementTree.tostring(ElementTree.fromstring(sample)) for sample in samples}) == len(samples)
