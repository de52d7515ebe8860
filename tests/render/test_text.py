from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowproof.render.chromium import open_browser
from arrowproof.render.fonts import font_faces_css
from arrowproof.render.text import MAX_CHARACTERS, REPLACEMENT, clean_text, graphemes, is_covered, tallness, text_width

FAMILY = "👨\u200d👩\u200d👧"
ARABIC = "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي"
SAMPLES = [
    "attempts < max_attempts",
    "POST /notes [new Idempotency-Key]",
    "AVATAR Ty To Wa fi ffi",
    "Größe Łódź Őř",
    "→←↑↓≤≥≠·–—…‘’“”✓×−",
    "支払いが完了した（通知）",
    "ｶﾀｶﾅ半角",
    "한국어 상태",
    "Ωμέγα ελληνικά",
    "Привет, ЖЩЮ щука",
    "Ґрунт їжак",
    "Құжат әзір",
    "Ἀρχὴ ᾧ",
    "Ԁ Ԛ Ꙗ",
    "العربية شص",
    *(f"{letter}{letter}{letter}" for letter in ARABIC),
    *(f"ا{letter} {letter}ء {letter}" for letter in ARABIC),
    "إعادة المحاولة بعد انتهاء المهلة المحددة مسبقا",
    *(letter * 3 for letter in "אבגדהוזחטיךכלםמןנסעףפץצקרשתװױײ׳״"),
    "בִּטּוּל הַמִּנּוּי לְאַחַר שָׁלוֹשׁ שָׁנִים",
    "ไทย",
    "Trạng thái đã hủy",
    f"😀🚀{FAMILY}🇯🇵1\ufe0f\u20e3☀",
    "①⇒∑⅒Ⅷ‱⸻㌖",
    "e\u0301a\u0308",
    REPLACEMENT,
]


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("  a \n\t b  ", "a b"),
        ("a\x00b", f"a{REPLACEMENT}b"),
        ("\u202eevil", f"{REPLACEMENT}evil"),
        ("a\u2066b\u2069", f"a{REPLACEMENT}b{REPLACEMENT}"),
        ("\ud800", REPLACEMENT),
        ("\ue000\uffff\ufdd0", 3 * REPLACEMENT),
        ("\ufeffa\u200b", f"{REPLACEMENT}a{REPLACEMENT}"),
        (FAMILY, FAMILY),
        ("日本語", "日本語"),
        ("e" + 4 * "\u0301", "e" + 4 * "\u0301"),
        ("e" + 200 * "\u0301" + "a\u0301", "e" + 4 * "\u0301" + REPLACEMENT + "a\u0301"),
        ("e" + 50 * "\u0301\u200d", "e" + 4 * "\u0301\u200d" + REPLACEMENT),
        ("\u200d\ufe0f \U000e0041", REPLACEMENT),
        ("\u3164", REPLACEMENT),
        ("❤\ufe0f", "❤\ufe0f"),
    ],
)
def test_clean_text_keeps_what_can_be_drawn_and_shows_what_cannot(raw: str, cleaned: str) -> None:
    assert clean_text(raw) == cleaned


@given(st.text())
def test_clean_text_leaves_no_control_character_and_changes_nothing_twice(raw: str) -> None:
    cleaned = clean_text(raw)
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in cleaned)
    assert clean_text(cleaned) == cleaned


def test_clean_text_bounds_the_length_of_a_label() -> None:
    assert len(clean_text("x" * 100_000)) == MAX_CHARACTERS
    assert clean_text("x" * 100_000).endswith("…")


@given(st.text())
def test_graphemes_joined_are_the_text(text: str) -> None:
    assert "".join(graphemes(text)) == text


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("e\u0301x", ["e\u0301", "x"]),
        (f"a{FAMILY}b", ["a", FAMILY, "b"]),
        ("🇩🇪🇯🇵", ["🇩🇪", "🇯🇵"]),
        ("👍🏽!", ["👍🏽", "!"]),
        ("\u1112\u1161\u11ab", ["\u1112\u1161\u11ab"]),
    ],
)
def test_graphemes_are_what_a_reader_sees_as_one_character(text: str, clusters: list[str]) -> None:
    assert graphemes(text) == clusters


def test_a_heavier_weight_is_wider_and_width_grows_with_size() -> None:
    assert text_width("running", 15, 600) > text_width("running", 15, 400)
    assert text_width("running", 30) == pytest.approx(2 * text_width("running", 15))


def test_every_character_of_mono_is_equally_wide() -> None:
    assert text_width("iii", 10, face="mono") == text_width("WWW", 10, face="mono") == pytest.approx(18)


def test_marks_take_no_room_and_wide_characters_one_em() -> None:
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("漢", 10) == 10
    assert text_width("ｶ", 10) == 5


def test_is_covered_tells_exact_widths_from_bounds() -> None:
    assert is_covered("attempts ≤ 3")
    assert is_covered("подтверждение επιβεβαίωση „đã hủy“ STRAẞE")
    assert not is_covered("状態")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        *((text, 0) for text in ("", "waiting", "Ärger über Öl", "支払い済み", "ממתין", "đã hủy")),
        *((text, 1) for text in ("Ổ đĩa", "ملغى", "جَديد", "रद्द", "ยกเลิก", "שָׁלוֹם")),
        *((text, 2) for text in ("أُخرى", "مؤجَّل", "waiting, أُخرى")),
    ],
)
def test_letters_with_signs_above_and_below_are_taller_and_arabic_ones_with_two_are_tallest(
    text: str, steps: int
) -> None:
    assert tallness(text) == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        *((text, 0) for text in ("x\u0302", "e\u0323\u0301", "é\u0301", "Éa")),
        *((text, 1) for text in ("é\u0301\u0301", "É\u0301", "e\u0323\u0323", "e\u0323\u0323\u0301")),
        *(
            (text, 2)
            for text in ("é\u0301\u0301\u0301", "E\u0301\u0301\u0301", "e\u0323\u0323\u0323", "one x" + "\u0301" * 4)
        ),
    ],
)
def test_a_pile_of_marks_on_a_letter_is_the_taller_the_more_there_are(text: str, steps: int) -> None:
    assert tallness(text) == steps


def test_an_arabic_letter_that_another_follows_is_narrower_than_one_at_the_end() -> None:
    assert text_width("سس", 10) < 2 * text_width("س", 10)
    assert text_width("س س", 10) == pytest.approx(2 * text_width("س", 10) + text_width(" ", 10))


@pytest.mark.parametrize(
    ("text", "drawn"),
    [("प्रतीक्षा में", 3.27), ("समय सीमा समाप्त", 6.71), ("অপেক্ষমাণ", 4.38), ("পুনরায় চেষ্টা", 4.81), ("સમય સમાપ્ત", 4.15)],
)
def test_a_word_of_an_indian_script_gets_more_room_than_it_needs_and_no_more_than_three_times_as_much(
    text: str, drawn: float
) -> None:
    # In em, as Chromium draws it with the Noto fonts, which not every machine has.
    assert drawn <= text_width(text, 1, 600) <= 3 * drawn


def test_each_hebrew_letter_has_a_width_of_its_own() -> None:
    assert text_width("י", 10) < text_width("ד", 10) < text_width("ש", 10)


def test_widths_are_what_chromium_draws_or_more(tmp_path: Path) -> None:
    """Exact where the fonts cover the text, never below the truth where the system's fonts draw it."""
    styles = [("sans", 400, "normal"), ("sans", 450, "normal"), ("sans", 600, "normal"), ("sans", 600, "oblique")]
    blocks = [
        f'<div style="font-weight:{weight};font-style:{style}">'
        + "".join(f"<p><span>{s}</span>" for s in SAMPLES)
        + "</div>"
        for _, weight, style in styles
    ]
    css = 'span{font:inherit;font-size:100px;font-family:"Arrowproof Sans",sans-serif;white-space:pre}'
    page_file = tmp_path / "widths.html"
    page_file.write_text(
        f"<meta charset=utf-8><style>{font_faces_css()}{css}</style>{''.join(blocks)}", encoding="utf-8"
    )
    script = """document.fonts.ready.then(() => [...document.querySelectorAll("div")].map(
        div => [...div.querySelectorAll("span")].map(span => span.getBoundingClientRect().width)))"""
    with open_browser() as browser:
        page = browser.new_page()
        page.goto(page_file.as_uri())
        drawn = page.evaluate(script)
    for (face, weight, _), widths in zip(styles, drawn, strict=True):
        for sample, width in zip(SAMPLES, widths, strict=True):
            measured = text_width(sample, 100, weight, face)
            if is_covered(sample):
                assert measured == pytest.approx(width, abs=0.5), (sample, face, weight)
            else:
                assert measured >= width - 0.5, (sample, face, weight)


def test_white_space_alone_is_shown_between_quotes():
    assert clean_text(" \n\u3000") == "“ ”"
    assert clean_text("") == ""
