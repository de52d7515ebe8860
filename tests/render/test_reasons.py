from __future__ import annotations

import re
from dataclasses import replace

import pytest

from arrowproof.conformance.verdict import judge
from arrowproof.model.evidence import (
    DynamicTarget,
    Evidence,
    JournalKind,
    JournalRow,
    Kill,
    Place,
    Side,
    SneakPath,
    Statement,
    TransitionEvidence,
    Undecided,
    Walk,
)
from arrowproof.model.lifecycle import Kind, Lifecycle, State
from arrowproof.render.language import load_language
from arrowproof.render.proof_words import ProofWords
from arrowproof.render.reasons import say_reasons
from tests.render.evidence_builder import build_evidence
from tests.render.extremes import chain, with_sneak_paths
from tests.render.proofs import agent

ENGLISH, JAPANESE = load_language(), load_language("ja")
WORDS = ProofWords(chain(), ENGLISH)
ROW = JournalRow(1, "update", JournalKind.CHANGED, (("id", 1),), "a", "b", (), ())


def with_reasons(evidence: Evidence, *happened: int) -> Evidence:
    """The evidence with a reason for each of its sneak paths, of which these happened, and one reason more."""
    paths = tuple(
        replace(path, happened=(ROW,) if number in happened else ()) for number, path in enumerate(evidence.sneak_paths)
    )
    fates = ["happened: the journal" if path.happened else "is possible: a.sql" for path in paths]
    said = [f"Sneak path {path.source} -> {path.target} {fate}" for path, fate in zip(paths, fates, strict=True)]
    return replace(evidence, sneak_paths=paths, reasons=(*said, "The driver says nothing -> at all."))


def test_few_sneak_paths_have_their_own_reasons() -> None:
    lifecycle, evidence = agent()
    (first, *_) = say_reasons(evidence, ProofWords(lifecycle, ENGLISH))
    assert first.startswith("Sneak path cancelled → completed is possible: sql/review.sql:31 can make it")
    assert say_reasons(with_reasons(with_sneak_paths(chain(), 2, 0), 0), WORDS) == (
        "Sneak path Done → Step 0 happened: the journal",
        "Sneak path Step 7 → Step 9 is possible: a.sql",
        "The driver says nothing → at all.",
    )


def test_many_sneak_paths_of_a_kind_are_one_reason_and_every_other_reason_stays() -> None:
    evidence = with_sneak_paths(chain(), 12, 6)
    assert say_reasons(evidence, WORDS) == (
        "12 sneak paths are possible: name their source states in the statements, or draw the arrows.",
    )
    possible, happened, other = say_reasons(with_reasons(evidence, 1, 3, 5), WORDS)
    assert possible.startswith("9 sneak paths are possible: ")
    assert happened == "3 sneak paths happened: find what made them and name its source states, or draw the arrows."
    assert other == "The driver says nothing → at all."


def test_many_sneak_paths_are_one_reason_in_japanese_too() -> None:
    (reason,) = say_reasons(with_sneak_paths(chain(), 12, 6), ProofWords(chain(), JAPANESE))
    assert reason.startswith("抜け道 12 件が起こりえます。")


def test_a_reason_that_only_reads_like_that_of_a_sneak_path_stays() -> None:
    evidence = replace(with_sneak_paths(chain(), 12, 6), reasons=("Sneak path x -> y is possible: no.",) * 3)
    assert say_reasons(evidence, WORDS) == ("Sneak path x → y is possible: no.",)


LABELS = {"draft": "Entwurf", "sent": "Versandt", "paid": "Bezahlt"}
PLACES = tuple(Statement(Place("sql/a.sql", line), "UPDATE t SET s = 1") for line in range(1, 7))


def labelled(labels: dict[str, str]) -> Lifecycle:
    return Lifecycle("l", "L", tuple(State(id, Kind.ACTIVE, label, id) for id, label in labels.items()), ())


def walk(problem: str, source: str | None = "draft", path: tuple[str, ...] = ("a",)) -> Walk:
    return Walk(source, "sent", path, (), (), None, None, (), problem)


def kill(side: Side, point: str) -> Kill:
    return Kill("sent", "paid", side, point, None, (), None, None, None, (), "The row was: (lost).")


def every_kind() -> tuple[str, ...]:
    """The reasons of a proof in which everything that a verdict tells of went wrong."""
    states = labelled(LABELS).states
    kills = tuple(kill(side, point) for side in Side for point in ("hold", ""))
    transitions = (
        TransitionEvidence(None, "draft", (("a",),)),
        TransitionEvidence("draft", "sent", (("a",), ("b",)), PLACES[:1], walks=(walk("It failed."),)),
        TransitionEvidence("sent", "paid", (("a",),), PLACES, walks=(walk("It failed: twice."),), kills=kills),
        TransitionEvidence("sent", None, (("a",),), PLACES[:1]),
        TransitionEvidence("paid", "draft", (("a",),), walks=(replace(walk(""), problem=None),)),
        TransitionEvidence("paid", "sent", (("a",),)),
    )
    sneak_paths = (
        SneakPath("draft", "paid", possible=PLACES[:1]),
        SneakPath("draft", "paid", possible=PLACES),
        SneakPath("draft", "paid", possible=PLACES[:2], only_in_race=True),
        SneakPath("sent", "payd", possible=PLACES[:2]),
        SneakPath("sent", "nowhere", possible=PLACES[:2]),
        SneakPath(None, "paid", possible=PLACES[:2], happened=(ROW,)),
        SneakPath("paid", "payd", possible=PLACES[:2], happened=(ROW, ROW)),
        SneakPath("paid", None, happened=(ROW, ROW)),
        SneakPath("paid", "nowhere", happened=(ROW,)),
    )
    found = (
        judge(transitions, sneak_paths, states=states)[1],
        judge((), sneak_paths[:2], pinned=PLACES)[1],
        judge(
            (transitions[-1],),
            undecided=(Undecided(PLACES[0], "Its table is a parameter."),),
            dynamic=(DynamicTarget(PLACES[1], (None, "paid"), "Its state is a parameter."),),
        )[1],
    )
    return tuple(dict.fromkeys(reason for reasons in found for reason in reasons))


def evidence_of_every_reason(reason: str) -> Evidence:
    ends = [None, *LABELS, "payd", "nowhere"]
    pairs = [(source, target) for source in ends for target in ends]
    evidence = replace(build_evidence(chain()), reasons=(reason,))
    paths = tuple(SneakPath(*pair) for pair in pairs)
    return replace(evidence, sneak_paths=paths, transitions=tuple(TransitionEvidence(*pair, ()) for pair in pairs))


@pytest.mark.parametrize("reason", every_kind())
def test_where_labels_are_ids_the_page_says_in_english_what_the_verdict_said(reason: str) -> None:
    words = ProofWords(labelled({id: id for id in LABELS}), ENGLISH)
    assert say_reasons(evidence_of_every_reason(reason), words) == (reason.replace(" -> ", " → "),)


@pytest.mark.parametrize("reason", every_kind())
def test_every_kind_of_reason_names_states_by_their_labels_and_is_said_in_japanese(reason: str) -> None:
    (english,) = say_reasons(evidence_of_every_reason(reason), ProofWords(labelled(LABELS), ENGLISH))
    (japanese,) = say_reasons(evidence_of_every_reason(reason), ProofWords(labelled(LABELS), JAPANESE))
    for id, label in LABELS.items():
        for said in (english, japanese):
            assert (label in said) == (id in re.split(r"[ :]+", reason.split(" the value ")[0]))
    # What is left in Latin letters are names, values and what the driver or the scan says.
    left = ("Sneak path", " is ", "not ", "journal", "no statement", " and ", "draw", "model", "commit", " can ", ", ")
    own = japanese.replace("Its table is a parameter", "").replace("Its state is a parameter", "")
    assert [word for word in left if word in own] == []
    assert japanese.endswith(("。", "？"))


def test_the_ends_of_a_long_list_of_places_are_counted_in_japanese() -> None:
    reason = "Sneak path draft -> paid is possible: a.sql:1, b.sql:2 and 7 more can make it; name their source states."
    said = say_reasons(evidence_of_every_reason(reason), ProofWords(labelled(LABELS), JAPANESE))
    assert said == (
        "抜け道 Entwurf → Bezahlt が起こりえます：a.sql:1、b.sql:2 ほか 7 件 がこれを起こせます。"
        "それぞれの文に遷移元の状態を書き加えてください。",
    )


def test_a_source_called_created_is_told_from_the_creation_of_a_row() -> None:
    dynamic = DynamicTarget(PLACES[1], (None, "created"), "Its state is a parameter.")
    (reason, *_) = judge((), dynamic=(dynamic,))[1]
    (said,) = say_reasons(evidence_of_every_reason(reason), ProofWords(labelled({"created": "Angelegt"}), ENGLISH))
    assert "from created, Angelegt:" in said


def test_a_reason_of_no_known_kind_keeps_its_words_and_names_its_states_by_their_labels() -> None:
    words = ProofWords(labelled(LABELS), JAPANESE)
    assert say_reasons(evidence_of_every_reason("draft -> sent is not walked at all"), words) == (
        "Entwurf → Versandt is not walked at all",
    )
    assert say_reasons(evidence_of_every_reason("The journal did not stand."), words) == ("The journal did not stand.",)
