"""The note request: what a client sends to have a note accepted, read strictly.

A request that two readers could understand in two ways is refused: two keys, JSON with a name twice, NaN, bytes that
are no UTF-8, text that no database can keep.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from arrowproof.service.idempotency_key import KEY_HEADER, read_key
from arrowproof.service.identity import client_of
from arrowproof.service.notes import SentUnderKey
from arrowproof.service.problem import ProblemError
from arrowproof.service.problem_types import BODY_MALFORMED, BODY_TOO_LARGE, MEDIA_TYPE_REFUSED, NO_NOTE, TOO_SLOW

LARGEST_BODY_BYTES = 262_144
MOST_DIGITS = 1000
_JSON_IN_UTF_8 = re.compile(r'application/json[ \t]*(;[ \t]*charset=("?)utf-?8\2[ \t]*)?', re.IGNORECASE)


async def read_note_request(request: Request) -> SentUnderKey:
    """Read and check the request, in the order key, media type, size, JSON, text.

    Raises:
        ProblemError: 400, 408, 413, 415 or 422; see :mod:`arrowproof.service.problem_types`.
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
    if len(content_types) != 1 or _JSON_IN_UTF_8.fullmatch(content_types[0]) is None:
        raise ProblemError(MEDIA_TYPE_REFUSED, "send the note as Content-Type: application/json, once, in UTF-8")
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
    seconds = float(request.app.state.body_seconds)
    _check_size(request.headers.get("content-length", "0"))
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_BODY_BYTES:
                    raise _too_large()
    except TimeoutError:
        raise ProblemError(
            TOO_SLOW, f"the whole body must be here within {seconds:g} s", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise ProblemError(BODY_MALFORMED, "the body broke off") from None
    return bytes(body)


def _too_large() -> ProblemError:
    detail = f"the body must not be larger than {LARGEST_BODY_BYTES} bytes"
    return ProblemError(BODY_TOO_LARGE, detail, {"Connection": "close"})


def _check_size(content_length: str) -> None:
    """Refuse a body that says that it is too large, before any of it is read."""
    if not content_length.isdigit() or len(content_length) > 18 or int(content_length) > LARGEST_BODY_BYTES:
        raise _too_large()


def _read_json(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
        if text.startswith("\ufeff"):
            raise ValueError("it begins with a byte order mark")
        return json.loads(
            text, object_pairs_hook=_object_without_doubles, parse_constant=_refuse_constant, parse_int=_read_integer
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


def _read_integer(digits: str) -> int:
    # Python would refuse it too, but speak of itself; how long it would take grows with the square of the digits.
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} digits")
    return int(digits)
