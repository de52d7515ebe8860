"""The refusal: what server and worker say when they cannot start."""

from __future__ import annotations


class RefusedError(Exception):
    """The process was asked for something that it must not do. The message holds the value and the way out."""
