from __future__ import annotations

from dataclasses import replace

from arrowproof.model.evidence import Evidence, JournalKind, JournalRow
from arrowproof.render.language import load_language
from arrowproof.render.reasons import say_reasons
from tests.render.extremes import chain, with_sneak_paths
from tests.render.proofs import agent

ENGLISH = load_language()
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
    _, evidence = agent()
    (first, *_) = say_reasons(evidence, ENGLISH)
    assert first.startswith("Sneak path cancelled → completed is possible: sql/review.sql:31 can make it")
    assert say_reasons(with_reasons(with_sneak_paths(chain(), 2, 0), 0), ENGLISH) == (
        "Sneak path done → s0 happened: the journal",
        "Sneak path s7 → s9 is possible: a.sql",
        "The driver says nothing → at all.",
    )


def test_many_sneak_paths_of_a_kind_are_one_reason_and_every_other_reason_stays() -> None:
    evidence = with_sneak_paths(chain(), 12, 6)
    assert say_reasons(evidence, ENGLISH) == (
        "12 sneak paths are possible: name their source states in the statements, or draw the arrows.",
    )
    possible, happened, other = say_reasons(with_reasons(evidence, 1, 3, 5), ENGLISH)
    assert possible.startswith("9 sneak paths are possible: ")
    assert happened == "3 sneak paths happened: find what made them and name its source states, or draw the arrows."
    assert other == "The driver says nothing → at all."


def test_many_sneak_paths_are_one_reason_in_japanese_too() -> None:
    (reason,) = say_reasons(with_sneak_paths(chain(), 12, 6), load_language("ja"))
    assert reason.startswith("抜け道 12 件が起こりえます。")


def test_a_reason_that_only_reads_like_that_of_a_sneak_path_stays() -> None:
    evidence = replace(with_sneak_paths(chain(), 12, 6), reasons=("Sneak path x -> y is possible: no.",) * 3)
    assert say_reasons(evidence, ENGLISH) == ("Sneak path x → y is possible: no.",)
