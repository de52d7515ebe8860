"""Nothing but the page's own script and style runs, whatever the model says in whatever place."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from arrowproof.model.evidence import Place, SneakPath, Statement
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.staleness import Difference, DifferenceKind
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from arrowproof.render.text import clean_text
from tests.render.evidence_builder import build_evidence
from tests.render.pages import Collector, show
from tests.render.tabs import address

PAYLOADS = {
    "a script": "</script></style></title></textarea>--><script>hacked = 1</script>",
    "an image": "\"'><img src=x onerror=hacked=1>",
    "a handler": "\" onfocus=hacked=1 autofocus tabindex=0 style=color:red x='",
    "an address": "javascript:hacked=1//https://example.com/\u2028x",
    "SVG": "</text></svg><svg onload=hacked=1><use href='data:image/svg+xml,x'/><foreignObject/>",
    "a style": "}</style><link rel=stylesheet href=//example.com><style>*{background:url(//example.com)}",
    "a template": "{{ 7*7 }}{% raw %}${hacked = 1}`",
    "JSON": '"]}</script><script>hacked = 1</script>\\u003c',
}


def model_of(text: str) -> dict[str, Any]:
    """A lifecycle that says ``text`` wherever it can say something."""
    ids = [f"{text}{number}" for number in range(4)]
    states = [
        {"id": id, "kind": kind, "label": text, "note": text, "group": text, "value": f"v{text}{number}"}
        for number, (id, kind) in enumerate(zip(ids, ("waiting", "active", "success", "failure"), strict=True))
    ]
    said = {"event": text, "guard": text, "effect": text}
    arrows = [{"id": f"new{text}", "to": ids[0], **said}]
    arrows += [{"id": f"a{text}{n}", "from": ids[0], "to": each, **said} for n, each in enumerate(ids[1:])]
    return {
        "format": "arrowproof.lifecycle/1",
        "id": text,
        "title": text,
        "summary": text,
        "binding": {"table": text, "key": [text], "state": text, "watch": [text]},
        "states": states,
        "arrows": arrows,
        "panels": [{"title": text, "lines": [text]}],
        "views": [{"id": text, "title": text, "states": ids[:2], "arrows": [], "note": text}],
        "accepted_sneak_paths": [{"from": ids[2], "to": ids[3], "reason": text}],
    }


STRUCTURE = {"source", "target", "path", "paths", "side", "kind", "verdict", "started", "sha256", "model_sha256"}
"""Fields of evidence that must name what the model has, or that the loader holds to a form of their own."""


def spoilt(value: Any, text: str) -> Any:
    """Evidence in which every string that anything outside wrote says ``text`` too."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return f"{value} {text}"
    if isinstance(value, tuple):
        return tuple(spoilt(each, text) for each in value)
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name not in STRUCTURE]
        return replace(value, **{name: spoilt(getattr(value, name), text) for name in names})
    return value


def page_saying(text: str, lifecycle: Lifecycle) -> str:
    """The page of a lifecycle and of evidence that say ``text`` wherever they can say something."""
    first, *_, last = (state.id for state in lifecycle.states)
    sneak = SneakPath(last, first, possible=(Statement(Place(text, 1, text), f"UPDATE x SET y = '{text}'"),))
    evidence = build_evidence(lifecycle, {(first, last): "not_survived"}, sneak_paths=(sneak,))
    stale = (Difference(DifferenceKind.CHANGED, text),)
    return render_page(lifecycle, proof=bring_proof(lifecycle, spoilt(evidence, text), "3ad814f6" * 8, stale))


def lifecycle_saying(text: str, folder: Path) -> Lifecycle:
    file = folder / "lifecycle.json"
    file.write_text(json.dumps(model_of(text)), encoding="utf-8")
    return load_lifecycle(file)


@pytest.fixture(scope="module", params=PAYLOADS)
def text(request: pytest.FixtureRequest) -> str:
    return PAYLOADS[request.param]


@pytest.fixture(scope="module")
def page(text: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_saying(text, lifecycle_saying(text, tmp_path_factory.mktemp("hostile")))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Collector:
    """The same with words that harm nothing and are as long, so that the page is of the same kind."""
    text = re.sub(r"\S", "w", max(PAYLOADS.values(), key=len))
    return Collector(page_saying(text, lifecycle_saying(text, tmp_path_factory.mktemp("plain"))))


def test_nothing_that_is_said_becomes_an_element_or_an_attribute(text: str, page: str, plain: Collector) -> None:
    made = Collector(page)
    assert {tag for tag, _ in made.elements} <= {tag for tag, _ in plain.elements}
    known = {name for _, attributes in plain.elements for name in attributes}
    assert {name for _, attributes in made.elements for name in attributes} <= known
    assert not {name for name in known if name.startswith("on") or name in ("style", "src")}
    assert made.text.count(clean_text(text)) > 10


def test_nothing_that_is_said_runs_or_is_asked_for_whatever_is_chosen(tab: Page, tmp_path: Path, page: str) -> None:
    asked: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    show(tab, tmp_path, page)
    title = tab.title()
    for selector in (".arrow", ".state", ".list button", ".views button"):
        for item in tab.locator(selector).all():
            if item.is_visible():
                item.dispatch_event("click")
                tab.keyboard.press("Escape")
    link = address(tab)
    tab.goto("about:blank")
    tab.goto(link)
    assert tab.evaluate("typeof hacked") == "undefined"
    assert tab.title() == title
    assert said == []
    own = (tmp_path / "page.html").as_uri()
    assert {url.split("#")[0] for url in asked if not url.startswith("data:")} <= {own, "about:blank"}
