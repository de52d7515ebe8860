from __future__ import annotations

import pytest

from arrowproof.render.language import load_language
from arrowproof.render.moments import duration_text, time_text

ENGLISH, JAPANESE = load_language("en"), load_language("ja")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.0427, "43 ms"),
        (0.5, "0.5 s"),
        (4, "4 s"),
        (59.9, "59.9 s"),
        (59.96, "1 min"),
        (127.25, "2 min 7 s"),
        (240, "4 min"),
        (3599.7, "1 h"),
        (11_000, "3 h 3 min"),
        (86_399.9, "1 d"),
        (86_400 * 30 + 7200, "30 d 2 h"),
        (1e300, "115,740,740 d 18 h"),
    ],
)
def test_a_length_of_time_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration_text(seconds, ENGLISH) == text


def test_a_time_is_told_to_the_minute_in_utc() -> None:
    assert time_text("2026-11-09T21:31:31Z", ENGLISH) == "9 Nov 2026, 21:31 UTC"
    assert time_text("2026-11-09T21:31:31.25Z", JAPANESE) == "2026年11月9日 21:31 UTC"
    assert duration_text(127.25, JAPANESE) == "2 分 7 秒"


@pytest.mark.parametrize(
    "moment", ["yesterday", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "٢٠٢٦-01-01T00:00Z"]
)
def test_a_time_in_another_form_stays_as_it_is(moment: str) -> None:
    assert time_text(moment, ENGLISH) == moment


def test_a_time_that_is_a_long_text_is_bounded() -> None:
    assert len(time_text("x" * 5000, ENGLISH)) == 40
