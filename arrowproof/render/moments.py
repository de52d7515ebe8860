"""Moments: points in time and lengths of time in the words of a language."""

from __future__ import annotations

import re

from arrowproof.render.language import Language
from arrowproof.render.text import clean_text

_UTC = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z", re.ASCII)
_MAX_FOREIGN = 40
"""Characters of a time that is written in no way we know; evidence is untrusted."""

_LONGEST = 1e13
"""The most seconds that are told apart: 300,000 years."""

_UNITS = (("days", 3600, 86_400), ("hours", 60, 3600), ("minutes", 1, 60))
"""Name, seconds of the next smaller unit and of the unit, the largest first."""


def time_text(moment: str, language: Language) -> str:
    """A time in UTC, RFC 3339, to the minute; any other text as it is, bounded."""
    found = _UTC.fullmatch(moment)
    months = language("time.months").split()
    if found is None or not 1 <= int(found[3]) <= 31 or not 1 <= int(found[2]) <= len(months):
        return clean_text(moment)[:_MAX_FOREIGN]
    return language("time.utc", year=found[1], month=months[int(found[2]) - 1], day=int(found[3]), clock=found[4])


def duration_text(seconds: float, language: Language) -> str:
    """A length of time in its largest unit, with the next smaller one beside it unless that is 0."""
    if seconds < 0.0995:
        return language("time.milliseconds", number=round(seconds * 1000))
    if seconds < 59.95:
        return language("time.seconds", number=f"{seconds:.1f}".removesuffix(".0"))
    name, whole, rest = _parted(min(seconds, _LONGEST))
    if not rest:
        return language(f"time.{name}", number=f"{whole:,}")
    return language(f"time.{name}_more", number=f"{whole:,}", rest=rest)


def _parted(seconds: float) -> tuple[str, int, int]:
    """The name of the largest unit that fits, how many of it, and how many of the next smaller one remain."""
    for name, small, large in _UNITS:
        whole, rest = divmod(round(seconds / small), large // small)
        if whole:
            return name, whole, rest
    raise ValueError(f"{seconds} is less than a minute")
