"""Standing: the rung of every transition and every arrow, from evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.model.evidence import Guard, TransitionEvidence
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.log import Log, LogState, LogTransition
from arrowproof.model.rung import Rung
from arrowproof.render.standing import FREQUENCY_STEPS, stand
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence

AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")


def state(id: str, kind: Kind = Kind.ACTIVE) -> State:
    return State(id, kind, id, id)


JOB = Lifecycle(
    "job",
    "Job",
    (state("pending"), state("try", Kind.PASSING), state("done", Kind.SUCCESS), state("lost", Kind.FAILURE)),
    (
        Arrow("accept", None, "pending"),
        Arrow("pick", "pending", "try"),
        Arrow("fast", "try", "done", guard="cached"),
        Arrow("slow", "try", "done"),
        Arrow("fail", "try", "lost"),
    ),
)


def log(*counts: tuple[str | None, str | None, int]) -> Log:
    times = (LogState("pending", 240.0), LogState("no state", 1.0))
    return Log("jobs.csv", 9, None, None, tuple(LogTransition(*each) for each in counts), times)


@pytest.mark.parametrize("rung", [rung for rung in Rung if rung is not Rung.GUARDED])
def test_a_transition_and_its_arrow_stand_where_the_evidence_puts_them(rung: Rung) -> None:
    standing = stand(JOB, build_evidence(JOB, default=rung))
    assert {each.rung for each in standing.transitions.values()} == {rung}
    assert {each.rung for each in standing.arrows.values()} == {rung}


@pytest.mark.parametrize(("guard", "rung"), [(Guard(4, 4), Rung.GUARDED), (Guard(4, 3), Rung.SURVIVED)])
def test_what_survived_is_guarded_when_every_write_that_was_tried_was_refused(guard: Guard, rung: Rung) -> None:
    standing = stand(JOB, build_evidence(JOB, {(None, "pending"): "walked"}, guard=guard))
    assert standing.transitions["pending", "done"].rung is rung
    assert standing.transitions[None, "pending"].rung is Rung.WALKED


def test_a_walk_that_went_wrong_is_no_walk() -> None:
    evidence = build_evidence(JOB)
    first = evidence.transitions[0]
    wrong = replace(first, walks=(*first.walks, replace(first.walks[0], problem="the row was lost")))
    assert stand(JOB, replace(evidence, transitions=(wrong,))).transitions[None, "pending"].rung is Rung.WRITTEN


def test_one_side_of_a_commit_alone_is_not_survived_and_not_lost() -> None:
    evidence = build_evidence(JOB)
    one = replace(evidence.transitions[0], kills=evidence.transitions[0].kills[:1])
    assert stand(JOB, replace(evidence, transitions=(one,))).transitions[None, "pending"].rung is Rung.WALKED


def test_an_arrow_over_several_transitions_stands_where_the_lowest_does() -> None:
    standing = stand(JOB, build_evidence(JOB, {("pending", "lost"): "written"}))
    pick = standing.arrows["pick"]
    assert (pick.rung, pick.at, pick.over, pick.is_mixed) == (Rung.WRITTEN, 1, 2, True)
    assert standing.arrows["slow"].rung is Rung.SURVIVED
    assert not standing.is_usual("pick")


def test_only_walks_that_took_an_arrow_count_for_it() -> None:
    evidence = build_evidence(JOB)
    done = evidence.transitions[1]
    one_way = replace(done, walks=tuple(walk for walk in done.walks if "fast" in walk.path))
    standing = stand(JOB, replace(evidence, transitions=(evidence.transitions[0], one_way, *evidence.transitions[2:])))
    assert standing.transitions["pending", "done"].rung is Rung.SURVIVED
    assert standing.arrows["fast"].rung is Rung.SURVIVED
    assert standing.arrows["slow"].rung is Rung.WRITTEN


def test_the_usual_rung_is_the_one_that_holds_and_most_arrows_share() -> None:
    standing = stand(AGENT, build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS))
    assert standing.usual is Rung.SURVIVED
    assert standing.usual_count == 21
    assert {arrow for arrow in standing.arrows if not standing.is_usual(arrow)} == {"t13", "t16", "t2", "t24"}


def test_a_gap_is_never_usual_however_many_arrows_share_it() -> None:
    assert stand(AGENT, build_evidence(AGENT, default="missing")).usual is None
    some = stand(AGENT, build_evidence(AGENT, {(None, "queued"): "walked"}, default="written"))
    assert (some.usual, some.usual_count) == (Rung.WALKED, 1)


def test_transitions_that_the_model_does_not_have_and_those_the_evidence_lacks_are_no_error() -> None:
    foreign = TransitionEvidence("moon", None, (("fly",),))
    standing = stand(JOB, replace(build_evidence(JOB), transitions=(foreign,)))
    assert list(standing.transitions) == [(None, "pending"), ("pending", "done"), ("pending", "lost")]
    assert {each.rung for each in standing.arrows.values()} == {Rung.MISSING}


def test_an_arrow_over_no_transition_is_missing() -> None:
    lone = Lifecycle("l", "L", (state("a"), state("b", Kind.PASSING)), (Arrow("out", "b", "a"),))
    standing = stand(lone, build_evidence(lone))
    assert (standing.arrows["out"].rung, standing.arrows["out"].over) == (Rung.MISSING, 0)


def test_a_log_gives_counts_to_transitions_and_arrows_and_times_to_states_of_the_model() -> None:
    counts = log((None, "pending", 1000), ("pending", "done", 900), ("pending", "done", 50), ("moon", "done", 7))
    standing = stand(JOB, build_evidence(JOB, log=counts))
    assert standing.transitions["pending", "done"].count == 950
    assert standing.transitions["pending", "lost"].count == 0
    assert standing.arrows["accept"].count == 1000
    assert (standing.arrows["pick"].count, standing.arrows["pick"].is_exact) == (950, True)
    assert (standing.arrows["slow"].count, standing.arrows["slow"].is_exact) == (950, False)
    assert standing.medians == {"pending": 240.0}


def test_frequent_arrows_are_thicker_on_a_scale_of_logarithms() -> None:
    counts = log((None, "pending", 10**6), ("pending", "done", 1000), ("pending", "lost", 0))
    steps = {arrow: each.step for arrow, each in stand(JOB, build_evidence(JOB, log=counts)).arrows.items()}
    assert steps == {"accept": FREQUENCY_STEPS, "pick": 3, "fast": 3, "slow": 3, "fail": 0}


def test_a_log_of_nothing_thickens_nothing() -> None:
    steps = [each.step for each in stand(JOB, build_evidence(JOB, log=log())).arrows.values()]
    assert steps == [0] * 5
    assert stand(JOB, build_evidence(JOB)).arrows["pick"].count is None
