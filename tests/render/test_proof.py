from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.model.evidence import SneakPath
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.log import Log, LogState, LogTransition
from arrowproof.model.rung import Rung
from arrowproof.render.language import Language, load_language
from arrowproof.render.layout.sizes import measure_state
from arrowproof.render.legend import legend_of_proof
from arrowproof.render.proof import arrow_words, bring_proof, count_words, rung_words
from arrowproof.render.sneak_arrows import MANY
from arrowproof.render.stage import set_stage
from arrowproof.render.standing import ArrowStanding
from arrowproof.render.svg import render_scene
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.extremes import with_sneak_paths

AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")
ENGLISH, JAPANESE = load_language("en"), load_language("ja")


def test_an_arrow_bears_a_word_unless_it_stands_where_most_do() -> None:
    proof = bring_proof(AGENT, build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS), "")
    assert dict(proof.captions) == {
        "t2": "walked",
        "t13": "missing",
        "t16": "written",
        "t24": "walked",
        "sneak path 1": "possible",
    }


def test_the_words_are_those_of_the_language() -> None:
    evidence = build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS)
    proof = bring_proof(AGENT, evidence, "", language=JAPANESE)
    assert proof.captions["t13"] == "欠落"
    assert proof.lifecycle.arrows[-1].event == "抜け道"


def test_sneak_paths_that_are_not_drawn_are_counted() -> None:
    many = tuple(SneakPath("completed", f"value {number}") for number in range(15))
    proof = bring_proof(AGENT, build_evidence(AGENT, sneak_paths=many), "")
    assert (len(proof.sneak_paths), proof.undrawn) == (12, 3)


def test_many_sneak_paths_have_a_word_beside_a_legend_only_where_their_fate_is_not_that_of_most() -> None:
    few, many = (with_sneak_paths(AGENT, count, 2) for count in (MANY, MANY + 2))
    proof = bring_proof(AGENT, few, "")
    assert proof.beside_legend == (proof.lifecycle, proof.captions)
    paths = (replace(many.sneak_paths[0], accepted="It is meant."), *many.sneak_paths[1:])
    proof = bring_proof(AGENT, replace(many, sneak_paths=paths), "")
    lifecycle, captions = proof.beside_legend
    assert {arrow.label for arrow in lifecycle.arrows if arrow.id in proof.sneak_paths} == {""}
    assert list(captions.values()) == ["possible, accepted"]
    assert [item.words for item in legend_of_proof(proof, ENGLISH)][-1] == "sneak path, possible: the other 7 arrows"


def test_a_sneak_path_without_a_word_on_its_line_still_says_what_it_is_to_a_screen_reader() -> None:
    proof = bring_proof(AGENT, with_sneak_paths(AGENT, MANY + 2, 2), "")
    (scene,) = set_stage(AGENT, None, ENGLISH, proof).scenes
    svg = render_scene(scene, proof.lifecycle, ENGLISH)
    assert svg.count("sneak path, possible</title>") == MANY + 2
    assert "sneak path</text>" not in svg
    assert legend_of_proof(proof, ENGLISH)[-1].words == "sneak path, possible"


def test_the_median_time_in_a_state_stands_in_its_note() -> None:
    log = Log("runs.csv", 1, None, None, (LogTransition(None, "queued", 1),), (LogState("queued", 240.0),))
    proof = bring_proof(AGENT, build_evidence(AGENT, log=log), "")
    notes = {state.id: state.note for state in proof.lifecycle.states}
    assert (notes["queued"], notes["running"]) == ("median 4 min", None)
    assert AGENT.states_by_id["queued"].note is None


def test_an_arrow_whose_transitions_differ_says_how_many_stand_so_low() -> None:
    assert rung_words(ArrowStanding(Rung.WRITTEN, 1, 3), ENGLISH) == "written 1 of 3"
    assert rung_words(ArrowStanding(Rung.NOT_SURVIVED, 3, 3), ENGLISH) == "not survived"


@pytest.mark.parametrize(
    ("language", "words"), [(ENGLISH, "survived, 1 time in the log"), (JAPANESE, "強制終了に耐えた、ログに 1 回")]
)
def test_the_rung_of_an_arrow_and_its_count_are_parted_as_the_language_does_it(language: Language, words: str) -> None:
    log = Log("runs.csv", 1, None, None, (LogTransition(None, "queued", 1),), ())
    proof = bring_proof(AGENT, build_evidence(AGENT, log=log), "", (), language)
    assert arrow_words(AGENT.arrows[0].id, proof, language) == words


def test_counts_of_a_log_say_when_they_are_an_upper_bound() -> None:
    assert count_words(1, True, ENGLISH) == "1 time in the log"
    assert count_words(1234567, True, ENGLISH) == "1,234,567 times in the log"
    assert count_words(0, False, ENGLISH) == "at most 0 times in the log"


def test_a_median_stands_on_a_line_of_its_own_below_the_models_note_however_long_that_is() -> None:
    state = replace(AGENT.states[0], note="waits for a slot on a worker of its own pool")
    noted = replace(AGENT, states=(state, *AGENT.states[1:]))
    log = Log("runs.csv", 1, None, None, (), (LogState("queued", 240.0),))
    drawn = bring_proof(noted, build_evidence(noted, log=log), "").lifecycle.states[0]
    assert measure_state(drawn).note.lines[-1] == "median 4 min"
