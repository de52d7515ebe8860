from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Panel
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.page import GENERATOR, render_page
from tests.render.pages import BUNDLED, LIGHT_PAPER, NOTES, ROOT, SCRIPT, TWO, Collector, page_of, paper, show, state

CASES = Path(__file__).parent / "cases"
GOLDEN = Path(__file__).parent / "golden" / "notes-job.html"
# --- What the file says


def test_the_page_of_the_bundled_lifecycle_is_the_golden_one() -> None:
    got = render_page(load_lifecycle(BUNDLED))
    saved = GOLDEN.with_suffix(".got.html")
    saved.parent.mkdir(exist_ok=True)
    if not GOLDEN.exists() or got != GOLDEN.read_text(encoding="utf-8"):
        saved.write_text(got, encoding="utf-8", newline="\n")
        wanted, found = GOLDEN.relative_to(ROOT), saved.relative_to(ROOT)
        pytest.fail(f"the page has changed. Look at {found}; if it is right: mv {found} {wanted}")
    saved.unlink(missing_ok=True)


def test_another_process_with_another_hash_seed_makes_the_same_bytes() -> None:
    """Of the bundled lifecycle, and of a large one, which has scenes."""
    code = (
        "import hashlib, sys; from pathlib import Path; from arrowproof.model.loader import load_lifecycle\n"
        "from arrowproof.render.page import render_page\n"
        "for name in sys.argv[1:]:\n"
        "    print(hashlib.sha256(render_page(load_lifecycle(Path(name))).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code, BUNDLED, CASES / "order-groups.json"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
    assert len(set(seen.pop().split())) == 2


def test_the_header_says_what_it_is_and_counts_it() -> None:
    page = Collector(page_of(NOTES))
    words = " ".join(page.text.split())
    assert "Notes What happens to a note." in words
    assert "model 9f2c41ba" in words
    assert "states, 1 passing 4 arrows 5 transitions 4" in words


def test_transitions_are_listed_with_the_arrows_that_they_walk_over() -> None:
    page = Collector(page_of(NOTES))
    words = " ".join(page.text.split())
    assert "4 transitions over 5 arrows" in words
    assert "created → pending accept" in words
    assert "pending → done pick, succeed" in words
    assert "lost → removed purge" in words
    assert [attributes["data-arrows"] for tag, attributes in page.elements if "data-arrows" in attributes] == [
        "0",
        "1 2",
        "1 3",
        "4",
    ]


def test_the_binding_says_where_the_lifecycle_is_stored() -> None:
    words = " ".join(Collector(page_of(NOTES)).text.split())
    assert "table jobs key tenant, id state status watched attempts values lost = 3" in words
    assert "Where it lives" not in Collector(page_of(TWO)).text


def test_the_legend_holds_only_what_occurs() -> None:
    def legend(lifecycle: Lifecycle) -> str:
        page = page_of(lifecycle)
        return " ".join(Collector(page[page.index("<figcaption") : page.index("</figcaption>")]).text.split())

    assert legend(TWO) == "active success"
    assert legend(NOTES) == "created removed event [guard] active waiting success passing"


def test_arrows_are_a_table_for_screen_readers() -> None:
    page = page_of(NOTES)
    table = Collector(page[page.index("<caption") : page.index("</table>")])
    assert " ".join(table.text.split()).startswith(
        "Arrows of Notes Arrow From To Label accept created pending POST pick pending attempt poll"
    )


# --- What the file cannot do


def test_the_policy_lets_exactly_the_page_s_own_style_and_script_run() -> None:
    page = Collector(page_of(NOTES))
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    for name in ("style", "script"):
        *data, text = page.raw[name]
        assert len(data) == (2 if name == "script" else 0)  # texts and export: data, which no policy lets run
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert re.search(rf"{name}-src 'sha256-{re.escape(digest)}';", policy)
    assert policy.startswith("default-src 'none';")
    assert policy.endswith("; font-src data:; img-src data:; base-uri 'none'; form-action 'none'")
    assert "unsafe" not in policy


def test_there_is_no_address_to_ask_and_no_inline_style_or_handler() -> None:
    page = page_of(NOTES)
    addresses = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[\w/.-]*", re.sub(r"base64,[\w+/=]+", "", html.unescape(page)))
    assert set(addresses) == {"http://www.w3.org/2000/svg"}
    names = {name for _, attributes in Collector(page).elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("style", "src")}


def test_a_page_can_be_told_from_other_files_by_its_beginning() -> None:
    assert GENERATOR in page_of(TWO)[:4096]


HOSTILE = [
    "<script>boom()</script>",
    SCRIPT,
    "\"'><img src=x onerror=boom()>",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- ]]>",
    "a&b;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_of_the_model_is_escaped(text: str) -> None:
    hostile = Lifecycle(
        text,
        text,
        (state(text, Kind.WAITING, text, note=text), state("b", Kind.SUCCESS, value=text)),
        (Arrow(text, text, "b", text, text, text),),
        summary=text,
        binding=Binding(text, (text,), text, watch=(text,)),
        panels=(Panel(text, (text, text)),),
    )
    page = Collector(page_of(hostile))
    plain = Collector(page_of(NOTES))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements} | {"circle"}
    assert (len(page.raw["script"]), len(page.raw["style"])) == (3, 1)
    assert page.text.count(text) >= 10


@pytest.mark.parametrize("text", ["\x00\x07", "\u202eevil\u2066", "\ud800", "\ufffe", ""])
def test_text_that_cannot_be_drawn_makes_a_page_that_can_be_written(text: str) -> None:
    lifecycle = replace(
        NOTES,
        title=text,
        summary=text,
        states=(replace(NOTES.states[0], label=text, note=text), *NOTES.states[1:]),
        panels=(Panel(text, (text,)),),
    )
    page = page_of(lifecycle)
    page.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\u2066\ufffe]", page)


# --- What it does in a browser


def test_the_browser_runs_nothing_of_the_model_and_asks_for_nothing(tab: Page, tmp_path: Path) -> None:
    asked: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    hostile = replace(NOTES, title=SCRIPT, summary=SCRIPT, panels=(Panel(SCRIPT, (SCRIPT,)),))
    show(tab, tmp_path, page_of(hostile))
    assert tab.title().startswith(SCRIPT)
    assert [url for url in asked if not url.startswith("data:")] == [(tmp_path / "page.html").as_uri()]
    assert said == []


def test_a_script_or_style_that_is_not_the_page_s_own_does_not_run(tab: Page, tmp_path: Path) -> None:
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    foreign = "<style>body{background:red}</style><script>document.title = 'foreign'</script></body>"
    show(tab, tmp_path, page_of(TWO).replace("</body>", foreign))
    assert tab.title().startswith("Two")
    assert paper(tab) == LIGHT_PAPER
    assert sum("Content Security Policy" in text for text in said) == 2


def test_a_text_in_a_foreign_font_takes_its_own_width_but_never_more_than_was_reserved(
    tab: Page, tmp_path: Path
) -> None:
    lifecycle = replace(
        TWO, states=(state("open", label="受付待ち受付待ち受付待ち"), state("done", Kind.SUCCESS, "完了"))
    )
    show(tab, tmp_path, page_of(lifecycle))
    tab.wait_for_function("!document.querySelectorAll('text.name')[1].hasAttribute('textLength')")
    widths = tab.evaluate("[...document.querySelectorAll('text.name')].map(text => text.getComputedTextLength())")
    assert widths[0] == pytest.approx(150, abs=0.5)
    assert widths[1] < 40
