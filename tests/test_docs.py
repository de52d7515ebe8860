"""The documents beside the README are checked: their links lead somewhere, and their tables say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arrowproof.model.rung import Rung
from arrowproof.render.arrow_svg import rung_sample
from arrowproof.render.assets import asset

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "page.md").read_text(encoding="utf-8")


def table(document: str, head: str) -> list[list[str]]:
    """The rows of the table whose first heading is this one."""
    rows = re.search(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", document, re.MULTILINE)
    assert rows is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows[1].splitlines()]


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_every_file_that_a_document_links_to_is_there(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_page_document_says_what_every_rung_looks_like() -> None:
    rows = {word: look for word, _, look, _ in table(PAGE, "word")}

    assert list(rows) == [rung.words for rung in Rung]
    for rung in Rung:
        look = rows[rung.words]
        assert {"wrong": "red", "gap": "amber", "holds": "solid"}[rung.tone] in look
        assert ("open" in look) == ("tip open" in rung_sample(rung))


def test_the_page_document_names_every_key_of_an_address() -> None:
    keys = re.search(r"addressKeys = \[(.*)\]", asset("address.js"))
    assert keys is not None
    named = {fragment.removeprefix("`#").partition("=")[0] for fragment, _ in table(PAGE, "fragment")}

    assert named == set(re.findall(r'"(\w+)"', keys[1]))
