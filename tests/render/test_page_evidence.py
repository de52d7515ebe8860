"""A page with evidence, in the browser: rungs, sneak paths, the header and the band of a stale proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.evidence import Evidence, Guard, SneakPath
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.log import Log, LogState, LogTransition
from arrowproof.model.staleness import Difference, DifferenceKind
from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import BUNDLED, FITS, MEASURE, SIZES, Collector, show
from tests.render.tabs import resize

AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")
JOB = load_lifecycle(BUNDLED)
STALE = (
    Difference(DifferenceKind.VERSION, "66d180c0" * 8, "9f2c41ba" * 8),
    *(Difference(DifferenceKind.CHANGED, f"sql/a_source_with_a_long_name_{number}.sql") for number in range(40)),
    Difference(DifferenceKind.NEW, "sql/new.sql"),
)
LOG = Log(
    "jobs.csv",
    9_000_000,
    "2030-01-01T00:00:00Z",
    "2030-01-02T00:00:00Z",
    (LogTransition(None, "pending", 1_000_000), LogTransition("pending", "completed", 900_000)),
    (LogState("pending", 4.2), LogState("retry_wait", 240.0)),
)


FOREIGN = Difference(DifferenceKind.MODEL, "agent", "job")


def page_of(lifecycle: Lifecycle, evidence: Evidence, *stale: Difference, tag: str = "en") -> str:
    language = load_language(tag)
    proof = bring_proof(lifecycle, evidence, "3ad814f6" * 8, stale, language)
    return render_page(lifecycle, language=language, proof=proof)


def agent(*stale: Difference, tag: str = "en") -> str:
    return page_of(AGENT, build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS), *stale, tag=tag)


PAGES: dict[str, Callable[[], str]] = {
    "proven": lambda: page_of(JOB, build_evidence(JOB)),
    "guarded, with a log": lambda: page_of(JOB, build_evidence(JOB, log=LOG, guard=Guard(9, 9))),
    "stale": lambda: page_of(JOB, build_evidence(JOB), *STALE),
    "of another model": lambda: agent(FOREIGN),
    "gaps and a sneak path": agent,
    "gaps, stale and Japanese": lambda: agent(*STALE, tag="ja"),
    "more sneak paths than are drawn": lambda: page_of(
        JOB, build_evidence(JOB, sneak_paths=tuple(SneakPath("completed", f"value {n}") for n in range(40)))
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_evidence_fits_every_screen(name: str, tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, PAGES[name]())
    for width, height in SIZES:
        resize(tab, width, height)
        assert tab.evaluate(MEASURE) == FITS, (name, width)


def test_the_same_evidence_gives_the_same_bytes() -> None:
    assert agent() == agent()


def test_the_header_says_verdict_figures_and_origin(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, agent())
    header = " ".join(tab.locator("header").inner_text().split())
    for text in (
        "Not proven 23 of 25 transitions walked",
        "12 of 12 states",
        "2 Jan 2030, 03:04 UTC 2 min 7 s PostgreSQL 17.2 evidence 3ad814f6",
    ):
        assert text in header or _swapped(text) in header, header


def _swapped(text: str) -> str:
    """A figure and its caption as the document has them: the caption first."""
    number, _, caption = text.rpartition(" ")
    return f"{caption} {number}"


def test_without_evidence_the_header_counts_and_claims_nothing() -> None:
    text = Collector(render_page(AGENT)).text
    assert "roven" not in text
    assert "evidence" not in text.lower()


def test_a_stale_proof_is_struck_and_says_why_across_the_page(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(JOB, build_evidence(JOB), *STALE))
    assert tab.locator(".verdict s").inner_text() == "Proven"
    assert tab.locator(".verdict em").inner_text() == "stale"
    band = tab.locator("p.stale")
    assert band.inner_text().startswith("Stale. This evidence is of another version of the model: evidence 9f2c41ba")
    assert "40 sources have changed since" in band.inner_text()
    box = band.bounding_box()
    assert box is not None
    assert box["width"] > 1300
    show(tab, tmp_path, page_of(JOB, build_evidence(JOB)))
    assert tab.locator("p.stale").count() == 0


def test_evidence_of_another_model_is_called_stale_and_claims_nothing_of_this_one(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, render_page(AGENT))
    parts = ".counts", ".drawing", ".legend", "aside", "table"
    without = [tab.locator(part).inner_html() for part in parts]
    show(tab, tmp_path, agent(FOREIGN))
    assert tab.locator("p.stale").inner_text() == (
        "Stale. This evidence is of another model, and nothing of it is shown: evidence “job”, page “agent”."
    )
    assert "evidence 3ad814f6" in tab.locator(".run").inner_text()
    assert tab.locator(".verdict").count() == 0
    assert [tab.locator(part).inner_html() for part in parts] == without


def colour(tab: Page, selector: str) -> str:
    return str(tab.locator(selector).first.evaluate("(it) => getComputedStyle(it).stroke"))


def test_a_gap_keeps_its_colour_when_it_is_chosen_and_what_holds_takes_that_of_the_choice(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, agent(), "#arrow=t16")
    gap = colour(tab, "[data-arrow=t16] .line")
    tab.goto("about:blank")
    show(tab, tmp_path, agent(), "#arrow=t1")
    assert colour(tab, "[data-arrow=t16] .line") == gap
    assert colour(tab, "[data-arrow=t1] .line") not in (gap, colour(tab, "[data-arrow=t3] .line"))


def test_lines_of_what_is_missing_written_and_sneaking_are_broken_each_in_its_own_way(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, agent())
    dashes = [
        tab.locator(f"{arrow} .line").first.evaluate("(it) => getComputedStyle(it).strokeDasharray")
        for arrow in ("[data-arrow=t1]", "[data-arrow=t13]", "[data-arrow=t16]", "[data-sneak]")
    ]
    assert dashes[0] == "none"
    assert len(set(dashes)) == 4


def test_a_sneak_path_can_be_chosen_and_linked_to_by_its_ends(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, agent())
    tab.locator("[data-sneak] .bead").click()
    assert tab.evaluate("location.hash") == "#transition=cancelled:completed"
    assert tab.locator("[data-sneak]").get_attribute("aria-pressed") == "true"
    show(tab, tmp_path, agent(), "#transition=cancelled:completed")
    assert tab.locator("[data-sneak]").get_attribute("aria-pressed") == "true"


def test_a_sneak_path_is_red_in_a_view_that_does_not_show_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, agent())
    before = colour(tab, "[data-sneak] .line")
    tab.locator("[data-sneak]").evaluate("(it) => it.classList.add('aside')")
    assert colour(tab, "[data-sneak] .line") == before


def test_a_chosen_line_is_thicker_than_it_was_however_thick_a_log_makes_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(JOB, build_evidence(JOB, log=LOG)))

    def widths() -> list[float]:
        lines = tab.locator("[data-arrow=accept] .line, [data-arrow=exhaust] .line").all()
        return [float(line.evaluate("(it) => parseFloat(getComputedStyle(it).strokeWidth)")) for line in lines]

    assert widths() == [5, 1.5]
    tab.locator("[data-arrow=accept]").focus()
    tab.keyboard.press("Enter")
    assert widths() == [7.5, 1.5]


def test_medians_of_a_log_stand_at_their_states(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(JOB, build_evidence(JOB, log=LOG)))
    assert tab.locator("[data-state=retry_wait] .note").last.text_content() == "median 4 min"
    assert (tab.locator("[data-state=pending]").get_attribute("aria-label") or "").endswith(", median 4.2 s")


@pytest.mark.parametrize("name", ["proven", "stale", "gaps and a sneak path", "gaps, stale and Japanese"])
def test_what_stands_around_the_drawing_is_as_high_as_it_was_planned(name: str, tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, PAGES[name]())
    planned, taken = tab.evaluate(
        """() => {
          const style = getComputedStyle(document.documentElement);
          const draw = document.querySelector(".draw").getBoundingClientRect().height;
          return [parseFloat(style.getPropertyValue("--fixed")), (innerHeight - draw) / parseFloat(style.fontSize)];
        }"""
    )
    assert taken - 0.1 <= planned <= taken + 0.7
