from __future__ import annotations

import pytest

from arrowproof.conformance.display import LINE_LIMIT, VALUE_LIMIT, block, one_line, places_text, row_text, value_text
from arrowproof.model.evidence import Place


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Retry wait", "Retry wait"),
        ("two\nlines\tand  tabs", "two lines and tabs"),
        ("red \x1b[31malarm", "red <U+001B>[31malarm"),
        ("abc\u202egnp.exe", "abc<U+202E>gnp.exe"),
        ("null\x00byte", "null<U+0000>byte"),
        ("lone \ud800 surrogate", "lone <U+D800> surrogate"),
        ("再試行待ち é 😀", "再試行待ち é 😀"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_no_character_acts_instead_of_being_read(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_a_megabyte_is_cut_and_says_so() -> None:
    shown = one_line("x" * 1_000_000)

    assert len(shown) < LINE_LIMIT + 40
    assert shown.endswith("… (1,000,000 characters)")


def test_a_megabyte_of_white_space_is_cut_too() -> None:
    assert one_line(" " * 1_000_000) == "… (1,000,000 characters)"


def test_a_block_keeps_its_lines() -> None:
    assert block("UPDATE jobs\r\n\tSET status = 'x'\x07") == "UPDATE jobs\n    SET status = 'x'<U+0007>"


def test_values_read_as_sql_would_say_them() -> None:
    assert [value_text(value) for value in (None, 3, 0.5, True, "x")] == ["null", "3", "0.5", "True", "x"]


def test_a_row_that_is_not_there_says_so() -> None:
    assert row_text(None) == "no row"
    assert row_text((("status", "failed"), ("attempts", 3))) == "status=failed, attempts=3"


def test_a_hostile_column_is_bounded_in_name_and_value() -> None:
    assert len(row_text((("c" * 5000, "v" * 5000),))) < 2 * VALUE_LIMIT + 60


def test_places_are_counted_beyond_the_fourth() -> None:
    places = [Place("a.sql", line) for line in (3, 9, 9, 12, 20, 31, 40)]

    assert places_text(places) == "a.sql:3, a.sql:9, a.sql:12, a.sql:20 and 2 more"
    assert places_text([]) == ""
