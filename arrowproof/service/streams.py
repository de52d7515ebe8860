"""The streams: what a command says on stdout and stderr, where nobody may listen.

A stream can be closed from the start (``>&-``), full (``/dev/full``, a full disk) or lose its reader (``| true``). None
of that is a reason to leave work undone, or to call done work failed: what cannot be said is left unsaid.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def open_closed_streams() -> None:
    """Have every stream that is closed lead nowhere, before a file or socket takes its number and is written to."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one.
            os.open(os.devnull, os.O_RDWR)
    # Left open for good (SIM115): they are the streams from now on.
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def say(text: str, stream: TextIO | None = None) -> bool:
    """Write a line to stdout, or to another stream, at once; gives whether it went out."""
    target = stream or sys.stdout
    try:
        # In one piece, so that a reader is woken once and lines of several threads do not mix: print() makes it two.
        target.write(f"{text}\n")
        target.flush()
    except OSError:
        return False
    return True


def complain(text: str) -> bool:
    """Write a line to stderr at once; gives whether it went out."""
    return say(text, sys.stderr)


def leave_unsaid() -> None:
    """Drop what could not be said, at the end: Python would try once more, and exit with 120 when it fails."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            try:
                stream.flush()
            except OSError:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
                stream.flush()
