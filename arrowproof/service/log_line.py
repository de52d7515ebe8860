"""The log line: one thing that happened, as a JSON object on a line of stderr, with the moment at which it was told.

What a database says in its own language can be read there, and does nothing but be read: what would break the line,
steer the terminal or turn around the reading direction is escaped.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

from arrowproof.service.clock import timestamp
from arrowproof.service.streams import complain

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, those that end a line or set its direction, and lone surrogates, which no encoding takes."""
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write_log_line(happened: Mapping[str, object]) -> None:
    """Write to stderr what happened, now."""
    complain(log_line(happened, datetime.now(UTC), sys.stderr.encoding))


def log_line(happened: Mapping[str, object], moment: datetime, encoding: str) -> str:
    """The line, without its end: ``time`` in UTC as RFC 3339, then what happened. ``encoding`` is the stream's."""
    line = {"time": timestamp(moment), **happened}
    text = readable(_encode(line))
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(line)
    return text


def readable(text: str) -> str:
    """A text on one line, with what is unsafe to print written as JSON and Python write it."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
