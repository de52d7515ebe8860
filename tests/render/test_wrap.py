from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowproof.render.text import clean_text, graphemes, text_width
from arrowproof.render.wrap import count_lines, unbroken_width, wrap_text

ALPHABET = st.sampled_from("ab _.-/字、」（Aé\u0301👍😀")


def test_a_text_that_fits_stays_on_one_line() -> None:
    assert wrap_text("poll", 100, 13) == ("poll",)
    assert wrap_text("", 100, 13) == ()


def test_lines_are_about_equally_long() -> None:
    lines = wrap_text("one two three four five six", 110, 13)
    widths = [text_width(line, 13) for line in lines]
    assert len(lines) == 2
    assert max(widths) - min(widths) < 40


def test_a_long_word_breaks_at_its_joints_first() -> None:
    assert wrap_text("com.example.VeryLongHandlerFactory", 130, 13) == ("com.example.Very", "LongHandlerFactory")
    assert wrap_text("wait_for_the_operator", 90, 13) == ("wait_for_", "the_operator")


def test_a_word_without_joints_breaks_anywhere_and_loses_nothing() -> None:
    lines = wrap_text("x" * 300, 100, 13)
    assert "".join(lines) == "x" * 300
    assert max(text_width(line, 13) for line in lines) <= 100


def test_japanese_breaks_between_characters_but_not_before_a_closing_sign() -> None:
    lines = wrap_text("支払いが完了した（決済会社の通知）。在庫を「確保」、出荷する", 80, 13)
    assert len(lines) > 3
    assert not any(line[0] in "。、」）ー" or line[-1] in "「（" for line in lines)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("新しいコミットを push", ("新しい", "コミットを push")),
        ("base ブランチが進む", ("base", "ブランチが進む")),
        ("損害額が1200万円以上", ("損害額が", "1200万円以上")),
        ("異議の申し立てを受理", ("異議の", "申し立てを受理")),
    ],
)
def test_japanese_breaks_where_a_phrase_ends_and_tears_no_word_or_number(text: str, lines: tuple[str, ...]) -> None:
    assert wrap_text(text, 104, 13) == lines


def test_a_long_japanese_phrase_breaks_inside_but_not_in_a_word_in_katakana() -> None:
    assert wrap_text("再インデックスに失敗", 100, 13) == ("再インデックス", "に失敗")


def test_korean_breaks_at_spaces_alone() -> None:
    assert wrap_text("결제가 완료되었습니다", 110, 13) == ("결제가", "완료되었습니다")


def test_the_slash_of_an_effect_is_never_alone() -> None:
    width = text_width("charge.succeeded", 13)
    assert wrap_text("/ charge.succeeded", width, 13) == ("/ charge.", "succeeded")


def test_the_widest_part_without_a_joint_is_known_up_to_a_limit() -> None:
    word = "Umgebungsvorbereitung"
    assert unbroken_width(f"{word} in_this_place", 190, 13) == text_width(word, 13)
    assert unbroken_width(f"{word} in_this_place", 100, 13) == text_width("place", 13)
    assert unbroken_width("", 100, 13) == 0


@pytest.mark.parametrize("text", ["👨\u200d👩\u200d👧" * 9, "e\u0301" * 60, "🇯🇵" * 20])
def test_no_grapheme_is_split(text: str) -> None:
    whole = graphemes(text)
    assert [cluster for line in wrap_text(text, 60, 13) for cluster in graphemes(line)] == whole


def test_a_comparison_without_room_on_one_line_breaks_before_its_sign_where_that_is_narrower() -> None:
    assert wrap_text("[scheduled_at <= now]", 104, 13) == ("[scheduled_at", "<= now]")
    assert wrap_text("[scheduled_at <= now]", 160, 13) == ("[scheduled_at <= now]",)


def test_a_last_line_takes_a_word_from_the_others_where_that_costs_no_width() -> None:
    assert wrap_text("each is picker each parcel and each", 70, 13) == ("each is", "picker each", "parcel", "and each")
    assert wrap_text("schedulingGates set", 104, 13) == ("schedulingGates", "set")


def test_a_long_word_is_cut_into_parts_of_about_the_same_width() -> None:
    widths = [text_width(line, 13) for line in wrap_text("x" * 33, 100, 13)]
    assert len(widths) == 3
    assert max(widths) - min(widths) < 8


def test_a_comparison_and_a_number_with_its_unit_stay_together_where_they_fit() -> None:
    assert wrap_text("error rate < 1 % for 10 min", 110, 13) == ("error rate < 1 %", "for 10 min")
    assert wrap_text("attempts < max_attempts", 100, 13) == ("attempts <", "max_attempts")


@given(st.text(ALPHABET, max_size=80), st.floats(30, 200))
def test_nothing_is_lost_and_no_line_is_too_wide(text: str, width: float) -> None:
    lines = wrap_text(text, width, 13)
    assert "".join(lines).replace(" ", "") == clean_text(text).replace(" ", "")
    for line in lines:
        assert text_width(line, 13) <= width or len(graphemes(line)) == 1
        assert line == line.strip()


WORDS = (
    "a < b",
    "attempts = max_attempts",
    "/ history row",
    "after 10 min",
    "支払いが確認された",
    "リトライカウント 注文",
    "слот освободился",
    "حالة الطلب",
    "👩‍💻",
    "CamelCaseOfOneVeryLongWord",
    "x" * 40,
)


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=30), max_size=8), st.floats(10, 300), st.booleans())
def test_lines_are_counted_as_they_are_wrapped(words: list[str], width: float, is_close: bool) -> None:
    text = ("" if is_close else " ").join(words)
    assert count_lines(text, width, 13) == len(wrap_text(text, width, 13))
