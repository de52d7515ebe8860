from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from arrowproof.service.options import positive_seconds, seconds, whole_number


def test_a_whole_number_within_its_bounds_is_taken():
    assert [whole_number(1, 5)(text) for text in ("1", "5")] == [1, 5]


@pytest.mark.parametrize("text", ["0", "6", "-1", "1.0", "", " 1", "1_0", "٣", "²", "9" * 5000])
def test_any_other_number_is_an_error_that_shows_it(text):
    with pytest.raises(ArgumentTypeError, match=r"no whole number from 1 to 5"):
        whole_number(1, 5)(text)


def test_a_time_from_nothing_to_a_million_seconds_is_taken():
    assert [seconds(text) for text in ("0", "0.25", "1000000")] == [0.0, 0.25, 1_000_000.0]


@pytest.mark.parametrize("text", ["-0.1", "nan", "inf", "1e7", "soon", ""])
def test_any_other_time_is_an_error(text):
    with pytest.raises(ArgumentTypeError, match="no time in seconds"):
        seconds(text)


def test_where_no_time_at_all_makes_no_sense_it_is_an_error():
    assert positive_seconds("0.25") == 0.25
    with pytest.raises(ArgumentTypeError, match="'0' leaves no time"):
        positive_seconds("0")
