"""The finding: one thing that ``arrowproof doctor`` looked at, and how a program is asked for its version."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import field

from arrowproof.model.record import record

_ANSWER_SECONDS = 10.0


@record
class Finding:
    """One thing looked at. ``works`` is None for a plain fact; ``remedy`` is the way out where something does not work.

    ``facts`` has what was found by name, with the names and the words of the line that the bundled service prints when
    it starts.
    """

    name: str
    found: str
    works: bool | None = None
    remedy: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


def said_version(program: str) -> str | None:
    """The first line of what ``PROGRAM --version`` says, or None when it says nothing or does not answer."""
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_ANSWER_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[0][:200] if lines else None
