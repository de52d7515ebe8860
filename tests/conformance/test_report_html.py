from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from arrowproof.conformance.baseline import baseline_of
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.report_html import LINES_SHOWN, STEPS_SHOWN, report_html
from arrowproof.model.evidence import DynamicTarget, Evidence, Guard, Place, SneakPath, Statement
from arrowproof.model.evidence_document import dump_evidence
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.rung import Rung
from arrowproof.render.beads import bead_shapes
from arrowproof.render.chromium import open_browser

SCRIPT = "</style></title></script><script>document.title='broken'</script>\"'><img src=x onerror=alert(1)>"


class Reader(HTMLParser):
    """What a page consists of: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._in_style = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_style = tag == "style"
        self.text += " "

    def handle_endtag(self, tag: str) -> None:
        self._in_style = self._in_style and tag != "style"

    def handle_data(self, data: str) -> None:
        if not self._in_style:
            self.text += data


def words(page: str) -> str:
    return " ".join(Reader(page).text.split())


def hostile(evidence: Evidence, lifecycle: Lifecycle) -> tuple[Evidence, Lifecycle]:
    """The same evidence with markup, control characters and megabytes in every place that the outside fills."""
    bad = SCRIPT + "\x1b[2J\u202e\ud800" + "W" * 1_000_000
    created, *rest = evidence.transitions
    statement = Statement(Place(bad, 1, bad), "\n".join([bad[:2000]] * 500))
    walk = replace(
        created.walks[0],
        path=(bad,),
        key=((bad, bad),),
        after=((bad, bad), ("status", bad)),
        problem=bad,
        processes=(replace(created.walks[0].processes[0], role=bad, ended=bad),),
        journal=(replace(created.walks[0].journal[0], operation=bad, new_state=bad),),
    )
    kill = replace(created.kills[0], point=bad, problem=bad, found=((bad, bad),))
    return (
        replace(
            evidence,
            model_id=bad,
            model_title=bad,
            transitions=(replace(created, written=(statement,), walks=(walk,), kills=(kill,)), *rest),
            sneak_paths=(SneakPath(bad, bad, (statement,) * 80, walk.journal * 80, bad), SneakPath("x", bad)),
            reasons=tuple(f"{number} {bad}" for number in range(200)),
            environment=replace(evidence.environment, platform=bad),
        ),
        replace(lifecycle, title=bad, summary=bad, arrows=(replace(lifecycle.arrows[0], event=bad), *lifecycle.arrows)),
    )


# --- What the file says


def test_it_lets_only_its_own_hashed_style_act(note_job: Lifecycle, note_evidence: Evidence) -> None:
    page = report_html(note_evidence, note_job)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    policy = next(it["content"] for tag, it in Reader(page).elements if it.get("http-equiv"))

    assert len(style) == 1
    assert policy is not None
    assert f"'sha256-{base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_it_holds_no_script_no_inline_style_and_no_address(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    for tag, attributes in Reader(report_html(broken_evidence, lenient_job)).elements:
        assert tag not in {"script", "link", "iframe", "object", "base", "form", "img"}
        assert not [
            name for name in attributes if name in {"style", "src", "action", "srcset"} or name.startswith("on")
        ]
        assert (attributes.get("href") or "#").startswith("#")


def test_every_link_leads_to_a_place_on_the_page(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    elements = [attributes for _, attributes in Reader(report_html(broken_evidence, lenient_job)).elements]
    ids = [attributes["id"] for attributes in elements if "id" in attributes]
    links = {(attributes["href"] or "")[1:] for attributes in elements if "href" in attributes}

    assert len(ids) == len(set(ids))
    assert links <= set(ids)
    assert {f"transition-{number}" for number in range(1, 8)} | {"sneak-1", "sneak-2", "sneak-3"} <= links


def test_verdict_coverage_and_every_transition_with_its_place_stand_on_it(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    text = words(report_html(note_evidence, note_job))

    for wanted in (
        "7 of 7 transitions walked Proven",
        "6 of 9",
        "created → pending survived 4 of 4 2 of 2 sql/accept.sql:12",
        "retry_wait → failed survived 1 of 1 2 of 2 sql/worker.sql:62",
        "poll then / history row pick, succeed",
        "worker 4201 (exit 0)",
        "9f2c41ba" * 8,
        "WAL-reset bug not affected: the library that the rows were read with",
        "Read with SQLite 3.53.1, the library of Arrowproof; which one the service brings is not known to the proof",
        "read with SQLite 3.53.1",
        "survived: walked, and right again after a kill on each side of its commit",
    ):
        assert wanted in text
    assert "What keeps it from being proven" not in text


@pytest.mark.parametrize("rung", list(Rung))
def test_every_rung_has_the_sign_and_the_tone_that_it_has_on_the_page(
    lenient_job: Lifecycle, broken_evidence: Evidence, rung: Rung
) -> None:
    page = report_html(broken_evidence, lenient_job)
    colour = {"wrong": "wrong", "gap": "gap", "holds": "proof"}[rung.tone]
    name = rung.words.replace(" ", "-")

    assert f'<g id="{name}">{"".join(bead_shapes(rung))}</g>' in page
    assert re.search(rf"^[^{{]*\.{name}\b[^{{]*{{--b:var\(--{colour}\)}}", page, re.MULTILINE)


def test_what_is_wrong_comes_ahead_of_everything_else(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    text = words(report_html(broken_evidence, lenient_job))
    order = [
        "Not proven",
        "What keeps it from being proven",
        "Sneak paths failed → completed happened once, possible sql/worker.sql:38",
        "#47 update failed → completed, changed (row id=9)",
        "Accepted sneak paths completed → removed possible Accepted: the archive job removes completed rows",
        "Every pair of states",
        "Evidence, transition by transition",
        "Statements that the scan cannot decide REPLACE may remove another row.",
        "What it stands on",
    ]

    found = [text.index(part) for part in order]
    assert found == sorted(found)
    for reason in broken_evidence.reasons:
        assert reason in text


def test_a_value_of_no_state_is_marked_in_the_grid(note_job: Lifecycle, note_evidence: Evidence) -> None:
    (statement,) = note_evidence.transitions[1].written
    taken = "failed (a value of no state)"
    paths = (SneakPath("paused", "faild", (statement,)), SneakPath("pending", taken, (statement,)))
    text = words(report_html(replace(note_evidence, sneak_paths=paths), note_job))
    grid = text[text.index("Every pair of states") : text.index("Transitions transition rung")]

    assert f"completed failed faild (no state) {taken} removed" in grid
    assert "paused (no state)" in grid
    assert grid.count("(no state)") == 2


def test_the_stable_page_has_the_same_bytes_in_another_run(note_job: Lifecycle, note_evidence: Evidence) -> None:
    later = replace(note_evidence, started="2031-01-01T00:00:00Z", seconds=99.0)
    page = report_html(note_evidence, note_job, stated_times=False)

    assert report_html(later, note_job, stated_times=False) == page
    assert report_html(later, note_job) != report_html(note_evidence, note_job)
    for secret in ("2026-11-29", "4201", "5022", "id=1", "Linux"):
        assert secret not in words(page)


def test_another_process_with_another_hash_seed_makes_the_same_bytes(broken_evidence: Evidence, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from arrowproof.conformance.report_html import report_html\n"
        "from arrowproof.model.evidence_document import load_evidence\n"
        "from arrowproof.model.lifecycle import Lifecycle\n"
        "evidence = load_evidence(Path(sys.argv[1]).read_bytes(), 'evidence.json')\n"
        "sys.stdout.buffer.write(report_html(evidence, Lifecycle('a', 'A', (), ())).encode())\n"
    )
    file = tmp_path / "evidence.json"
    file.write_text(dump_evidence(broken_evidence), encoding="utf-8")
    pages = {
        subprocess.run(
            [sys.executable, "-c", code, str(file)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(pages) == 1
    assert b"failed" in pages.pop()


def test_hostile_text_stays_text_and_is_bounded(note_job: Lifecycle, note_evidence: Evidence) -> None:
    page = report_html(*hostile(note_evidence, note_job))

    assert {tag for tag, _ in Reader(page).elements}.isdisjoint({"script", "img"})
    assert re.search("[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", page) is None
    assert len(page) < 4_000_000
    assert f"and {200 - STEPS_SHOWN} more reasons" in page
    page.encode("utf-8")


def test_one_cause_of_many_reasons_is_shown_once(note_job: Lifecycle, failing_evidence: Evidence) -> None:
    text = words(report_html(failing_evidence, note_job))
    reasons = text[text.index("What keeps it from being proven") : text.index("Every pair of states")]

    assert len(failing_evidence.reasons) == 22
    assert reasons.count("RuntimeError") == 1
    assert "and 20 more for the same reason" in reasons
    assert "The journal's triggers no longer stand." in reasons


def test_long_lists_say_how_much_they_leave_out(note_job: Lifecycle, note_evidence: Evidence) -> None:
    created, *rest = note_evidence.transitions
    many = replace(created, walks=created.walks * 30)
    page = report_html(replace(note_evidence, transitions=(many, *rest)), note_job)

    assert f"and {120 - STEPS_SHOWN} more walks, in the evidence file" in page


# --- Statements and rows


def code_of(page: str) -> list[str]:
    """The lines of the statements on a page, as markup."""
    return re.findall(r'<span class="code">(.*?)</span>(?=<span class="code">|</pre>)', page, re.DOTALL)


def with_statement(evidence: Evidence, sql: str, line: int = 1) -> Evidence:
    """The evidence whose second transition is written by this statement alone."""
    created, completed, *others = evidence.transitions
    completed = replace(completed, written=(Statement(Place("a.sql", line), sql),))
    return replace(evidence, transitions=(created, completed, *others))


def test_the_literals_of_the_transition_are_told_apart(note_job: Lifecycle, note_evidence: Evidence) -> None:
    sql = "UPDATE jobs SET status = 'completed'\nWHERE status IN ('pending', 'retry_wait') AND x = 'it''s'"
    first, second = code_of(report_html(with_statement(note_evidence, sql, 7), note_job))[2:4]

    assert first == ('<span class="n">7</span>UPDATE jobs SET status = <mark class="target">&#39;completed&#39;</mark>')
    assert second == (
        '<span class="n">8</span>WHERE status IN (<mark class="source">&#39;pending&#39;</mark>, '
        "&#39;retry_wait&#39;) AND x = &#39;it&#39;&#39;s&#39;"
    )


def test_a_statement_of_a_thousand_lines_is_cut(note_job: Lifecycle, note_evidence: Evidence) -> None:
    short = report_html(with_statement(note_evidence, "SELECT 1"), note_job)
    long = report_html(with_statement(note_evidence, "\n".join(["SELECT 1"] * 1000)), note_job)

    assert len(code_of(long)) - len(code_of(short)) == LINES_SHOWN - 1
    assert f"and {1000 - LINES_SHOWN} more lines" in long


def test_a_row_is_shown_on_both_sides_of_the_step_that_changed_it(note_job: Lifecycle, note_evidence: Evidence) -> None:
    created, *others = note_evidence.transitions
    walk = replace(created.walks[0], before=(("id", 1), ("n", 1), ("gone", "x")), after=(("id", 1), ("n", 2)))
    evidence = replace(note_evidence, transitions=(replace(created, walks=(walk,)), *others))
    page = report_html(evidence, note_job)

    assert '<tr><th scope="row">id</th><td>1</td><td>1</td></tr>' in page
    assert '<tr class="changed"><th scope="row">n</th><td>1</td><td>2</td></tr>' in page
    assert '<tr class="changed"><th scope="row">gone</th><td>x</td><td>–</td></tr>' in page


# --- What a browser makes of it


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


def wide_job(lifecycle: Lifecycle) -> Lifecycle:
    """Thirteen states with names that do not break at spaces."""
    states = [State(f"state_number_{n}_{'x' * n * 4}", Kind.ACTIVE, f"S{n}", str(n)) for n in range(13)]
    return replace(lifecycle, states=tuple(states), arrows=(Arrow("a", None, states[0].id),))


@pytest.mark.parametrize("case", ["broken", "wide", "hostile"])
def test_it_opens_without_a_request_a_complaint_or_scrolling_sideways(
    browser: Browser, tmp_path: Path, lenient_job: Lifecycle, broken_evidence: Evidence, case: str
) -> None:
    shown = {
        "broken": (broken_evidence, lenient_job),
        "wide": (broken_evidence, wide_job(lenient_job)),
        "hostile": hostile(broken_evidence, lenient_job),
    }[case]
    file = tmp_path / "report.html"
    file.write_text(report_html(*shown), encoding="utf-8")
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url))
    try:
        page.goto(file.as_uri())
        page.evaluate("document.fonts.ready.then(() => true)")
        assert page.title().startswith("Not proven: ")
        for width in (1440, 800, 390):
            page.set_viewport_size({"width": width, "height": 900})
            wide, seen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert wide <= seen, f"{wide} px on {width}"
        for scheme, paper in (("light", "rgb(252, 252, 251)"), ("dark", "rgb(16, 18, 20)")):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    finally:
        page.close()
    assert [it for it in complaints if not it.startswith(("data:font/", file.as_uri()))] == []


def test_a_style_that_is_not_its_own_is_refused_by_the_browser(
    browser: Browser, tmp_path: Path, note_job: Lifecycle, note_evidence: Evidence
) -> None:
    tampered = report_html(note_evidence, note_job).replace("</style>", "h1{display:none}</style>")
    (tmp_path / "report.html").write_text(tampered, encoding="utf-8")
    complaints: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    try:
        page.goto((tmp_path / "report.html").as_uri())
        assert page.locator("h1").is_visible()
    finally:
        page.close()
    assert any("Content Security Policy" in complaint for complaint in complaints)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_on_a_report_that_has_everything(
    browser: Browser,
    tmp_path: Path,
    lenient_job: Lifecycle,
    note_evidence: Evidence,
    broken_evidence: Evidence,
    scheme: Literal["light", "dark"],
    width: int,
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))
    (tmp_path / "report.html").write_text(report_html(broken_evidence, lenient_job, comparison), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    try:
        page.goto((tmp_path / "report.html").as_uri())
        found = Axe().run(page).response["violations"]
    finally:
        page.close()
    assert [(it["id"], [node["html"][:200] for node in it["nodes"]][:3]) for it in found] == []


# --- The diagram and the changes


def test_a_journal_row_whose_statement_is_known_says_where_it_stands(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    created, *rest = note_evidence.transitions
    row = replace(created.walks[0].journal[0], written=Place("sql/accept.sql", 12))
    walk = replace(created.walks[0], journal=(row,))
    evidence = replace(note_evidence, transitions=(replace(created, walks=(walk,)), *rest))

    assert "#1 insert → pending by sql/accept.sql:12" in words(report_html(evidence, note_job))


def test_a_journal_row_whose_statement_is_not_known_shows_what_was_sent(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    created, *rest = note_evidence.transitions
    row = replace(created.walks[0].journal[0], query=f"UPDATE note\n SET status = '<b>' {'x' * 2000}")
    walk = replace(created.walks[0], journal=(row,))
    evidence = replace(note_evidence, transitions=(replace(created, walks=(walk,)), *rest))

    page = report_html(evidence, note_job)
    assert "#1 insert → pending, sent as UPDATE note SET status = &#39;&lt;b&gt;&#39; xxx" in page
    assert "x" * 200 not in page
    assert "sent as" not in report_html(evidence, note_job, stated_times=False)


def test_the_diagram_shows_every_arrow_and_every_sneak_path(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    page = report_html(broken_evidence, lenient_job)
    (drawing,) = re.findall(r'<svg[^>]* class="drawing".*?</svg>', page, re.DOTALL)

    assert len(re.findall(r'data-arrow="', drawing)) == len(lenient_job.arrows) + len(broken_evidence.sneak_paths)
    assert {"not survived 1 of 3", "sneak path"} <= set(re.findall(r">([^<]+)</text>", drawing))


def test_the_diagram_has_its_lines_and_beads_by_the_style_of_the_page(
    browser: Browser, tmp_path: Path, lenient_job: Lifecycle, broken_evidence: Evidence
) -> None:
    (tmp_path / "report.html").write_text(report_html(broken_evidence, lenient_job), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    try:
        page.goto((tmp_path / "report.html").as_uri())
        line, wrong, bead, sign, rung = page.evaluate(
            """() => [
              getComputedStyle(document.querySelector('.drawing .sneak .line')).stroke,
              getComputedStyle(document.querySelector('article.possible .fate')).color,
              getComputedStyle(document.querySelector('.drawing .sign')).stroke,
              getComputedStyle(document.querySelector('td.survived svg.sign')).color,
              getComputedStyle(document.querySelector('td.rung.survived')).color,
            ]"""
        )
        box = page.locator(".drawing").bounding_box()
    finally:
        page.close()
    assert line == wrong
    assert bead == "none"
    assert sign == rung
    assert box is not None
    assert box["width"] > 400


@pytest.mark.parametrize(
    "change",
    [{"id": "another"}, {"states": ()}, {"states": tuple(State(f"s{n}", Kind.ACTIVE, "", str(n)) for n in range(31))}],
    ids=["of another lifecycle", "without states", "with very many states"],
)
def test_a_lifecycle_that_cannot_be_read_in_one_drawing_is_not_drawn(
    lenient_job: Lifecycle, broken_evidence: Evidence, change: dict[str, Any]
) -> None:
    lifecycle = replace(lenient_job, **{"arrows": (), **change})

    assert "Diagram" not in words(report_html(broken_evidence, lifecycle))


def test_without_a_baseline_it_says_nothing_of_one(note_job: Lifecycle, note_evidence: Evidence) -> None:
    assert "baseline" not in words(report_html(note_evidence, note_job))


def test_what_has_changed_stands_behind_the_verdict_in_words_and_tone(
    lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))
    page = report_html(broken_evidence, lenient_job, comparison)
    text = words(page)

    assert "Since the baseline The verdict was proven and is now not proven. Sneak paths failed -> completed" in text
    assert text.index("Since the baseline") < text.index("What keeps it from being proven")
    assert '<li class="worse"><b>failed -&gt; completed</b> new, happened</li>' in page
    assert '<li class="neither"><b>sql/worker.sql:38</b> changed</li>' in page


def test_what_a_guard_settles_is_said_of_it_and_of_the_verdict(note_job: Lifecycle, note_evidence: Evidence) -> None:
    dynamic = DynamicTarget(Statement(Place("sql/move.sql", 3), "UPDATE jobs SET status = :to"), ("pending",), "why")
    guarded, leaking = (
        words(report_html(replace(note_evidence, guard=Guard(58, refused), dynamic=(dynamic,)), note_job))
        for refused in (58, 57)
    )
    assert "The database refused every other one that was tried" in guarded
    assert "why; the guard refuses every other target" in guarded
    assert "No statement found can make another transition" in leaking
    assert "the guard refuses every other target" not in leaking


def test_a_statement_that_may_write_a_transition_is_named_where_no_other_does(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    dynamic = DynamicTarget(Statement(Place("sql/move.sql", 3), "UPDATE jobs SET status = :to"), ("pending",), "why")
    created, settled, *rest = note_evidence.transitions
    bare = (replace(created, written=()), replace(settled, written=()), *rest)
    page = words(report_html(replace(note_evidence, transitions=bare, dynamic=(dynamic,)), note_job))
    assert "perhaps sql/move.sql:3" in page
    assert page.count("Only sql/move.sql:3 may make it, and the scan cannot tell.") == 1
    assert page.count("No statement that was read can make it.") == 1


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("`--pairs` walks <all> of `a<b`.", "<code>--pairs</code> walks &lt;all&gt; of <code>a&lt;b</code>."),
        ("one ` alone < two", "one ` alone &lt; two"),
        ("nothing", "nothing"),
        ("`a``b`", "<code>a</code><code>b</code>"),
    ],
)
def test_what_was_not_tried_has_its_options_set_as_code(
    said: str, shown: str, note_evidence: Evidence, note_job: Lifecycle
) -> None:
    page = report_html(replace(note_evidence, left_out=(said,)), note_job)
    assert f'<ul class="remarks"><li>{shown}</li></ul>' in page
