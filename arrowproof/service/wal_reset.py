"""SQLite's WAL-reset bug: which versions have it, and the journal mode that is safe with each.

In an affected SQLite two connections that write and checkpoint at the same moment can lose a committed transaction.
Affected are 3.7.0 to 3.51.2. Fixed are 3.51.3 and later of 3.51, 3.50.7 and later of 3.50, 3.44.6 and later of 3.44,
and everything from 3.53.0; 3.52.0 was withdrawn and counts as affected. A rollback journal does not have the bug.
"""

from __future__ import annotations

Version = tuple[int, int, int]

_FIRST_WITH_WAL: Version = (3, 7, 0)
_FIXED_FOR_GOOD: Version = (3, 53, 0)
_FIXED_BRANCHES = ((3, 44, 6), (3, 50, 7), (3, 51, 3))


def parse_version(text: str) -> Version:
    """``3.51.3`` as numbers; a missing last number is 0."""
    major, minor, patch = (*text.split("."), "0")[:3]
    return int(major), int(minor), int(patch)


def has_wal_reset_bug(version: Version) -> bool:
    """Whether this SQLite can lose a commit in WAL mode."""
    if version < _FIRST_WITH_WAL or version >= _FIXED_FOR_GOOD:
        return False
    return not any(version[:2] == fixed[:2] and version >= fixed for fixed in _FIXED_BRANCHES)


def safe_journal_mode(version: Version) -> str:
    """``wal`` where WAL is safe, otherwise ``truncate``."""
    return "truncate" if has_wal_reset_bug(version) else "wal"
