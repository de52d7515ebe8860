"""Kept runs: ELK's best drawings of each case in a file, so that our side can be measured anew within a minute.

A JSON object: ``{key: {"even": [run, ...], "tight": [run, ...]}}``. The key is a SHA-256 of all that ELK was given (the
graphs with their sizes, the settings to choose from, the numbers of runs, the figure), so nothing stale is ever used.
Of each search the front is kept: what is left out is beaten in text and crossings at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from settings import CHOICES, DISTANCES, FIXED, Run, front

Searches = Mapping[str, Sequence[Run]]


def key_of(given: Any) -> str:
    """The key for what ELK was given besides the settings that are the same for all cases."""
    everything = [given, dict(CHOICES), DISTANCES, FIXED]
    return hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()


class KeptRuns:
    """The file, read once; without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}

    def find(self, key: str) -> Searches | None:
        """The runs of a case, when it was searched before."""
        row = self._rows.get(key)
        return row and {name: [Run(**run) for run in runs] for name, runs in row.items()}

    def keep(self, key: str, searches: Searches) -> None:
        """Add the runs of a case to the file."""
        self._rows[key] = {name: [asdict(run) for run in front(runs)] for name, runs in searches.items()}
        if self._path:
            self._path.write_text(json.dumps(self._rows), encoding="utf-8")
