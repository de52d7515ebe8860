from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markupsafe import escape

from arrowproof.render.drawing import Box
from arrowproof.render.key import NUMBER, SIGN, Key, KeyRow, KeySettings, key_of_stage
from arrowproof.render.key_picture import key_picture
from arrowproof.render.language import load_language
from arrowproof.render.outline import outline_lifecycle
from arrowproof.render.ruler import Ruler
from arrowproof.render.stage import set_stage
from tests.render.extremes import with_sneak_paths, wordy_dense
from tests.render.proofs import proof_of

WORDS = "the operator confirms it by hand [attempts < max_attempts] / a history row is written and mailed"
RULER, ENGLISH = Ruler(), load_language()


def key_of(count: int, label: str) -> Key:
    return Key(tuple(KeyRow(n + 1, n, f"{label} {n}", f"event {n}", f"{n + 1}: {label} {n}") for n in range(count)))


def test_a_key_that_has_room_has_whole_labels_in_one_column() -> None:
    fitted = KeySettings(key_of(10, "label"), RULER).fit(24, 40, 0.3)
    assert (fitted.columns, fitted.row, fitted.is_whole) == (1, 0.3, True)
    assert fitted.text(fitted.rows[0]) == "label 0"


def test_a_key_with_less_room_is_set_closer_and_then_in_two_columns() -> None:
    fitted = [KeySettings(key_of(20, "label"), RULER).fit(30, height, 0.3) for height in (50, 31, 16)]
    assert [(each.columns, each.row) for each in fitted] == [(1, 0.3), (1, 0.04), (2, 0.04)]
    assert all(each.height <= height for each, height in zip(fitted, (50, 31, 16), strict=True))


def test_where_whole_labels_do_not_fit_the_key_has_events_and_room_for_one_whole_label() -> None:
    fitted = KeySettings(key_of(28, WORDS), RULER).fit(24, 46, 0.1)
    assert not fitted.is_whole
    assert fitted.text(fitted.rows[3]) == "event 3"
    assert fitted.whole >= 3
    assert fitted.height <= 46


def test_where_events_take_several_lines_they_end_in_an_ellipsis_at_a_word() -> None:
    event = f"{WORDS} {WORDS}"
    key = Key(tuple(KeyRow(n + 1, n, f"{event} [guard]", event, event) for n in range(12)))
    fitted = KeySettings(key, RULER).fit(24, 46, 0.1)
    assert fitted.left_out == 0
    assert fitted.height <= 46
    assert set(fitted.shortened) == set(range(1, 13))
    text = fitted.text(fitted.rows[4])
    assert text.endswith(" …")
    assert event.startswith(text.removesuffix(" …") + " ")
    assert RULER.lines(text, 24 - NUMBER, 0.9) == 2


@pytest.mark.parametrize("event", ["確認する" * 30, "w" * 120])
def test_an_event_without_a_space_is_cut_inside_its_word(event: str) -> None:
    key = Key(tuple(KeyRow(n + 1, n, event, event, event) for n in range(12)))
    text = KeySettings(key, RULER).fit(24, 44, 0.1).text(KeyRow(1, 0, event, event, event))
    assert text.endswith("…")
    assert event.startswith(text[:-1])
    assert len(text) > 20


@pytest.mark.parametrize("height", [8, 10, 14, 16])
def test_where_not_even_short_events_fit_the_key_has_as_many_rows_as_do(height: float) -> None:
    fitted = KeySettings(key_of(28, WORDS), RULER).fit(24, height, 0.3)
    assert fitted.height <= height
    assert 0 < fitted.left_out <= 28
    more = KeySettings(key_of(28, WORDS), RULER).fit(24, height + 4, 0.3)
    assert more.left_out < fitted.left_out


def test_the_more_of_its_events_a_key_leaves_out_the_more_it_lacks() -> None:
    key = key_of(28, WORDS)
    events = replace(key, is_whole=False)
    cut = replace(events, shortened={row.number: "ev …" for row in key.rows})
    lacking = [each.lacking for each in (Key(), key, events, cut, replace(cut, left_out=9), replace(cut, left_out=28))]
    assert lacking == sorted(lacking)
    assert lacking[:3] == [0, 0, 1]
    assert lacking[-1] == 2


def test_a_key_that_fits_in_no_way_is_the_lowest_one() -> None:
    fitted = KeySettings(key_of(28, WORDS), RULER).fit(24, 5, 0.3)
    assert fitted.rows
    assert 5 < fitted.height < KeySettings(key_of(28, WORDS), RULER).fit(24, 1000, 0.3).height


@pytest.mark.parametrize("label", ["e\u0301\u0301\u0301\u0301 closes", "\u0628\u0651\u064e\u0651 closes"])
def test_lines_with_letters_that_reach_far_up_are_higher(label: str) -> None:
    plain, tall = (KeySettings(key_of(10, each), RULER).fit(30, 40, 0.3) for each in ("e closes", label))
    assert not plain.is_tall
    assert tall.is_tall
    assert tall.height - plain.height == pytest.approx(10 * (1.7 - 1.27))
    rises = [key_picture(key_of(8, each), Box(0, 0, 300, 10)).height for each in ("e closes", label)]
    assert rises[1] - rises[0] == 8 * 10


def test_the_signs_of_a_proof_take_their_room_in_the_key_and_its_words_stand_in_the_picture() -> None:
    plain = key_of(4, WORDS)
    proven = Key(tuple(replace(row, standing="written 1 of 3", sign="written") for row in plain.rows))
    assert (plain.has_signs, proven.has_signs) == (False, True)
    width = next(
        width / 4 for width in range(400, 40, -1) if KeySettings(plain, RULER).fit(width / 4, 99, 0).height > 15
    )
    low, high = (KeySettings(key, RULER).fit(width + SIGN - 0.1, 99, 0).height for key in (plain, proven))
    assert high > low
    texts = [key_picture(key, Box(0, 0, 700, 400)).content.count("of 3") for key in (plain, proven)]
    assert texts[0] == 0
    assert texts[1] >= 4


def test_with_a_proof_the_whole_text_of_an_arrow_stands_in_its_panel_and_takes_no_room_in_the_key() -> None:
    plain = key_of(28, WORDS)
    proven = Key(tuple(replace(row, sign="written") for row in plain.rows))
    whole = [KeySettings(key, RULER).fit(24, 46, 0.1).whole for key in (plain, proven)]
    assert whole[0] > whole[1] == 2


def test_every_arrow_of_the_model_has_a_number_and_a_row_and_a_sneak_path_has_neither() -> None:
    model = wordy_dense()
    proof = proof_of(model, with_sneak_paths(model, 2, 1))
    stage = set_stage(model, None, ENGLISH, proof)
    tags = {path.id: path.label[0].text for path in stage.scenes[0].drawing.arrows if path.is_tag}
    assert tags == {arrow.id: str(place) for place, arrow in enumerate(model.arrows, 1)}
    assert len(stage.scenes[0].drawing.arrows) == len(model.arrows) + 2
    key = key_of_stage(stage, outline_lifecycle(model, ENGLISH, proof).arrows, proof, ENGLISH)
    assert [(row.number, row.label) for row in key.rows] == list(enumerate((a.label for a in model.arrows), 1))


def test_a_key_without_rows_takes_nothing() -> None:
    assert KeySettings(Key(), RULER).fit(24, 5, 0.3) == Key()


@pytest.mark.parametrize("count", [1, 28])
def test_the_key_of_a_picture_stands_below_the_drawing_within_its_width(count: int) -> None:
    rows = tuple(replace(row, standing="written") for row in key_of(count, WORDS).rows)
    made = key_picture(Key(rows), Box(-10, -20, 700, 400))
    picture, height = made.content, made.height
    assert picture.count('class="number"') == count
    assert picture.count("written and mailed") <= count
    ys = [float(part.partition('"')[0]) for part in picture.split(' y="')[1:]]
    xs = [float(part.partition('"')[0]) for part in picture.split(' x="')[1:]]
    assert min(ys) > 380
    assert max(ys) < 380 + height
    assert min(xs) >= -10 - made.wider / 2
    assert max(xs) < 690 + made.wider / 2


def test_the_key_of_a_picture_has_every_word_of_every_label_whatever_the_key_of_the_page_leaves_out() -> None:
    fitted = KeySettings(key_of(28, WORDS), RULER).fit(24, 12, 0.1)
    assert fitted.left_out
    said = re.sub(r"<[^>]*>", " ", key_picture(fitted, Box(0, 0, 700, 400)).content)
    for word in WORDS.split():
        assert said.count(escape(word)) >= 28


@pytest.mark.parametrize("words", [1, 3])
def test_a_picture_with_a_long_key_grows_to_its_sides_and_not_to_a_strip(words: int) -> None:
    bounds = Box(-10, -20, 700, 400)
    made = key_picture(key_of(28, " ".join([WORDS] * words)), bounds)
    assert made.wider % 2 == 0
    assert (bounds.height + made.height) / (bounds.width + made.wider) < 1.3
    assert key_picture(key_of(2, "label"), bounds).wider == 0
