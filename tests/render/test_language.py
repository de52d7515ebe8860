from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import arrowproof
from arrowproof.render.language import FOLDER, LANGUAGES, SCRIPT_PREFIX, load_language
from arrowproof.render.page import render_page
from tests.render.pages import NOTES, Collector, grid_drawing

PACKAGE = Path(arrowproof.__file__).parent
TEMPLATES = PACKAGE / "render" / "templates" / "page"
CALLED = {"language", "text"}
"""What a language is called where its texts are asked for."""

others = pytest.mark.parametrize("tag", LANGUAGES[1:])


def stem(key: str) -> str:
    """The key without the ending of a form that depends on a number."""
    return key.removesuffix(".one").removesuffix(".other")


def is_form(key: str) -> bool:
    return stem(key) != key


def placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\{(\w*)\}", text))


# --- The texts of a language beside those of another


def test_every_file_of_texts_is_a_language_and_the_other_way_round() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(LANGUAGES)


@others
def test_every_language_has_the_same_keys_but_for_the_forms_of_numbers(tag: str) -> None:
    first, other = load_language().texts, load_language(tag).texts
    assert {stem(key) for key in first} == {stem(key) for key in other}
    assert {key for key in first if not is_form(key)} == {key for key in other if not is_form(key)}


@pytest.mark.parametrize("tag", LANGUAGES)
def test_what_depends_on_a_number_has_a_form_for_every_number(tag: str) -> None:
    texts = load_language(tag).texts
    assert {f"{stem(key)}.other" for key in texts if is_form(key)} <= texts.keys()


@others
def test_a_text_takes_the_same_values_in_every_language(tag: str) -> None:
    first, other = load_language().texts, load_language(tag).texts
    differing = {
        key: (wanted, placeholders(text))
        for key, text in other.items()
        if placeholders(text) != (wanted := placeholders(first.get(key) or first[f"{stem(key)}.other"]))
    }
    assert differing == {}


@pytest.mark.parametrize("tag", LANGUAGES)
def test_no_text_is_empty_or_given_twice(tag: str) -> None:
    pairs = json.loads((FOLDER / f"{tag}.json").read_text(encoding="utf-8"), object_pairs_hook=list)
    keys = [key for key, _ in pairs]
    assert sorted(keys) == sorted(set(keys))
    assert [key for key, text in pairs if not text.strip()] == []


def test_japanese_texts_are_japanese() -> None:
    english, japanese = load_language("en").texts, load_language("ja").texts
    same = {key for key, text in japanese.items() if english.get(key) == text and re.search(r"[a-z]{2}", text)}
    assert same == set()


# --- The texts beside what asks for them


def written_in_python() -> Iterator[tuple[str, bool]]:
    """Each text literal of the package as a pattern, and whether a language is asked for it there."""
    for path in (PACKAGE / "render").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asked = {
            node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args and _asks(node.func)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr | ast.Constant) and (pattern := _pattern(node)):
                yield pattern, node in asked


def _asks(called: ast.expr) -> bool:
    if isinstance(called, ast.Attribute):
        return called.attr == "language" or (called.attr == "count" and _asks(called.value))
    return isinstance(called, ast.Name) and called.id in CALLED


def _pattern(literal: ast.JoinedStr | ast.Constant) -> str:
    parts = literal.values if isinstance(literal, ast.JoinedStr) else [literal]
    texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    return "".join(re.escape(text) if isinstance(text, str) else r"[\w.]+" for text in texts) if any(texts) else ""


def written_in_templates() -> Iterator[tuple[str, bool]]:
    for path in (*TEMPLATES.glob("*.j2"), PACKAGE / "render" / "preview.html"):
        for text, more in re.findall(r"""\btext(?:\.count)?\(\s*"([^"]+)"\s*(~?)""", path.read_text(encoding="utf-8")):
            yield re.escape(text) + (r"[\w.]+" if more else ""), True


def written_in_scripts() -> Iterator[tuple[str, bool]]:
    for path in TEMPLATES.glob("*.js"):
        for call in re.findall(r"\bsay\(([^,)]*)", path.read_text(encoding="utf-8")):
            for text in re.findall(r"[\"`]([^\"`]+)[\"`]", call):
                yield re.sub(r"\\\$\\\{[^}]*\}", r"[\\w.]+", re.escape(SCRIPT_PREFIX + text)), True


def written() -> list[tuple[str, bool]]:
    return [*written_in_python(), *written_in_templates(), *written_in_scripts()]


def test_every_text_that_is_asked_for_is_there() -> None:
    known = {each for key in load_language().texts for each in (key, stem(key))}
    asked = {pattern for pattern, is_asked in written() if is_asked}
    assert len(asked) > 30
    assert sorted(pattern for pattern in asked if not any(re.fullmatch(pattern, key) for key in known)) == []


def test_every_text_that_is_there_is_asked_for() -> None:
    # A text with parts to fill in names keys where its beginning is that of a key, as in "kind.…".
    patterns = {pattern for pattern, _ in written() if r"[\w.]+" not in pattern or re.match(r"[a-z.\\]+\\\.", pattern)}
    used = re.compile("|".join(sorted(patterns)))
    assert sorted(key for key in load_language().texts if not used.fullmatch(stem(key))) == []


def test_a_number_takes_its_form_and_sets_its_thousands_apart() -> None:
    english, japanese = load_language(), load_language("ja")

    assert [english.count("count.states", number) for number in (0, 1, 1200)] == ["0 states", "1 state", "1,200 states"]
    assert japanese.count("count.states", 1) == japanese("count.states.other", number=1)


# --- A page in a language


@pytest.mark.parametrize("tag", LANGUAGES)
def test_a_page_says_what_language_it_is_in(tag: str) -> None:
    page = Collector(render_page(NOTES, grid_drawing(NOTES), load_language(tag)))
    assert dict(page.elements)["html"]["lang"] == tag


def test_a_japanese_page_has_no_english_but_that_of_the_model() -> None:
    page = Collector(render_page(NOTES, grid_drawing(NOTES), load_language("ja")))
    english = Collector(render_page(NOTES, grid_drawing(NOTES)))
    spoken = {text for _, attributes in page.elements for text in (attributes.get("aria-label"),) if text}
    said = set(re.findall(r"[A-Za-z]{3,}", f"{page.text} {' '.join(spoken)}"))
    model = {*re.findall(r"[A-Za-z]{3,}", str(NOTES)), "Arrowproof", "SVG", "PNG", "Mermaid"}
    assert said - model == set()
    assert set(re.findall(r"[A-Za-z]{3,}", english.text)) - model >= {"transitions", "Where", "Theme"}


def test_a_japanese_page_parts_what_it_lists_as_japanese_does() -> None:
    page = render_page(NOTES, language=load_language("ja"))
    named = re.findall(r'<g class="state [^>]*aria-label="([^"]*)"', page)
    assert [name.partition("、")[0] for name in named] == ["pending", "attempt", "done", "lost"]
    assert "、5 矢印、" in page.partition("</title>")[0]


def test_a_language_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="'tlh' is none of en, ja"):
        load_language("tlh")
