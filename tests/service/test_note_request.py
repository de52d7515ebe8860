from __future__ import annotations

import json

import pytest

from arrowproof.service.note_request import check_media_type, read_text
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
        (["application/json"], ["gzip"]),
        (["application/json"], ["identity", "gzip"]),
    ],
)
def test_another_media_type_charset_or_encoding_is_refused(content_types, encodings):
    with pytest.raises(ProblemError) as caught:
        check_media_type(content_types, encodings)
    assert caught.value.status == 415


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
        b'{"text": "a"} {"text": "b"}',
        b'{"text": "a\nb"}',
    ],
)
def test_a_body_that_is_no_unambiguous_json_is_refused(body):
    with pytest.raises(ProblemError) as caught:
        read_text(body)
    assert caught.value.status == 400
    assert len(caught.value.detail) < 300


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
