"""The documents beside the README are checked: their links lead somewhere, and their tables say what the code does."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest

from arrowproof.conformance import driver, rivals
from arrowproof.model.linter import lint
from arrowproof.model.loader import parse_lifecycle
from arrowproof.model.rung import Rung
from arrowproof.model.schema import load_schema
from arrowproof.render.arrow_svg import rung_sample
from arrowproof.render.assets import TEMPLATES

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "page.md").read_text(encoding="utf-8")
DRIVER = (DOCS / "driver.md").read_text(encoding="utf-8")
LIFECYCLE = (DOCS / "lifecycle.md").read_text(encoding="utf-8")


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
    keys = re.search(r"addressKeys = \[(.*)\]", (TEMPLATES / "address.js").read_text(encoding="utf-8"))
    assert keys is not None
    named = {fragment.removeprefix("`#").partition("=")[0] for fragment, _ in table(PAGE, "fragment")}

    assert named == set(re.findall(r'"(\w+)"', keys[1]))


def test_the_document_of_the_file_names_every_field_of_the_schema_and_which_must_be_there() -> None:
    schema = load_schema("lifecycle")
    objects = {"file": schema, **{name.replace("_", " "): each for name, each in schema["$defs"].items()}}
    fields = {
        (name, field, field in each["required"])
        for name, each in objects.items()
        for field in each.get("properties", ())
    }
    named = [(where, field.strip("*`"), "**" in field) for where, field, _ in table(LIFECYCLE, "where")]

    assert len(named) == len(set(named))
    assert set(named) == fields


def test_the_example_of_the_document_uses_every_part_of_a_file_and_lints_strictly() -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```$", LIFECYCLE, re.MULTILINE | re.DOTALL)
    lifecycle = parse_lifecycle(example.encode(), source="docs/lifecycle.md")

    assert lint(lifecycle) == ()
    assert set(load_schema("lifecycle")["properties"]) - set(json.loads(example)) == {
        "$schema",
        "sources",
        "dialect",
        "driver",
    }


def test_the_driver_of_the_document_is_the_one_of_the_example_in_forty_lines() -> None:
    shown, *_ = re.findall(r"^```python\n(.*?)^```$", DRIVER, re.MULTILINE | re.DOTALL)

    assert shown == (DOCS.parent / "examples" / "booking" / "booking_driver.py").read_text(encoding="utf-8")
    assert len(shown.splitlines()) <= 40


def test_the_document_of_drivers_names_every_method_with_what_it_is_given_and_which_must_be_there() -> None:
    known = {**vars(driver), **vars(rivals)}
    protocols = [each for each in known.values() if getattr(each, "_is_protocol", False)]
    methods = {
        name: f"{name}({', '.join(list(signature(method).parameters)[1:])})"
        for protocol in protocols
        if protocol.__name__.endswith("Driver")
        for name, method in vars(protocol).items()
        if callable(method) and not name.startswith("_")
    }
    named = {method.strip("`"): needed == "**yes**" for method, needed, _ in table(DRIVER, "method")}

    assert set(named) == set(methods.values())
    assert {method for method, is_needed in named.items() if is_needed} == {methods[name] for name in driver.NEEDED}


def test_what_the_document_says_that_a_driver_answers_is_what_it_answers() -> None:
    answers = re.findall(r"`(Walked|Killed)\((.*?)\)`", DRIVER)

    assert {name for name, _ in answers} == {"Walked", "Killed"}
    for name, given in answers:
        assert [field.name for field in fields(getattr(driver, name))] == given.split(", ")
