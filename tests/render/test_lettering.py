"""Which face draws what: the lettering that a page is given its fonts by, beside what Chromium draws in which face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.evidence import Evidence, JournalKind, JournalRow, Place, Process, SneakPath, Statement
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Origin, Panel, View
from arrowproof.render import page as page_module
from arrowproof.render.fonts import FACES, SCRIPTS, TIERS, font_faces_css
from arrowproof.render.lettering import Lettering
from arrowproof.render.text import is_covered, text_width
from tests.render.evidence_builder import build_evidence
from tests.render.pages import show, state
from tests.render.proofs import proof_page

DRAWN = """async () => {
  const drawn = {sans: new Set(), mono: new Set()};
  const read = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent.closest('title, desc, script, style')) continue;
      const style = getComputedStyle(parent);
      const face = /mono/i.test(style.fontFamily) ? 'mono' : 'sans';
      for (const letter of walker.currentNode.data) drawn[face].add(letter);
    }
  };
  read();
  const chosen = document.querySelectorAll('.list button, .drawing .arrow');
  for (const each of chosen) {
    each.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    await new Promise(requestAnimationFrame);
    read();
  }
  return Object.fromEntries(Object.entries(drawn).map(([face, letters]) => [face, [...letters].join('')]));
}"""
"""What stands in which face, on the page as it opens and with each transition and each arrow chosen."""

SIZE = 100
ROUNDED = 0.25
"""A browser may round a weight between the masters to another unit, of which a font of this size has ten to the px."""

WEIGHTS = (400, 500, 600)
WIDTHS = """async ([family, style, weight, letters]) => {
  const font = `${style} ${weight} 100px "${family}"`;
  await document.fonts.load(font, letters);
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = `${font}, ${/mono/i.test(family) ? 'serif' : 'monospace'}`;
  return [...letters].map((letter) => pen.measureText(letter).width);
}"""


def marks() -> Mapping[str, str]:
    """A letter of its own for everything that a lifecycle and its evidence can say, by a name for it."""
    names = (
        *("model", "title", "summary", "state", "passing_state", "value", "note", "passing_note", "arrow", "event"),
        *("guard", "effect", "table", "key", "column", "watch", "panel", "line", "view", "view_note", "file", "query"),
        *("sql", "role", "ended", "cell", "name", "walk_problem", "kill_problem", "sneak", "other"),
    )
    return dict(zip(names, map(chr, range(0x100, 0x180)), strict=False))


def marked() -> tuple[Lifecycle, Evidence]:
    """A lifecycle and its evidence in which each part has a letter of its own."""
    m = marks()
    lifecycle = Lifecycle(
        f"model {m['model']}",
        f"title {m['title']}",
        (
            state("open", Kind.WAITING, f"open {m['state']}", value=f"open {m['value']}", note=f"note {m['note']}"),
            state("try", Kind.PASSING, f"try {m['passing_state']}", note=f"note {m['passing_note']}"),
            state("done", Kind.SUCCESS),
        ),
        (
            Arrow(f"new {m['arrow']}", None, "open", f"new {m['event']}"),
            Arrow("pick", "open", "try", "pick", f"if {m['guard']}", f"do {m['effect']}"),
            Arrow("end", "try", "done", "end"),
        ),
        summary=f"summary {m['summary']}",
        binding=Binding(f"table {m['table']}", (f"id {m['key']}",), f"state {m['column']}", watch=(m["watch"],)),
        panels=(Panel(f"panel {m['panel']}", (f"line {m['line']}",)),),
        views=(View("part", f"view {m['view']}", ("open",), (), f"note {m['view_note']}"),),
        origin=Origin(sha256="ab" * 32),
    )
    place = Place(f"{m['file']}.sql", 3, f"query {m['query']}")
    statement = Statement(place, f"UPDATE t SET state = 'done' -- {m['sql']}")
    processes = (Process(f"role {m['role']}", 7, f"ended {m['ended']}"),)
    row = ((f"name {m['name']}", f"cell {m['cell']}"), (f"state {m['column']}", f"open {m['value']}"))
    built = build_evidence(lifecycle)
    transitions = tuple(
        replace(
            each,
            written=(statement, replace(statement, sql="UPDATE t")),
            walks=tuple(
                replace(walk, before=row, after=row, processes=processes, problem=f"walk {m['walk_problem']}")
                for walk in each.walks
            ),
            kills=tuple(
                replace(kill, before=row, found=row, processes=processes, problem=f"kill {m['kill_problem']}")
                for kill in each.kills
            ),
        )
        for each in built.transitions
    )
    journal = JournalRow(1, "update", JournalKind.CHANGED, (), f"was {m['other']}", "open", (), ())
    sneak = SneakPath(f"odd {m['sneak']}", "done", (statement,), (journal,))
    return lifecycle, replace(built, transitions=transitions, sneak_paths=(sneak,))


def lettering_of(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Lettering]:
    """What a function of the page returns from now on, as the page goes on with it."""
    seen: list[Lettering] = []
    made = getattr(page_module, name)

    def heard(*arguments: object) -> Lettering:
        seen.append(made(*arguments))
        return seen[-1]

    monkeypatch.setattr(page_module, name, heard)
    return seen


def marked_letters(text: str) -> str:
    return "".join(sorted(set(text).intersection(marks().values())))


def named(letters: str) -> set[str]:
    return {name for name, letter in marks().items() if letter in letters}


def test_each_face_of_a_page_with_a_proof_is_given_all_that_is_drawn_in_it(
    tab: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = lettering_of(monkeypatch, "letter_proof")
    lifecycle, evidence = marked()
    show(tab, tmp_path, proof_page(lifecycle, evidence))
    drawn = tab.evaluate(DRAWN)
    given = {"sans": heard[0].sans, "mono": heard[0].mono}
    assert {face: set(marked_letters(drawn[face])) - set(given[face]) for face in FACES} == {
        face: set() for face in FACES
    }
    # All of this is to be seen, so that the comparison is one of something.
    assert named(drawn["mono"]) >= {"model", "arrow", "table", "key", "column", "file", "sql", "cell", "name"}
    assert named(drawn["sans"]) >= {"title", "summary", "state", "event", "guard", "role", "ended", "walk_problem"}
    assert named(drawn["sans"]) >= {"passing_state", "passing_note"}


def test_each_face_of_a_page_without_a_proof_is_given_all_that_is_drawn_in_it(
    tab: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = lettering_of(monkeypatch, "letter_page")
    lifecycle, _ = marked()
    show(tab, tmp_path, page_module.render_page(lifecycle))
    drawn = tab.evaluate(DRAWN)
    given = {"sans": heard[0].sans, "mono": heard[0].mono}
    assert {face: set(marked_letters(drawn[face])) - set(given[face]) for face in FACES} == {
        face: set() for face in FACES
    }
    assert named(drawn["mono"]) >= {"model", "arrow", "table", "key", "column", "watch"}


def test_what_only_code_shows_asks_for_no_letters_of_the_text_face(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = lettering_of(monkeypatch, "letter_proof")
    proof_page(*marked())
    assert not {"sql", "cell", "name"} & named(heard[0].sans)
    assert not {"title", "summary", "state", "event", "role", "ended", "walk_problem"} & named(heard[0].mono)


@pytest.mark.parametrize(("face", "file"), [(face, file) for face, files in TIERS.items() for file in files])
@pytest.mark.parametrize("style", ["normal", "oblique"])
def test_every_letter_of_a_file_is_as_wide_as_in_the_whole_one_and_in_the_table_slanted_or_not(
    tab: Page, face: str, file: str, style: str
) -> None:
    text = TIERS[face][file]
    letters = "".join(filter(partial(is_covered, face=face), text))

    def widths(css: str) -> list[list[float]]:
        tab.set_content(f"<style>{css}</style>")
        return [tab.evaluate(WIDTHS, [FACES[face][0], style, weight, letters]) for weight in WEIGHTS]

    small = widths(font_faces_css({face: text}))
    assert small == widths(font_faces_css())
    table = [[text_width(letter, SIZE, weight, face) for letter in letters] for weight in WEIGHTS]
    assert [found == pytest.approx(known, abs=ROUNDED) for found, known in zip(small, table, strict=True)] == [True] * 3


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_letter_of_another_script_is_as_wide_as_in_the_table(tab: Page, script: str) -> None:
    codes = [code for first, last in SCRIPTS[script] for code in range(first, last + 1)]
    letters = "".join(filter(is_covered, map(chr, codes)))
    tab.set_content(f"<style>{font_faces_css({'sans': letters})}</style>")
    assert len(letters) > 20
    for weight in WEIGHTS:
        table = [text_width(letter, SIZE, weight) for letter in letters]
        assert tab.evaluate(WIDTHS, [FACES["sans"][0], "normal", weight, letters]) == pytest.approx(table, abs=ROUNDED)


def test_a_letter_that_a_file_does_not_hold_would_be_seen_by_its_width(tab: Page) -> None:
    tab.set_content(f"<style>{font_faces_css({'sans': 'a'})}</style>")
    (drawn,) = tab.evaluate(WIDTHS, ["Arrowproof Sans", "normal", 400, "ü"])
    assert drawn != pytest.approx(text_width("ü", SIZE), abs=ROUNDED)
