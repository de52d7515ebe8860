"""The rules on pixels, on pictures painted here."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PIL import Image, ImageDraw, ImageFont

from arrowproof.render.fit_measures import ArrowMeasure, Geometry, Rect, StateMeasure, Text
from arrowproof.render.fit_pixels import contrast, judge_pixels

WHITE, BLACK, GREY = (255, 255, 255), (0, 0, 0), (150, 150, 150)
RECT = Rect(20, 22, 150, 40)


def paper(colour: tuple[int, int, int] = WHITE) -> Image.Image:
    return Image.new("RGB", (200, 100), colour)


def write(picture: Image.Image, colour: tuple[int, int, int], at: tuple[float, float] = (20, 20)) -> None:
    ImageDraw.Draw(picture).text(at, "some words here", fill=colour, font=ImageFont.load_default(16))


def geometry(**parts: object) -> Geometry:
    return replace(Geometry(viewport=(200, 100), scroll=(200, 100)), **parts)  # type: ignore[arg-type]


def words(colour: tuple[float, float, float, float] | None) -> Text:
    return Text("some words here", "p", "other", None, 16, colour, (RECT,))


LINE = ArrowMeasure("go", None, None, (((20, 50), (180, 50)),), 2, (0, 0, 0, 1))


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [(WHITE, BLACK, 21.0), (WHITE, WHITE, 1.0), ((119, 119, 119), WHITE, 4.48)]
)
def test_contrast_is_that_of_wcag(one: tuple[int, int, int], other: tuple[int, int, int], ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert contrast(other, one) == contrast(one, other)


def test_dark_words_on_light_paper_hold() -> None:
    picture = paper()
    write(picture, BLACK)
    verdict = judge_pixels(geometry(texts=(words((0, 0, 0, 1)),)), picture)
    assert verdict.failures == ()
    assert verdict.text_contrast == pytest.approx(21)
    assert verdict.line_contrast is None
    assert verdict.paper == WHITE


def test_what_is_behind_words_is_taken_from_the_picture() -> None:
    picture = paper(GREY)
    write(picture, BLACK)
    verdict = judge_pixels(geometry(texts=(words((90, 90, 90, 1)),)), picture)
    assert [failure.rule for failure in verdict.failures] == ["contrast"]
    assert "(#5a5a5a on #969696)" in verdict.failures[0].message


@pytest.mark.parametrize("sign", ["B", "—", "■", "."])
def test_a_single_sign_that_fills_its_rectangle_is_not_its_own_background(sign: str) -> None:
    picture, font = paper(), ImageFont.load_default(16)
    pen = ImageDraw.Draw(picture)
    pen.text((40, 40), sign, BLACK, font, stroke_width=1, stroke_fill=BLACK)
    ink = Rect(*pen.textbbox((40, 40), sign, font, stroke_width=1))
    text = replace(words((0, 0, 0, 1)), rects=(ink,))
    assert judge_pixels(geometry(texts=(text,)), picture).failures == ()


def test_see_through_ink_counts_as_it_comes_out() -> None:
    picture = paper()
    write(picture, (178, 178, 178))
    verdict = judge_pixels(geometry(texts=(words((0, 0, 0, 0.3)),)), picture)
    assert "(#b2b2b2 on #ffffff)" in verdict.failures[0].message


def test_words_that_nobody_painted_are_hidden() -> None:
    verdict = judge_pixels(geometry(texts=(words((0, 0, 0, 1)),)), paper())
    assert [failure.rule for failure in verdict.failures] == ["hidden"]


def test_words_without_a_plain_colour_are_not_passed_over() -> None:
    verdict = judge_pixels(geometry(texts=(words(None),)), paper())
    assert [failure.rule for failure in verdict.failures] == ["contrast"]


def test_a_line_holds_or_is_too_pale() -> None:
    picture = paper()
    ImageDraw.Draw(picture).line((20, 50, 180, 50), BLACK, 2)
    assert judge_pixels(geometry(arrows=(LINE,)), picture).failures == ()
    pale = paper()
    ImageDraw.Draw(pale).line((20, 50, 180, 50), (200, 200, 200), 2)
    verdict = judge_pixels(geometry(arrows=(replace(LINE, stroke=(200, 200, 200, 1)),)), pale)
    assert [str(failure) for failure in verdict.failures] == [
        "contrast: arrow 'go': its line has contrast 1.67:1 (#c8c8c8 on #ffffff), must be at least 3.0:1"
    ]


def test_a_line_of_dots_is_painted_and_a_covered_line_is_not() -> None:
    dots = paper()
    for x in range(20, 180, 5):
        ImageDraw.Draw(dots).rectangle((x, 49, x + 1, 50), BLACK)
    assert judge_pixels(geometry(arrows=(LINE,)), dots).failures == ()
    assert [failure.rule for failure in judge_pixels(geometry(arrows=(LINE,)), paper()).failures] == ["hidden"]


@pytest.mark.parametrize("phase", range(15))
def test_a_short_line_of_dashes_with_a_sign_on_it_is_painted_wherever_its_dashes_begin(phase: int) -> None:
    short = replace(LINE, lines=(((20, 50), (65, 50)),), signs=(Rect(33, 41, 51, 59),))
    picture = paper()
    for x in range(20 - phase, 65, 15):
        ImageDraw.Draw(picture).line((max(x, 20), 50, min(x + 9, 65), 50), BLACK, 2)
    assert judge_pixels(geometry(arrows=(short,)), picture).failures == ()
    assert [failure.rule for failure in judge_pixels(geometry(arrows=(short,)), paper()).failures] == ["hidden"]


def test_a_bead_on_the_line_is_not_what_is_behind_it() -> None:
    picture = paper()
    pen = ImageDraw.Draw(picture)
    pen.line((20, 50, 60, 50), BLACK, 2)
    pen.ellipse((28, 38, 52, 62), (10, 10, 10))
    short = replace(LINE, lines=(((20, 50), (60, 50)),))
    assert judge_pixels(geometry(arrows=(short,)), picture).failures != ()
    beaded = replace(short, signs=(Rect(28, 38, 52, 62),))
    assert judge_pixels(geometry(arrows=(beaded,)), picture).failures == ()


def test_the_edge_of_a_state_is_judged_on_what_is_around_it() -> None:
    picture = paper()
    ImageDraw.Draw(picture).rectangle((40, 30, 160, 70), (240, 240, 240), BLACK)
    box = Rect(40, 30, 160, 70)
    assert judge_pixels(geometry(states=(StateMeasure("a", box, (0, 0, 0, 1)),)), picture).failures == ()
    faint = judge_pixels(geometry(states=(StateMeasure("a", box, (240, 240, 240, 1)),)), picture)
    assert [(failure.rule, failure.place) for failure in faint.failures] == [("contrast", "state 'a'")]


def test_what_stands_off_the_picture_is_no_error_here() -> None:
    far = replace(LINE, lines=(((-900, -50), (-100, -50)),))
    text = replace(words((0, 0, 0, 1)), rects=(Rect(500, 500, 600, 520),))
    verdict = judge_pixels(geometry(texts=(text,), arrows=(far,)), paper())
    assert verdict.text_contrast is None
    assert verdict.line_contrast is None
