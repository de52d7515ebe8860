"""A script in few characters: what becomes of names and white space, and that a browser reads it as before."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from arrowproof.render.assets import TEMPLATES
from arrowproof.render.page import SCRIPTS
from arrowproof.render.script_tokens import Sort, script_tokens
from arrowproof.render.short_script import OF_BROWSER, short_names, short_scripts

SOURCES = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS}


def short(source: str) -> str:
    return short_scripts({"only": source})["only"].removesuffix("\n")


@pytest.mark.parametrize(
    ("source", "carried"),
    [
        ("const { padding } = limits;", "const{padding:a}=limits;"),
        ("const { padding = 1, other: mine } = limits;", "const{padding:a=1,other:c}=limits;"),
        ("const first = (left, right) => left + right;", "const c=(b,a)=>b+a;"),
        ("const kept = { kept, other: kept.kept, [kept]: 1, ...kept };", "const a={kept:a,other:a.kept,[a]:1,...a};"),
        (
            "const made = { made() { return made; }, get made() { return 1; } };",
            "const a={made(){return a;},get made(){return 1;}};",
        ),
        ("const count = 1; const say = () => { count = 2; };", "const a=1;const b=()=>{a=2;};"),
        ("const named = maybe ? named : { named: 1 };", "const a=maybe?a:{named:1};"),
        ("for (const item of items) { item?.item(item); }", "for(const a of items){a?.item(a);}"),
        ("const event = 1; listen((event) => event.name);", "const event=1;listen((event)=>event.name);"),
        (
            "const list = ({ shown: { inner } }, [one = other.one]) => inner + one;",
            "const d=({shown:{inner:a}},[b=other.one])=>a+b;",
        ),
        ("const text = `a ${value} b ${`c ${text}`} d`;", "const a=`a ${value} b ${`c ${a}`} d`;"),
        ('const text = "const  text";', 'const a="const  text";'),
        ("const text = 'it\\'s  text'; // text", "const a='it\\'s  text';"),
        (
            "const half = whole / 2 / half; const found = / half[/ ] /.test(half);",
            "const a=whole/2/a;const b=/ half[/ ] /.test(a);",
        ),
        ("const sum = a - -b + +c - --d;", "const e=a- -b+ +c- --d;"),
        ("const one = 1\nconst two = 2\nreturn one\n+two", "const a=1\nconst b=2\nreturn a\n+b"),
        ("if (one)\n  two();\nelse three();", "if(one)\ntwo();else three();"),
        ("a = 1; /* two\nlines */ b = 2;", "a=1;b=2;"),
    ],
)
def test_variables_get_short_names_and_properties_and_texts_stay(source: str, carried: str) -> None:
    assert short(source) == carried


def test_a_name_is_the_same_in_every_part() -> None:
    made = short_scripts({"one": "const shared = (value) => value;", "two": "startParts.push(() => shared(1));"})
    assert made == {"one": "const a=(b)=>b;\n", "two": "startParts.push(()=>a(1));\n"}


def test_the_name_that_saves_most_is_the_shortest_and_no_new_name_is_in_use() -> None:
    tokens = list(script_tokens("const often = 1, a = often + often; const rarely = often + b;"))
    assert short_names(tokens) == {"often": "c", "rarely": "d"}


@pytest.mark.parametrize("broken", ["const text = `never closed;", 'const text = "never closed;\n', "if (open) {"])
def test_a_script_that_cannot_be_read_is_an_error(broken: str) -> None:
    with pytest.raises(ValueError, match="script"):
        short(broken)


PARSE = """async (parts) => {
  const modules = parts.map((part) => new Blob([`export const script = () => {${part}};`], {type: "text/javascript"}));
  const reads = modules.map((each) => import(URL.createObjectURL(each)).then(() => "parsed", (error) => String(error)));
  return Promise.all(reads);
}"""
"""Each part as the browser reads it, strictly."""


def test_a_browser_reads_each_part_of_the_script_as_it_is_carried(browser: Browser) -> None:
    tab = browser.new_page()
    assert tab.evaluate(PARSE, list(short_scripts(SOURCES).values())) == ["parsed"] * len(SCRIPTS)
    assert tab.evaluate(PARSE, ["const = 1;"]) != ["parsed"]
    tab.close()


def test_neither_a_name_that_is_replaced_nor_a_new_one_means_anything_to_the_browser(browser: Browser) -> None:
    names = short_names([token for source in SOURCES.values() for token in script_tokens(source)])
    tab = browser.new_page()
    tab.set_content("<p>")
    known = tab.evaluate("(names) => names.filter((name) => name in globalThis)", [*names, *names.values()])
    held = tab.evaluate("(names) => names.filter((name) => !(name in globalThis))", sorted(OF_BROWSER))
    assert (known, held) == ([], [])
    tab.close()


def test_the_script_is_a_quarter_shorter_than_without_comments_and_indentation() -> None:
    plain = sum(
        len(line.strip()) + 1
        for source in SOURCES.values()
        for line in source.splitlines()
        if line.strip() and not line.strip().startswith("//")
    )
    carried = sum(map(len, short_scripts(SOURCES).values()))
    assert carried < 0.75 * plain
    words = {token.text for source in SOURCES.values() for token in script_tokens(source) if token.sort is Sort.WORD}
    assert {"addEventListener", "dataset", "startParts"} <= words
