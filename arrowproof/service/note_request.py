"""The note request: what a client sends to have a note accepted, read strictly.

A request that two readers could understand in two ways is refused: two keys, JSON with a name twice, NaN, bytes that
are no UTF-8, text that no database can keep.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from email.message import Message
from typing import Annotated, Any, NoReturn

from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from arrowproof.service.idempotency_key import KEY_HEADER, read_key
from arrowproof.service.identity import client_of
from arrowproof.service.notes import SentUnderKey
from arrowproof.service.problem import (
    BODY_MALFORMED,
    BODY_TOO_LARGE,
    MEDIA_TYPE_REFUSED,
    NO_NOTE,
    ProblemError,
)

LARGEST_BODY_BYTES = 262_144


async def read_note_request(request: Request) -> SentUnderKey:
    """Read and check the request, in the order key, media type, size, JSON, text.

    Raises:
        ProblemError: 400, 413, 415 or 422; see :mod:`arrowproof.service.problem`.
    """
    key = read_key(request.headers.getlist(KEY_HEADER))
    check_media_type(request.headers.getlist("content-type"), request.headers.getlist("content-encoding"))
    return SentUnderKey(key, read_text(await _read_body(request)), await client_of(request))


SentNote = Annotated[SentUnderKey, Depends(read_note_request)]


def check_media_type(content_types: Sequence[str], content_encodings: Sequence[str]) -> None:
    """Accept JSON in UTF-8 that is not compressed, said once. Each header may be there several times.

    Raises:
        ProblemError: 415.
    """
    content_type = content_types[0] if len(content_types) == 1 else ""
    header = Message()
    header["content-type"] = content_type
    charset = header.get_content_charset("utf-8")
    if not content_type or header.get_content_type() != "application/json" or charset not in ("utf-8", "utf8"):
        raise ProblemError(MEDIA_TYPE_REFUSED, "send the note as Content-Type: application/json, in UTF-8")
    if any(each.strip().lower() != "identity" for each in content_encodings):
        raise ProblemError(MEDIA_TYPE_REFUSED, "send the note without Content-Encoding")


def read_text(body: bytes) -> str:
    """The text of the note in a JSON body.

    Raises:
        ProblemError: 400 when the body is no unambiguous JSON, 422 when it is no note.
    """
    note = _read_json(body)
    if not isinstance(note, dict):
        raise ProblemError(NO_NOTE, 'the body must be an object: {"text": "..."}')
    if "text" not in note:
        raise ProblemError(NO_NOTE, 'the field "text" is missing')
    if len(note) != 1:
        raise ProblemError(NO_NOTE, 'the only field is "text"; remove the others')
    text = note["text"]
    if not isinstance(text, str):
        raise ProblemError(NO_NOTE, '"text" must be a string')
    if not text.strip():
        raise ProblemError(NO_NOTE, '"text" must hold more than white space')
    if "\x00" in text:
        raise ProblemError(NO_NOTE, '"text" must not hold NUL')
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ProblemError(NO_NOTE, '"text" must not hold a lone surrogate')
    return text


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_BODY_BYTES:
                raise ProblemError(BODY_TOO_LARGE, f"the body must not be larger than {LARGEST_BODY_BYTES} bytes")
    except ClientDisconnect:
        raise ProblemError(BODY_MALFORMED, "the body broke off") from None
    return bytes(body)


def _read_json(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode("utf-8"), object_pairs_hook=_object_without_doubles, parse_constant=_refuse_constant
        )
    except UnicodeDecodeError:
        raise ProblemError(BODY_MALFORMED, "the body is not UTF-8") from None
    except RecursionError:
        raise ProblemError(BODY_MALFORMED, "the body is nested too deeply") from None
    except ValueError as error:
        raise ProblemError(BODY_MALFORMED, f"the body is not JSON: {error}") from None


def _object_without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
