"""The problem types: the kinds of problem that a client can decide by, and what to do about each.

The ``type`` of a problem is a path of the service itself, ``/problems/NAME``, and the page there says what it means and
what to do. Their names stay what they are, since clients decide by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class ProblemType:
    """A kind of problem: the last part of its address, its status, its title, and what to do about it."""

    name: str
    status: int
    title: str
    advice: str

    @property
    def address(self) -> str:
        """What stands as ``type`` in the problem details."""
        return f"/problems/{self.name}"


KEY_MISSING: Final = ProblemType(
    "idempotency-key-missing",
    400,
    "The Idempotency-Key is missing",
    "Send an Idempotency-Key header with a value of your own for each note, such as a UUID, and the same one again "
    "when you do not know whether the note was accepted.",
)
KEY_MALFORMED: Final = ProblemType(
    "idempotency-key-malformed",
    400,
    "The Idempotency-Key is malformed",
    "Send one Idempotency-Key header with 1 to 255 visible ASCII characters: bare, without comma and quotation mark, "
    'or as a quoted string, "like this", in which \\" and \\\\ stand for " and \\. Both ways name the same key.',
)
KEY_REUSED: Final = ProblemType(
    "idempotency-key-reused",
    409,
    "The Idempotency-Key was used with another text",
    "The key belongs to the note that it brought first. Use a new key for a new note. White space around the text "
    "makes no other text.",
)
JOB_STATE: Final = ProblemType(
    "job-state",
    409,
    "The job is in another state",
    "A failed job can be retried, and a waiting one (pending or retry_wait) cancelled. The field state says which "
    "state the job is in.",
)
BODY_MALFORMED: Final = ProblemType(
    "body-malformed",
    400,
    "The body is no unambiguous JSON",
    "Send one JSON value in UTF-8 without a byte order mark; no name twice in an object, no NaN or Infinity, no deep "
    "nesting, no number of thousands of digits.",
)
BODY_TOO_LARGE: Final = ProblemType("body-too-large", 413, "The body is too large", "Send a shorter note.")
TOO_SLOW: Final = ProblemType(
    "too-slow",
    408,
    "The request did not come in time",
    "Nothing was done. Send the request again without a pause within it, and a note with the same key.",
)
BAD_HTTP: Final = ProblemType(
    "bad-http",
    400,
    "The request is no valid HTTP",
    "Send an HTTP/1.1 request with one Host, whose lines end with CRLF, with one Content-Length or Transfer-Encoding: "
    "chunked, in at most a thousand chunks. The connection is closed.",
)
MEDIA_TYPE_REFUSED: Final = ProblemType(
    "media-type",
    415,
    "The body is not sent as plain application/json",
    "Send Content-Type: application/json once, in UTF-8, and no Content-Encoding.",
)
NO_NOTE: Final = ProblemType(
    "no-note",
    422,
    "The JSON is no note",
    'Send an object whose only field "text" is a string that holds more than white space, no NUL and no lone '
    "surrogate.",
)
QUERY_REFUSED: Final = ProblemType(
    "query",
    400,
    "The query of the address is not understood",
    "Leave out what the detail names, or give it a value that is allowed. Each name may stand once.",
)
TOKEN_MISSING: Final = ProblemType(
    "token-missing",
    401,
    "A token is needed",
    "Send the header Authorization: Bearer TOKEN, once, with the token that was given to you.",
)
TOKEN_UNKNOWN: Final = ProblemType(
    "token-unknown",
    401,
    "The token is not known",
    "Ask whoever runs the service for a token that stands in its file of tokens.",
)
HOST_REFUSED: Final = ProblemType(
    "host-refused",
    403,
    "The host is not this machine",
    "Without tokens the service is for its own machine. Ask for http://localhost or http://127.0.0.1 with its port, or "
    "have the service started with --tokens.",
)
ORIGIN_REFUSED: Final = ProblemType(
    "origin-refused",
    403,
    "A page of another origin may not change anything",
    "Without tokens only the page of the service itself, and programs that send no Origin, may change something. Have "
    "the service started with --tokens.",
)
BUSY: Final = ProblemType(
    "busy",
    503,
    "The database is busy",
    "Nothing was done. Ask again after the time that Retry-After says, and send a note with the same key.",
)
UNAVAILABLE: Final = ProblemType(
    "unavailable",
    503,
    "The service cannot do this now",
    "Nothing is known to be done. Ask again after the time that Retry-After says, and send a note with the same key.",
)
PROBLEM_TYPES: Final = {
    kind.name: kind
    for kind in (
        KEY_MISSING,
        KEY_MALFORMED,
        KEY_REUSED,
        JOB_STATE,
        BODY_MALFORMED,
        BODY_TOO_LARGE,
        TOO_SLOW,
        BAD_HTTP,
        MEDIA_TYPE_REFUSED,
        NO_NOTE,
        QUERY_REFUSED,
        TOKEN_MISSING,
        TOKEN_UNKNOWN,
        HOST_REFUSED,
        ORIGIN_REFUSED,
        BUSY,
        UNAVAILABLE,
    )
}
