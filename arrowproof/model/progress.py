"""How long work tells where it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called ahead of each part with what comes next, how many parts are done, and how many there are."""
