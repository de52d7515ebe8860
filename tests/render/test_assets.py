"""What pages carry of the style and the script, beside the files that people write."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser

from arrowproof.render.assets import TEMPLATES, asset, tightened
from arrowproof.render.page import SCRIPTS

PARSE = """async (parts) => {
  const modules = parts.map((part) => new Blob([`export const script = () => {${part}};`], {type: "text/javascript"}));
  const reads = modules.map((each) => import(URL.createObjectURL(each)).then(() => "parsed", (error) => String(error)));
  return Promise.all(reads);
}"""
"""Each part as the browser reads it, strictly."""


@pytest.mark.parametrize(
    ("line", "carried"),
    [
        ("const { padding } = limits;", "const{padding}=limits;"),
        ("if (a <= b && c !== d) return x ? y : [z, 1];", "if (a<=b&&c!==d) return x?y:[z,1];"),
        ('say("a , b", { c });', 'say("a , b",{c});'),
        ("const text = `${a} : ${b}`;", "const text=`${a} : ${b}`;"),
        ('const quoted = "a \\" , b", c = d;', 'const quoted="a \\" , b",c=d;'),
    ],
)
def test_a_line_of_the_script_loses_spaces_around_signs_and_none_in_a_text(line: str, carried: str) -> None:
    assert tightened(line) == carried


@pytest.mark.parametrize(
    "line",
    [
        "a = b / c, d = e / f;",
        "text.replace(/ , /g, x);",
        "const text = 'a , b';",
        "const text = `${a ? `, ${b}` : c}`;",
        "return -a - -b + +c;",
    ],
)
def test_a_line_whose_spaces_may_mean_something_stays_as_it_is(line: str) -> None:
    assert tightened(line) == line


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_loses_nothing_but_spaces_and_comments(name: str) -> None:
    written = [line.strip() for line in (TEMPLATES / name).read_text(encoding="utf-8").splitlines()]
    lines = [line for line in written if line and not line.startswith("//")]
    carried = asset(name).splitlines()
    assert [re.sub(" ", "", line) for line in carried] == [re.sub(" ", "", line) for line in lines]
    # A text over several lines would not be seen as one.
    assert all(line.count("`") % 2 == 0 for line in lines)


def test_a_browser_reads_each_script_as_it_is_carried(browser: Browser) -> None:
    tab = browser.new_page()
    assert tab.evaluate(PARSE, [asset(name) for name in SCRIPTS]) == ["parsed"] * len(SCRIPTS)
    assert tab.evaluate(PARSE, ["const = 1;"]) != ["parsed"]
    tab.close()
