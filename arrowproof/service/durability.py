"""The durability: whether a commit that was reported outlives a power cut, judged by the facts of a database.

SQLite's is set by this service and holds always. PostgreSQL's is set by whoever runs the server: this service changes
nothing there, and says what it means.
"""

from __future__ import annotations

from collections.abc import Mapping

_WEAKENED = {
    "fsync": "a power cut can break the whole database",
    "full_page_writes": "a power cut in the middle of writing a page can break it",
    "synchronous_commit": "a power cut can lose what was reported as committed",
}


def durability_warnings(facts: Mapping[str, str]) -> tuple[str, ...]:
    """What can be lost with these settings, one sentence for each of PostgreSQL's that is off.

    See https://www.postgresql.org/docs/current/runtime-config-wal.html for the settings.
    """
    return tuple(
        f"{setting} is off on this PostgreSQL server: {loss}; set it to on"
        for setting, loss in _WEAKENED.items()
        if facts.get(setting) == "off"
    )
