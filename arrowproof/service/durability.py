"""The durability: whether a commit that was reported outlives a power cut, judged by the facts of a database.

SQLite's is set by this service and holds always. On PostgreSQL each connection of this service turns
``synchronous_commit`` on for itself where it is off. The other settings belong to whoever runs the server: this service
can change nothing there, and says what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping

_WEAKENED = {
    "fsync": "a power cut can break the whole database",
    "full_page_writes": "a power cut in the middle of writing a page can break it",
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
