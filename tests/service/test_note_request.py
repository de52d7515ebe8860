from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from arrowproof.service.note_request import check_media_type, read_text
from arrowproof.service.notes import text_digest
from arrowproof.service.problem import ProblemError


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"'],
)
def test_json_in_utf_8_is_taken(content_type):
    check_media_type([content_type], [])
    check_media_type([content_type], ["identity"])


@pytest.mark.parametrize(
    ("content_types", "encodings"),
    [
        ([], []),
        ([""], []),
        (["text/plain"], []),
        (["application/x-www-form-urlencoded"], []),
        (["application/json; charset=latin-1"], []),
        (["application/jsonp"], []),
        (["json"], []),
        (["application/json", "text/plain"], []),
        (["application/json", "application/json"], []),
        (["application/json; charset=utf-8; charset=latin-1"], []),
        (["application/json; charset="], []),
        (["application/json; charset=utf-16"], []),
        (["application/json; boundary=x"], []),
        (["application/json, application/json"], []),
        (["application/json\n"], []),
        (["text/json"], []),
        (["application/merge-patch+json"], []),
        (["application/json"], ["gzip"]),
        (["application/json"], ["identity", "gzip"]),
    ],
)
def test_another_media_type_charset_or_encoding_is_refused(content_types, encodings):
    with pytest.raises(ProblemError) as caught:
        check_media_type(content_types, encodings)
    assert caught.value.status == 415


WHITE_SPACE = "".join(
    chr(number)
    for number in range(sys.maxunicode)
    if chr(number).isspace() and unicodedata.category(chr(number)) != "Cc"
)


def test_there_is_white_space_of_every_kind_of_unicode():
    assert {unicodedata.category(character) for character in WHITE_SPACE} == {"Zs", "Zl", "Zp"}
    assert "\u3000" in WHITE_SPACE
    assert "\u2028" in WHITE_SPACE


@pytest.mark.parametrize("white", [*WHITE_SPACE, " \t\r\n\v\f", "\x85", WHITE_SPACE])
def test_white_space_alone_is_no_note_and_around_a_text_makes_no_other_one(white):
    with pytest.raises(ProblemError) as caught:
        read_text(json.dumps({"text": white}).encode())
    assert caught.value.kind.name == "no-note"
    assert text_digest(f"{white}buy milk{white}") == text_digest("buy milk")
    assert text_digest(f"buy{white}milk") != text_digest("buymilk")


@pytest.mark.parametrize("text", ["buy milk", " x ", "日本語 😀", "line\nline\ttab", "\u0001", "\ufeff"])
def test_a_text_is_taken_as_it_was_sent(text):
    assert read_text(json.dumps({"text": text}).encode()) == text
    assert read_text(json.dumps({"text": text}, ensure_ascii=False).encode()) == text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"text=x",
        b'{"text": "a", "text": "b"}',
        b'{"text": "a", "more": {"a": 1, "a": 2}}',
        b'{"text": NaN}',
        b'{"text": -Infinity}',
        b'{"text": "\xff"}',
        b'\xef\xbb\xbf{"text": "a"}',
        '{"text": "a"}'.encode("utf-16"),
        b'{"text": ' + b"[" * 100_000,
        b'{"text": ' + b"9" * 100_000 + b"}",
        b'{"text": 1' + b"0" * 1000 + b"}",
        b'{"text": ' + b'{"a":' * 5_000,
        b'{"text": "a", "more": Infinity}',
        b'{"text": "a"} {"text": "b"}',
        b'{"text": "a\nb"}',
    ],
)
def test_a_body_that_is_no_unambiguous_json_is_refused(body):
    with pytest.raises(ProblemError) as caught:
        read_text(body)
    assert caught.value.kind.name == "body-malformed"
    assert len(caught.value.detail) < 200
    assert "set_int_max_str_digits" not in caught.value.detail
    assert "utf-8-sig" not in caught.value.detail


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"Text": "a"}',
        b'{"text": "a", "more": 1}',
        b'{"text": null}',
        b'{"text": 1e999}',
        b'{"text": ["a"]}',
        b'{"text": ""}',
        b'{"text": " \\n\\u3000"}',
        b'{"text": "a\\u0000b"}',
        b'{"text": "a\\ud800b"}',
        b'{"text": "\\udc00\\ud800"}',
    ],
)
def test_json_that_is_no_note_is_refused(body):
    with pytest.raises(ProblemError) as caught:
        read_text(body)
    assert caught.value.status == 422


def test_a_surrogate_pair_is_one_character():
    assert read_text(b'{"text": "\\ud83d\\ude00"}') == "😀"
