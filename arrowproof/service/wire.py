"""The wire: how the bytes of a request are taken apart. h11 does it; where h11 is kind, this is not.

Two programs that understand the same bytes in two ways let a client hide one request in another (RFC 9112 section
11.2). So what has two readings is refused: a line that ends without CRLF, a header on two lines, a length said twice.
And what would cost more to read than it is worth is bounded: the head, its headers, a chunk's line, the chunks.

h11 asks its buffer for lines in two places alone, for the head and for the lines around chunks, so that is where this
stands. That buffer is no public name of h11; the tests of this module would tell if another version had it elsewhere.
"""

from __future__ import annotations

import re
from typing import Any, Final

import h11
from h11._receivebuffer import ReceiveBuffer

from arrowproof.service.problem import ProblemError
from arrowproof.service.problem_types import BAD_HTTP

LARGEST_HEAD_BYTES: Final = 16_384
LONGEST_REQUEST_LINE_BYTES: Final = 8_192
"""Without its CRLF. RFC 9112 section 3 asks for 8000 at least."""
MOST_HEADERS: Final = 100
LONGEST_CHUNK_LINE_BYTES: Final = 256
"""With its CRLF."""
MOST_CHUNKS: Final = 1000
_CROOKED_HEAD = "a line of the head must end with CRLF, begin without a space, and hold no control character"
_BLANK_LINE = re.compile(rb"\n\r?\n")
_CONTROLS = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\t\r\n")
_LIST_OF_LENGTHS = re.compile(rb"\ncontent-length:[^\r]*,")
_CHUNK_LINE = re.compile(rb"[0-9A-Fa-f]+(;[^\r]*)?\r\n")
_ABSOLUTE_FORM = re.compile(rb"https?://([^/?@]+)(?:/|(?=\?)|$)(.*)", re.IGNORECASE)


class _StrictBuffer(ReceiveBuffer):
    """What has come and is not taken apart yet. Gives lines that end with CRLF, hold no control character, and are not
    too many.
    """

    _chunks = 0

    def drop_line_end(self) -> bool:
        """Drop a CRLF that stands before everything else; gives whether there was one."""
        if not self._data.startswith(b"\r\n"):
            return False
        self._extract(2)
        return True

    def is_half_a_line_end(self) -> bool:
        """Whether a CR is all that there is."""
        return self._data == b"\r"

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines of a head, or those after the last chunk, once the blank line after them is there."""
        if self._data.startswith((b"\n", b"\r\n")):
            # No line at all before the blank one, as after most bodies.
            _check_lines(self._data[: self._data.index(b"\n") + 1])
            self._chunks = 0
            return super().maybe_extract_lines()
        blank = _BLANK_LINE.search(self._data, self._multiple_lines_search, LARGEST_HEAD_BYTES)
        self._check_size(is_whole=blank is not None)
        if blank is None:
            # The last two bytes may be the beginning of the blank line.
            self._multiple_lines_search = max(0, len(self._data) - 2)
            return None
        _check_lines(self._data[: blank.end()])
        self._chunks = 0
        return super().maybe_extract_lines()

    def _check_size(self, *, is_whole: bool) -> None:
        longest = LONGEST_REQUEST_LINE_BYTES
        is_head = not self._chunks
        if is_head and len(self._data) > longest and self._data.find(b"\r\n", 0, longest + 2) < 0:
            raise ProblemError(414, f"the first line of a request must not be longer than {longest} bytes")
        if not is_whole and len(self._data) >= LARGEST_HEAD_BYTES:
            raise ProblemError(431, f"the head of a request must not be larger than {LARGEST_HEAD_BYTES} bytes")

    def is_next_line_obviously_invalid_request_line(self) -> bool:
        """Never: what begins as no request does is refused, with the same words as if all of it had come."""
        _check_beginning(self._data)
        return False

    def maybe_extract_next_line(self) -> bytearray | None:
        """The line before a chunk, once it is whole."""
        end = self._data.find(b"\r\n", 0, LONGEST_CHUNK_LINE_BYTES)
        if end < 0:
            if len(self._data) >= LONGEST_CHUNK_LINE_BYTES:
                raise _bad(f"the line before a chunk must not be longer than {LONGEST_CHUNK_LINE_BYTES} bytes")
            return None
        self._chunks += 1
        if _is_crooked(self._data[: end + 2]):
            raise _bad("the line before a chunk must end with CRLF, and hold no control character")
        if _CHUNK_LINE.fullmatch(self._data, 0, end + 2) is None:
            raise _bad("the line before a chunk must be its size in hexadecimal digits, and an extension after ;")
        if self._chunks > MOST_CHUNKS:
            raise _bad(f"a body must not come in more than {MOST_CHUNKS} chunks")
        return super().maybe_extract_next_line()


class StrictConnection(h11.Connection):
    """The server's side of a connection, on which a request has one reading or is a :class:`ProblemError`.

    While ``may_begin`` is false, no request is begun: what came of the next one stays where it is.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, LARGEST_HEAD_BYTES)
        self._receive_buffer: _StrictBuffer = _StrictBuffer()
        self.may_begin = True
        self._has_dropped_line = False

    @property
    def holds_back(self) -> bool:
        """Whether something came that is to be looked at once a request may begin."""
        return self.their_state is h11.IDLE and not self.may_begin and len(self._receive_buffer) > 0

    def next_event(self) -> Any:
        """What came next; see h11.

        Raises:
            ProblemError: 400, 414, 417, 431, 501 or 505; nothing more can be read from this client.
        """
        if self.their_state is h11.IDLE and not (self.may_begin and self._has_passed_empty_line()):
            return h11.NEED_DATA
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == 501:
                raise ProblemError(501, "the only transfer coding that is known here is chunked") from error
            # Without what was sent, which h11 shows as Python would.
            raise _bad(str(error).partition(": bytearray")[0]) from error
        if not isinstance(event, h11.Request):
            return event
        self._has_dropped_line = False
        return _understood(event)

    def _has_passed_empty_line(self) -> bool:
        """Pass over one empty line before a request, as RFC 9112 section 2.2 asks; whether all of it is here."""
        if self._has_dropped_line:
            return True
        self._has_dropped_line = self._receive_buffer.drop_line_end()
        return not self._receive_buffer.is_half_a_line_end()


def _check_beginning(head: bytearray) -> None:
    """Refuse what begins with white space or a control character; an empty line is none."""
    if head and head[0] <= 0x20 and not head.startswith((b"\n", b"\r\n")):
        raise _bad(_CROOKED_HEAD)


def _check_lines(head: bytearray) -> None:
    """Refuse a head that two readers could take apart in two ways."""
    _check_beginning(head)
    if _is_crooked(head) or b"\n " in head or b"\n\t" in head:
        raise _bad(_CROOKED_HEAD)
    # The first line and the blank one are none.
    if head.count(b"\n") - 2 > MOST_HEADERS:
        raise ProblemError(431, f"a request must not have more than {MOST_HEADERS} headers")
    names = head.lower()
    lengths = names.count(b"\ncontent-length:") + names.count(b"\ntransfer-encoding:")
    if lengths > 1 or (lengths and _LIST_OF_LENGTHS.search(names)):
        raise _bad("the length of the body must be said once: one Content-Length, or Transfer-Encoding: chunked")


def _is_crooked(lines: bytearray) -> bool:
    """Whether a line ends without CRLF, or a control character is in one."""
    ends = lines.count(b"\r\n")
    is_bare = lines.count(b"\n") != ends or lines.count(b"\r") != ends
    return is_bare or len(lines.translate(None, _CONTROLS)) != len(lines)


def _bad(detail: str) -> ProblemError:
    return ProblemError(BAD_HTTP, detail)


def _understood(request: h11.Request) -> h11.Request:
    """The request with its target as a path, if its version, target and expectation are ones that are answered here."""
    if not request.http_version.startswith(b"1."):
        raise ProblemError(505, "this server speaks HTTP/1.1")
    if request.http_version == b"1.0" and any(name == b"transfer-encoding" for name, _ in request.headers):
        raise _bad("HTTP/1.0 knows no Transfer-Encoding")
    _check_expectations(request)
    is_about_the_server = (request.method, request.target) == (b"OPTIONS", b"*")
    if request.target.startswith(b"/") or is_about_the_server:
        return request
    absolute = _ABSOLUTE_FORM.fullmatch(request.target)
    if absolute is None:
        raise _bad("the target of a request must be a path, or an http address with one")
    # What the target says of the host stands above what Host says: RFC 9112 section 3.2.2.
    others = [(name, value) for name, value in request.headers.raw_items() if name.lower() != b"host"]
    return h11.Request(
        method=request.method,
        target=b"/" + absolute[2],
        headers=[(b"Host", absolute[1]), *others],
        http_version=request.http_version,
    )


def _check_expectations(request: h11.Request) -> None:
    """Refuse what a client expects and would wait for in vain: RFC 9110 section 10.1.1. HTTP/1.0 expects nothing."""
    if request.http_version == b"1.0":
        return
    expected = b",".join(value for name, value in request.headers if name == b"expect")
    if any(member.strip(b" \t").lower() not in (b"", b"100-continue") for member in expected.split(b",")):
        raise ProblemError(417, "the only expectation that is met here is 100-continue")
