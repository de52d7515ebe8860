"""Documents: bytes become data with lines and columns, or one clear error."""

from __future__ import annotations

import pytest

from arrowproof.errors import ModelError, Problem
from arrowproof.model.document import MAX_BYTES, MAX_PATH, path_text, read_document, short_json


def refusal(data: bytes) -> Problem:
    """The one problem that reading ``data`` comes to."""
    with pytest.raises(ModelError) as caught:
        read_document(data, "x.json")
    (problem,) = caught.value.problems
    assert problem.fix
    return problem


@pytest.mark.parametrize(
    ("data", "rule", "place", "words"),
    [
        (b"", "empty-file", (1, 1), "empty"),
        (b"\xef\xbb\xbf{}", "byte-order-mark", (1, 1), "byte order mark"),
        ("{}".encode("utf-16"), "encoding", (1, 1), "UTF-16"),
        ("{}".encode("utf-16-le"), "encoding", (1, 1), "UTF-16"),
        ("{}".encode("utf-16-be"), "encoding", (1, 1), "UTF-16"),
        ("{}".encode("utf-32"), "encoding", (1, 1), "UTF-32"),
        ('{"é": "é"}'.encode() + b"\n\xe9", "encoding", (2, 1), "byte 0xE9 is not UTF-8"),
        ('{\n "é": "caf'.encode() + b'\xe9"}', "encoding", (2, 11), "byte 0xE9 is not UTF-8"),
        (b'"\xed\xa0\x80"', "encoding", (1, 2), "byte 0xED is not UTF-8"),
        (b"{" + b" " * MAX_BYTES + b"}", "too-large", (1, 1), str(MAX_BYTES)),
        (b'{\n  "a": 1\n  "b": 2\n}', "syntax", (3, 3), "expected ',' or '}'"),
        (b'{\r\n  "a": nope\r\n}', "syntax", (2, 8), "expected a value, found 'nope'"),
    ],
)
def test_a_file_that_is_no_json_is_refused_with_its_place(
    data: bytes, rule: str, place: tuple[int, int], words: str
) -> None:
    problem = refusal(data)
    assert (problem.rule, problem.line, problem.column) == (rule, *place)
    assert words in problem.message


def test_a_file_of_exactly_the_limit_is_read() -> None:
    assert read_document(b"{" + b" " * (MAX_BYTES - 2) + b"}", "x.json").data == {}


def test_a_repeated_name_is_a_problem_that_does_not_hide_the_rest() -> None:
    document = read_document(b'{"a": 1,\n "a": {"b": 2,\n  "b": 3}}', "x.json")
    assert [str(problem) for problem in document.problems] == [
        '2:2 $.a: this field is given twice: "a". Remove one of the two; the first stands in line 1. [duplicate-key]',
        '3:3 $.a.b: this field is given twice: "b". Remove one of the two; the first stands in line 2. [duplicate-key]',
    ]


def test_values_and_names_have_lines_and_columns_that_count_characters() -> None:
    document = read_document('{\n  "é": [1,\n "ü", {"x y": null}]}'.encode(), "x.json")
    assert document.position(("é", 1)) == (3, 2)
    assert document.position(("é", 2, "x y")) == (3, 15)
    assert document.key_position(("é", 2, "x y")) == (3, 8)
    assert document.position(("é", 7, "z")) == (2, 8)  # the nearest ancestor
    assert document.positions()['$["é"][2]["x y"]'] == (3, 15)


def test_deep_paths_of_long_names_do_not_fill_the_positions() -> None:
    nested = ('{"' + "k" * 90 + '": ') * 20 + "[" + "1," * 1000 + "1]" + "}" * 20
    assert max(map(len, read_document(nested.encode(), "x.json").positions())) <= MAX_PATH


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "$"),
        (("states", 2, "kind"), "$.states[2].kind"),
        (("a b", "", "x.y"), '$["a b"][""]["x.y"]'),
        (("\x1b[31m",), r'$["\u001b[31m"]'),
        (("é",), '$["é"]'),
    ],
)
def test_a_path_is_written_so_that_people_and_terminals_can_read_it(path: tuple[str | int, ...], text: str) -> None:
    assert path_text(path) == text


def test_a_long_path_is_cut_in_the_middle() -> None:
    text = path_text(("a" * 1000, "b" * 1000))
    assert len(text) <= MAX_PATH
    assert "…" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", '"x"'),
        (1.5, "1.5"),
        (None, "null"),
        ({"a": [1]}, '{"a": [1]}'),
        ("\x1b[2J\u202e\x7f\u009b", r'"\u001b[2J\u202e\u007f\u009b"'),
        (list(range(1000)), "an array of 1000 entries"),
        ("日本", '"日本"'),
    ],
)
def test_a_value_is_shown_short_and_without_control_characters(value: object, text: str) -> None:
    assert short_json(value) == text


@pytest.mark.parametrize("value", ["x" * 10_000, "\x00" * 10_000, "\U0001f600" * 10_000, [["y" * 10_000]]])
def test_a_shown_value_is_bounded(value: object) -> None:
    assert len(short_json(value)) <= 80
