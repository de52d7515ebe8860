"""The scanner: JSON, and nothing but JSON, with a place for everything."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arrowproof.model.scanner import INTEGER_RANGE, MAX_DEPTH, ScanError, scan

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(min_value=INTEGER_RANGE.start, max_value=INTEGER_RANGE.stop - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=25
)
PIECES = (
    *("{", "}", "[", "]", ",", ":", " ", "\n", "\t", "\x00", "\x1f", "\u2028", "//", "'", "é", "１"),
    *('"', '"a"', '"b"', "\\", "\\u00e9", '"\\n"', "true", "null", "NaN", "-Infinity"),
    *("1", "0", "-", ".5", "e3", "1.5e-7", "01"),
)
JSON_LIKE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def same(left: Any, right: Any) -> bool:
    """Equal, and equal in kind: 1 is not 1.0 and not true, and -0.0 is not 0.0."""
    return repr(left) == repr(right)


def strict_loads(text: str) -> Any:
    """The standard library's reading, without its extensions of JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    data = json.loads(text, parse_constant=refuse)
    if any(isinstance(leaf, float) and not math.isfinite(leaf) for leaf in leaves(data)):
        raise ValueError("an infinite number")
    return data


def leaves(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return [leaf for value in data.values() for leaf in leaves(value)]
    if isinstance(data, list):
        return [leaf for value in data for leaf in leaves(value)]
    return [data]


@given(DOCUMENTS, st.sampled_from([None, 1, 3]), st.booleans())
@settings(deadline=None, max_examples=100)
def test_every_json_text_is_read_as_the_standard_library_reads_it(data: Any, indent: int | None, ascii_: bool) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_)
    assert same(scan(text).data, json.loads(text))


@given(JSON_LIKE)
@example('{"a":1}')
@example("[1.5e-7]")
@settings(deadline=None, max_examples=500)
def test_what_is_almost_json_is_refused_exactly_when_it_is_not_json(text: str) -> None:
    try:
        wanted = strict_loads(text)
    except ValueError:
        with pytest.raises(ScanError):
            scan(text)
    else:
        assert same(scan(text).data, wanted)


@given(DOCUMENTS, st.sampled_from([None, 2]))
@settings(deadline=None, max_examples=50)
def test_every_value_stands_where_its_place_says(data: Any, indent: int | None) -> None:
    text = json.dumps(data, indent=indent)
    decoder = json.JSONDecoder()

    def check(value: Any, place: Any) -> None:
        assert same(decoder.raw_decode(text, place.offset)[0], value)
        for name, (key_offset, member) in (place.members or {}).items():
            assert decoder.raw_decode(text, key_offset)[0] == name
            check(value[name], member)
        for item, item_place in zip(value if place.items is not None else [], place.items or [], strict=True):
            check(item, item_place)

    result = scan(text)
    check(result.data, result.place)


@pytest.mark.parametrize(
    ("text", "offset", "message", "hint"),
    [
        ("", 0, "the file is empty", "arrowproof init"),
        (" \n\t", 0, "the file is empty", "arrowproof init"),
        ('{"a": 1,}', 7, "expected another entry after ',', found '}'", "remove it"),
        ("[1,]", 2, "expected another entry after ',', found ']'", "remove it"),
        ("[1 2]", 3, "expected ',' or ']', found '2'", "comma"),
        ('{"a" 1}', 5, "expected ':', found '1'", "colon"),
        ("{a: 1}", 1, "expected a field name, found 'a'", "double quotes"),
        ("{'a': 1}", 1, "expected a field name, found '''", "straight double quotes"),
        ("{“a”: 1}", 1, "expected a field name, found '“'", "straight double quotes"),
        ("[01]", 1, "expected a value, found '01'", "leading zero"),
        ("[+1]", 1, "expected a value, found '+1'", "plus sign"),
        ("[1.]", 1, "expected a value, found '1.'", "both sides of its point"),
        ("[.5]", 1, "expected a value, found '.5'", "both sides of its point"),
        ("[True]", 1, "expected a value, found 'True'", "true, false and null"),
        ("[None]", 1, "expected a value, found 'None'", "true, false and null"),
        ("<!doctype html>", 0, "expected a value, found '<'", "name that JSON file"),
        ("// x\n{}", 0, "expected a value, found '/'", "no comments"),
        ('{"a": 1, # x\n"b": 2}', 9, "expected a field name, found '#'", "no comments"),
        ("[1, NaN]", 4, "NaN is no JSON number", "finite"),
        ("[-Infinity]", 1, "-Infinity is no JSON number", "finite"),
        ("[1e999]", 1, "the number 1e999… is too large", "64 bits"),
        ("[9223372036854775808]", 1, "the number 9223372036854775808… is too large", "64 bits"),
        ("[" + "9" * 5000 + "]", 1, "the number 999999999999999999999999… is too large", "64 bits"),
        ('["a\nb"]', 3, "a line break inside a string", r"\n"),
        ('["a\tb"]', 3, "the control character U+0009 inside a string", r"Write it as \t,"),
        (r'["C:\temp\new"]', 9, "", ""),
        (r'["\q"]', 2, "unknown escape in a string", r"\\ for a backslash"),
        (r'["\ud800"]', 1, "half of a surrogate pair", "both halves"),
        ('["abc', 1, "a string that the file ends in", "double quote"),
        ("[1", 2, "expected ',' or ']', found the end of the file", "comma"),
        ("{} {}", 3, "expected the end of the file, found '{'", "Remove"),
        ("\ufeff{}", 0, "expected a value, found the character U+FEFF", "Write"),
        ("\x00", 0, "expected a value, found the character U+0000", "Write"),
    ],
)
def test_a_syntax_error_says_where_it_is_what_is_wrong_and_what_to_do(
    text: str, offset: int, message: str, hint: str
) -> None:
    if not message:  # \t and \n are escapes: a Windows path is only half wrong
        assert scan(text).data == ["C:\temp\new"]
        return
    with pytest.raises(ScanError) as caught:
        scan(text)
    assert caught.value.offset == offset
    assert caught.value.message.startswith(message)
    assert hint in caught.value.fix


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert scan(r'"\ud83d\ude00"').data == "\U0001f600"


def test_the_largest_and_smallest_integers_of_a_column_are_read() -> None:
    assert scan("[-9223372036854775808, 9223372036854775807]").data == [-(2**63), 2**63 - 1]


def test_nesting_is_read_to_the_limit_and_refused_beyond() -> None:
    scan("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(ScanError) as caught:
        scan("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert caught.value.rule == "too-deep"


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_a_hundred_thousand_open_brackets_are_an_error_and_no_recursion(opening: str) -> None:
    with pytest.raises(ScanError) as caught:
        scan(opening * 100_000)
    assert caught.value.rule == "too-deep"


def test_an_error_knows_the_path_it_is_at() -> None:
    with pytest.raises(ScanError) as caught:
        scan('{"states": [{"id": "a"}, {"id": nope}]}')
    assert caught.value.path == ("states", 1, "id")


def test_repeated_names_are_all_kept_and_the_last_value_wins() -> None:
    result = scan('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3, "a": 4}')
    assert result.data == {"a": 4, "b": {"c": 2}}
    assert [(duplicate.path, duplicate.offset) for duplicate in result.duplicates] == [
        (("b", "c"), 23),
        (("a",), 32),
        (("a",), 40),
    ]


def test_a_name_spelled_with_an_escape_is_the_same_name() -> None:
    assert [duplicate.path for duplicate in scan(r'{"a": 1, "\u0061": 2}').duplicates] == [("a",)]


def test_a_megabyte_of_one_string_is_read() -> None:
    text = "x" * 1_000_000 + r"\n" * 1000
    assert len(scan(f'"{text}"').data) == 1_001_000
