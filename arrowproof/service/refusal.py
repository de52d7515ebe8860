"""The refusal: what server and worker say when they cannot start, and the exit status for it."""

from __future__ import annotations

BAD_USAGE = 2
DATABASE_FAILED = 1


class RefusedError(Exception):
    """The process was asked for something that it must not do. The message holds the value and the way out."""
