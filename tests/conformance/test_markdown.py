"""Texts as GitHub shows them: a reader of GitHub Flavored Markdown decides what they say there."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from arrowproof.conformance.display import one_line
from arrowproof.conformance.markdown import code, prose

SIGNS = st.text(st.sampled_from("\\`*_[]()<>!~$#|&;:@.-+=1 ab'\"/{}^\n\té再"), max_size=24)
TEXTS = st.one_of(SIGNS, st.text(max_size=40)).map(one_line)
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


class Page(HTMLParser):
    """The elements of a page without those that hold it together, and its text as a person sees it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.text = ""
        self.outside_code = ""
        self.feed(page)

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.elements.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += data.replace("\u200b", "")
        if self.elements.count("code") == self.elements.count("/code"):
            self.outside_code += data


def cell(text: str) -> Page:
    """What a text becomes in the second cell of a table with three."""
    page = READER.render(f"| a | b | c |\n| --- | --- | --- |\n| x | {text} | y |\n")
    (shown,) = re.findall(r"<td>x</td>\n<td>(.*)</td>\n<td>y</td>", page)
    return Page(shown)


def item(text: str) -> Page:
    """What a text becomes as an item of a list."""
    page = READER.render(f"- {text}\n")
    assert page.startswith("<ul>\n<li>"), page
    assert page.endswith("</li>\n</ul>\n"), page
    return Page(page[9:-12])


@given(TEXTS)
def test_a_text_as_words_says_what_it_says_and_does_nothing(text: str) -> None:
    for shown in (cell(prose(text)), item(prose(text))):
        assert shown.elements == []
        assert shown.text.strip() == text.replace("\u200b", "").strip()


@given(TEXTS)
def test_a_text_as_code_says_what_it_says_in_one_piece(text: str) -> None:
    shown = cell(code(text))

    assert set(shown.elements) <= {"code", "/code"}
    assert shown.text.strip() == text.replace("\u200b", "").strip()
    assert shown.outside_code.strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        "@octocat did it",
        "see #123 and GH-7",
        "mail a@b.example",
        "mail a@-b.example and a@.b",
        "octo/cat#5",
        "http://evil.example/x",
        "www.evil.example",
        "a :tada: and :+1:",
    ],
)
def test_what_github_would_make_a_link_or_a_picture_of_is_kept_apart(text: str) -> None:
    shown = item(prose(text))

    assert shown.text == text
    for meaning in (r"@[\w.-]", r"#\d", r"GH-\d", r"://", r"www\.", r":[\w+-]+:"):
        assert re.search(meaning, shown.outside_code) is None


def test_an_ordinary_name_stands_as_it_is_written() -> None:
    assert code("retry_wait -> completed") == "`retry_wait -> completed`"
    assert prose("retry_wait -> failed is not written (sql/worker.sql:62).") == (
        "retry_wait -> failed is not written (sql/worker.sql:62)."
    )
