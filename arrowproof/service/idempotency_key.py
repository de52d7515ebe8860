"""The idempotency key: the name that a client gives to one note, so that asking twice accepts it once.

The header is the one of draft-ietf-httpapi-idempotency-key-header (revision 07), whose value is a String of RFC 8941:
``Idempotency-Key: "8e03978e"``. Most clients send the same without quotation marks, and so both are taken, and name the
same key. A key has 1 to 255 visible ASCII characters. Within quotation marks ``\\"`` and ``\\\\`` stand for ``"`` and
``\\``; nothing may follow the closing one. A bare key holds neither quotation mark nor comma: a comma is what becomes
of two headers on their way through some proxies, and two keys are refused however they come.

A key belongs to the client that sent it; two clients may use the same one. It lives as long as its note does: for ever,
unless retention removes the finished job, and never shorter than the job waits. Only an accepted note has a key: a
request that was refused, or found the database busy, has not used it up.

The draft would have a key with another text refused as 422, and one that is being worked on as 409. Here another text
is 409, and who comes while the first is being accepted waits for it and is answered as a replay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from arrowproof.service.problem import ProblemError
from arrowproof.service.problem_types import KEY_MALFORMED, KEY_MISSING

KEY_HEADER: Final = "Idempotency-Key"
REPLAYED_HEADER: Final = "Idempotent-Replayed"
HEADER_PATTERN: Final = r'^([!#-+\--~]{1,255}|"([!#-\[\]-~]|\\["\\]){1,255}")$'
_BARE = re.compile(r"[!#-+\--~]{1,255}")
_QUOTED = re.compile(r'"((?:[!#-\[\]-~]|\\["\\]){1,255})"')
_ESCAPED = re.compile(r'\\(["\\])')


def read_key(sent: Sequence[str]) -> str:
    """The one key of a request, from the values of all its headers of that name.

    Raises:
        ProblemError: 400, it is missing or malformed.
    """
    if not sent:
        raise ProblemError(KEY_MISSING, f"send an {KEY_HEADER} header")
    if len(sent) != 1:
        raise ProblemError(KEY_MALFORMED, f"send one {KEY_HEADER} header, not {len(sent)}")
    (value,) = sent
    if _BARE.fullmatch(value):
        return value
    quoted = _QUOTED.fullmatch(value)
    if quoted is None:
        raise ProblemError(
            KEY_MALFORMED,
            f"{KEY_HEADER} must be 1 to 255 visible ASCII characters without spaces, bare (no comma or quotation mark) "
            "or as one quoted string",
        )
    return _ESCAPED.sub(r"\1", quoted.group(1))
