from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.model.evidence import DynamicTarget, Evidence, Place, Share, SneakPath, Statement, Undecided, Verdict
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.staleness import Difference, DifferenceKind
from arrowproof.render.language import load_language
from arrowproof.render.proof import bring_proof
from arrowproof.render.proof_header import ProofHeader, head_proof, stale_reasons
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence

AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")
ENGLISH = load_language()
STATEMENT = Statement(Place("a.sql", 1), "UPDATE runs SET state = :state")


def head(evidence: Evidence) -> ProofHeader:
    return head_proof(bring_proof(AGENT, evidence, "3ad814f6" * 8), ENGLISH)


def figures(evidence: Evidence) -> list[tuple[str, str, str]]:
    return [(figure.number, figure.caption, figure.tone) for figure in head(evidence).figures]


def test_verdict_and_figures_are_those_of_the_evidence() -> None:
    evidence = build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS)
    header = head(evidence)
    assert (header.verdict, header.tone, header.transitions) == ("Not proven", "wrong", "23 of 25 transitions walked")
    assert figures(evidence) == [
        ("12 of 12", "states", ""),
        ("23 of 25", "arrows", ""),
        ("7 of 56", "transition pairs", ""),
        ("42 of 50", "kills survived", "gap"),
        ("1", "sneak path", "wrong"),
    ]


def test_where_no_kill_was_made_none_is_counted() -> None:
    evidence = build_evidence(AGENT)
    walked = tuple(replace(transition, kills=()) for transition in evidence.transitions)
    assert "kills survived" not in [caption for _, caption, _ in figures(replace(evidence, transitions=walked))]


@pytest.mark.parametrize(("verdict", "tone"), [(Verdict.PROVEN, "holds"), (Verdict.WALKED, "gap")])
def test_every_verdict_has_its_tone(verdict: Verdict, tone: str) -> None:
    assert head(replace(build_evidence(AGENT), verdict=verdict)).tone == tone


def test_the_origin_is_time_duration_database_and_the_hash_of_the_evidence() -> None:
    spoken = [fact.spoken for fact in head(build_evidence(AGENT)).origin]
    assert spoken == ["2 Jan 2030, 03:04 UTC", "2 min 7 s", "PostgreSQL 17.2", "evidence 3ad814f6"]


def test_a_database_with_a_long_name_is_bounded() -> None:
    evidence = build_evidence(AGENT)
    long = replace(evidence, environment=replace(evidence.environment, database="x" * 900))
    assert len(head(long).origin[2].text) == 60


def test_accepted_sneak_paths_are_counted_and_named_so() -> None:
    accepted = replace(AGENT_SNEAK_PATHS[0], accepted="by hand")
    assert figures(build_evidence(AGENT, sneak_paths=(accepted,)))[-1] == ("1", "sneak path, 1 accepted", "")


def test_more_sneak_paths_than_are_drawn_say_how_many_are() -> None:
    many = tuple(SneakPath("completed", f"v{number}") for number in range(15))
    assert figures(build_evidence(AGENT, sneak_paths=many))[-1] == ("15", "sneak paths, 12 drawn", "wrong")


def test_undecided_statements_and_dynamic_targets_are_counted_where_there_are_any() -> None:
    unclear = replace(
        build_evidence(AGENT),
        undecided=(Undecided(STATEMENT, "not SQL"),) * 2,
        dynamic=(DynamicTarget(STATEMENT, (None,), "a parameter"),),
    )
    assert figures(unclear)[-2:] == [("2", "undecided statements", "gap"), ("1", "dynamic target", "gap")]


def test_reasons_for_being_stale_name_both_hashes_and_the_sources() -> None:
    differences = [Difference(DifferenceKind.VERSION, "66d180c0" * 8, "9f2c41ba" * 8)]
    differences += [Difference(DifferenceKind.CHANGED, f"{name}.sql") for name in "abcde"]
    differences += [Difference(DifferenceKind.NEW, "z.sql")]
    assert stale_reasons(differences, ENGLISH) == (
        "This evidence is of another version of the model: evidence 9f2c41ba, page 66d180c0.",
        "5 sources have changed since: a.sql, b.sql, c.sql and 2 more.",
        "A source is new: z.sql.",
    )


def test_reasons_for_being_stale_are_bounded_whatever_the_evidence_says() -> None:
    reasons = stale_reasons([Difference(DifferenceKind.MODEL, "job", "\x1b" * 9000)], ENGLISH)
    assert reasons == (
        f"This evidence is of another model, and nothing of it is shown: evidence “{'�' * 60}”, page “job”.",
    )
    assert stale_reasons([Difference(DifferenceKind.VERSION, "", "ab")], ENGLISH)[0].endswith("evidence ab, page ?.")


def test_a_figure_of_any_size_is_bounded() -> None:
    evidence = build_evidence(AGENT)
    huge = replace(
        evidence, coverage=replace(evidence.coverage, states=Share(2**62, 99_999), transitions=Share(1, 2**62))
    )
    assert figures(huge)[0][0] == "99,999+ of 99,999"
    assert head(huge).transitions == "1 of 99,999+ transitions walked"
