"""What a page weighs, and that it carries nothing that it does not use.

A page of twelve states with a proof weighs less than 150 kB: plain in the letters of the lighter cases below, with a
passing state and with every rung red, and packed (test_packing.py) where evidence says all that it can.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.model.evidence import Place, Row, SneakPath, Statement, TransitionEvidence
from arrowproof.model.lifecycle import Kind, Lifecycle, View
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import derive_transitions
from arrowproof.render.assets import TEMPLATES
from arrowproof.render.beads import BEADS
from arrowproof.render.fonts import FOLDER
from arrowproof.render.language import load_language
from arrowproof.render.page import SCRIPTS, render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.heavy_evidence import CYRILLIC, heavy_evidence
from tests.render.pages import BUNDLED, NOTES, ROOT, TWO, Collector, page_of, state

CASES = Path(__file__).parent / "cases"
GALLERY = ROOT / "examples" / "gallery"
MOST = 150_000
WESTERN = {"e": "é", "n": "ñ", "u": "ü"}
CENTRAL = {"l": "ł", "o": "ő"}
GERMAN = {"a": "ä", "e": "„e“", "s": "ß", "u": "€"}
POLISH = {"a": "ą", "e": "„ę”", "l": "ł", "o": "ó", "s": "ś"}
CZECH = {"a": "á", "e": "ě", "r": "ř", "s": "š", "u": "ů"}
VIETNAMESE = {"a": "ạ", "d": "đ", "e": "ế", "o": "ơ", "u": "ư"}
LATIN = "abcdefghijklmnopqrstuvwxyz"
RUSSIAN = dict(zip(LATIN, "абцдефгхийклмнопярстувшхыз", strict=True))
JAPANESE = dict(zip(LATIN, "状態遷移受付待完了失敗注文支払確認再試行中止開始終後", strict=True))


def weight(page: str) -> int:
    return len(page.encode())


def proven(lifecycle: Lifecycle, in_code: Mapping[str, str] | None = None) -> str:
    """The page of a lifecycle with a proof, in the SQL and the rows of which letters are spelled in another way."""
    evidence = build_evidence(lifecycle, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS)
    if in_code:
        evidence = replace(
            evidence, transitions=tuple(in_other_letters(each, in_code) for each in evidence.transitions)
        )
    return render_page(lifecycle, proof=bring_proof(lifecycle, evidence, "3ad814f6" * 8))


def crowded() -> Lifecycle:
    """A lifecycle of twelve states, of which one is passing, and of 24 arrows."""
    agent = load_lifecycle(CASES / "agent-run.json")
    states = tuple(replace(each, kind=Kind.PASSING) if each.id == "scheduling" else each for each in agent.states)
    assert len(states) == 12
    assert len(agent.arrows) >= 20
    return replace(agent, states=states)


def half_red(lifecycle: Lifecycle, sneak_paths: Sequence[SneakPath] = AGENT_SNEAK_PATHS, language: str = "en") -> str:
    """The page of a lifecycle with a proof in which every other transition is below what it has to be."""
    red = {
        each.pair: "not_survived" if place % 4 == 0 else "written"
        for place, each in enumerate(derive_transitions(lifecycle))
        if place % 2 == 0
    }
    evidence = build_evidence(lifecycle, red, sneak_paths=sneak_paths)
    proof = bring_proof(lifecycle, evidence, "3ad814f6" * 8)
    return render_page(lifecycle, language=load_language(language), proof=proof)


def in_other_letters(transition: TransitionEvidence, letters: Mapping[str, str]) -> TransitionEvidence:
    """Evidence with the names of table and columns in other letters, wherever code shows them."""

    def row(found: Row | None) -> Row | None:
        return found and tuple((name if name == "state" else spelled(name, letters), value) for name, value in found)

    return replace(
        transition,
        written=tuple(
            replace(each, sql=each.sql.replace(" runs", f" {spelled('runs', letters)}")) for each in transition.written
        ),
        walks=tuple(replace(walk, before=row(walk.before), after=row(walk.after)) for walk in transition.walks),
    )


def spelled(text: str, letters: Mapping[str, str]) -> str:
    """A text with the first of each of these letters in another one's place."""
    for letter, other in letters.items():
        text = text.replace(letter, other, 1)
    return text


def in_letters(lifecycle: Lifecycle, letters: Mapping[str, str]) -> Lifecycle:
    """A lifecycle with other letters in its title and in every label of a state and of an arrow."""
    return replace(
        lifecycle,
        title=spelled(lifecycle.title, letters),
        states=tuple(replace(each, label=spelled(each.label, letters)) for each in lifecycle.states),
        arrows=tuple(replace(each, event=spelled(each.event or "", letters)) for each in lifecycle.arrows),
    )


def in_script(lifecycle: Lifecycle, letters: Mapping[str, str], step: int = 1) -> Lifecycle:
    """A lifecycle with all its labels in another script, with one character for so many of the Latin ones."""
    table = str.maketrans(dict(letters))

    def written(text: str) -> str:
        return text.lower()[::step].translate(table)

    return replace(
        lifecycle,
        title=written(lifecycle.title),
        states=tuple(replace(each, label=written(each.label)) for each in lifecycle.states),
        arrows=tuple(replace(each, event=written(each.event or "")) for each in lifecycle.arrows),
    )


def sneaked(lifecycle: Lifecycle, number: int) -> tuple[SneakPath, ...]:
    """So many sneak paths, at most two from a state and each by a statement of its own."""
    known = {each.pair for each in derive_transitions(lifecycle)}
    states = [state.id for state in lifecycle.stored_states]
    pairs = [
        pair
        for source in reversed(states)
        for pair in [(source, target) for target in states if target != source and (source, target) not in known][:2]
    ]
    sql = "UPDATE runs\n   SET state = '{1}'\n WHERE id = :id\n   AND state IN ('{0}')"
    return tuple(
        SneakPath(*pair, possible=(Statement(Place("sql/review.sql", 31 + place, "accept"), sql.format(*pair)),))
        for place, pair in enumerate(pairs[:number])
    )


def faces_of(page: str) -> dict[str, str]:
    """The file of each face that a page embeds, by the name of the face."""
    data = {path.stem: base64.b64encode(path.read_bytes()).decode() for path in FOLDER.glob("*.woff2")}
    return {name.partition("-")[0]: name for name, text in data.items() if f"base64,{text})" in page}


def test_twelve_states_with_and_without_a_proof_weigh_less_than_150_kb() -> None:
    agent = load_lifecycle(CASES / "agent-run.json")
    assert len(agent.states) == 12
    assert weight(render_page(agent)) < MOST
    assert weight(proven(agent)) < MOST


def test_the_bundled_lifecycle_weighs_less_than_150_kb_with_a_proof() -> None:
    assert weight(proven(load_lifecycle(BUNDLED))) < MOST


def test_accents_in_every_label_leave_a_page_with_a_proof_below_150_kb() -> None:
    page = proven(in_letters(load_lifecycle(CASES / "agent-run.json"), WESTERN))
    assert faces_of(page) == {"sans": "sans-western", "mono": "mono-basic"}
    assert weight(page) < MOST


def test_accents_in_labels_sql_and_rows_leave_a_page_with_a_proof_below_150_kb() -> None:
    page = proven(in_letters(load_lifecycle(CASES / "agent-run.json"), WESTERN), WESTERN)
    assert "UPDATE rüñs" in page
    assert '"rés' in page
    assert faces_of(page) == {"sans": "sans-western", "mono": "mono-western"}
    assert weight(page) < MOST


def test_letters_beyond_latin_1_ask_for_more_of_the_face_that_draws_them_alone() -> None:
    agent = load_lifecycle(CASES / "agent-run.json")
    page = proven(in_letters(agent, CENTRAL))
    assert faces_of(page) == {"sans": "sans-central", "mono": "mono-basic"}
    assert weight(page) < MOST
    in_code = proven(agent, {"r": "ř"})
    assert faces_of(in_code) == {"sans": "sans-basic", "mono": "mono"}


@pytest.mark.parametrize(
    ("letters", "file"),
    [({}, "sans-basic"), (GERMAN, "sans-western"), (POLISH, "sans-central")],
    ids=["en", "de", "pl"],
)
def test_a_page_of_twelve_states_with_a_passing_one_and_a_proof_half_red_weighs_less_than_150_kb(
    letters: Mapping[str, str], file: str
) -> None:
    page = half_red(in_letters(crowded(), letters))
    assert faces_of(page) == {"sans": file, "mono": "mono-basic"}
    assert 'class="state passing" data-key' in page
    assert page.count("#bead-sneak") == len(AGENT_SNEAK_PATHS)
    assert weight(page) < MOST


@pytest.mark.parametrize(
    ("make", "file", "language"),
    [
        (lambda agent: agent, "sans-basic", "en"),
        (lambda agent: in_letters(agent, GERMAN), "sans-western", "en"),
        (lambda agent: in_letters(agent, POLISH), "sans-central", "en"),
        (lambda agent: in_letters(agent, CZECH), "sans-central", "en"),
        (lambda agent: in_letters(agent, VIETNAMESE), "sans-vietnamese", "en"),
        (lambda agent: in_script(agent, RUSSIAN), "sans-cyrillic", "en"),
        (lambda agent: in_script(agent, JAPANESE, 2), "sans-basic", "ja"),
    ],
    ids=["en", "de", "pl", "cs", "vi", "ru", "ja"],
)
def test_a_page_of_twelve_states_half_red_with_eight_sneak_paths_weighs_less_than_150_kb(
    make: Callable[[Lifecycle], Lifecycle], file: str, language: str
) -> None:
    lifecycle = make(crowded())
    page = half_red(lifecycle, sneaked(lifecycle, 8), language)
    assert base64.b64encode((FOLDER / f"{file}.woff2").read_bytes()).decode() in page
    assert page.count("data-sneak") == 8
    assert weight(page) < MOST


@pytest.mark.parametrize("rung", ["missing", "written", "not_survived"])
def test_a_page_on_which_all_is_red_weighs_less_than_150_kb(rung: str) -> None:
    order = load_lifecycle(GALLERY / "order.lifecycle.json")
    evidence = build_evidence(order, default=rung, sneak_paths=sneaked(order, 3))
    assert weight(render_page(order, proof=bring_proof(order, evidence, "3ad814f6" * 8))) < MOST


def test_all_that_evidence_can_say_of_twelve_red_states_weighs_less_than_150_kb() -> None:
    lifecycle, japanese = in_script(crowded(), RUSSIAN), load_language("ja")
    proof = bring_proof(lifecycle, heavy_evidence(lifecycle, CYRILLIC), "3ad814f6" * 8, language=japanese)
    page = render_page(lifecycle, language=japanese, proof=proof)
    assert 'id="packed"' in page
    assert weight(page) < MOST


def test_what_an_arrow_says_stands_once_in_its_drawing() -> None:
    drawing = re.findall(r'<svg class="drawing".*?</svg>', proven(load_lifecycle(CASES / "agent-run.json")))
    assert drawing[0].count("queued to scheduling: worker slot free, survived") == 1


def test_a_page_embeds_the_faces_and_the_letters_that_it_uses() -> None:
    def faces(lifecycle: Lifecycle) -> int:
        return "".join(Collector(page_of(lifecycle)).raw["style"]).count("@font-face")

    passing = replace(TWO, states=(*TWO.states, state("between", Kind.PASSING)))
    assert faces(TWO) == faces(passing) == 2
    assert faces(replace(TWO, summary="Размер")) == 3
    accented = replace(TWO, summary="Größe")
    assert faces_of(page_of(TWO)) == {"sans": "sans-basic", "mono": "mono-basic"}
    assert faces_of(page_of(accented)) == {"sans": "sans-western", "mono": "mono-basic"}
    between = replace(passing, states=(*TWO.states, state("between", Kind.PASSING, "à côté")))
    assert faces_of(page_of(between)) == {"sans": "sans-western", "mono": "mono-basic"}


def test_a_page_carries_the_beads_that_it_refers_to() -> None:
    page = proven(load_lifecycle(CASES / "agent-run.json"))
    held = set(re.findall(r'<symbol id="bead-(\w+)"', page))
    assert held == {"written", "walked", "survived", "missing", "none", "sneak"}
    assert {name for name in BEADS if f'#bead-{name}"' in page} <= held


def test_a_page_carries_the_scripts_of_what_it_has() -> None:
    def script(lifecycle: Lifecycle) -> str:
        return "".join(Collector(page_of(lifecycle)).raw["script"])

    viewed = replace(NOTES, views=(View("all", "All", ("pending",), ()),))
    assert ".view-note" not in script(NOTES)
    assert ".view-note" in script(viewed)
    for part in (".zoom", "found-", ".proofs"):
        assert part not in script(viewed)
        assert any(part in (TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS)
