"""The WAL-reset bug of SQLite: which versions can lose or corrupt pages of a database in WAL mode.

Rule (SQLite's own list of releases): affected are 3.7.0, the first with WAL, to 3.51.2. The fix went into 3.51.3, into
3.50.7 and later of that branch, and 3.44.6 and later of that branch; 3.52.0 was withdrawn and counts as affected;
everything from 3.53.0 on has it.
"""

from __future__ import annotations

import re

from arrowproof.errors import InputError

AFFECTED = "affected"
NOT_AFFECTED = "not affected"

_FIRST_AFFECTED = (3, 7, 0)
_FIXED_BRANCHES = {(3, 44): 6, (3, 50): 7, (3, 51): 3}
_FIXED_FOR_GOOD = (3, 53, 0)


def wal_reset_status(version: str) -> str:
    """``affected`` or ``not affected`` for a SQLite version such as ``3.51.3`` (a fourth number is ignored).

    Raises:
        InputError: the text is no SQLite version.
    """
    match = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?(?:\.\d+)?", version, re.ASCII)
    if match is None:
        raise InputError(f"{version[:40]!r} is no SQLite version; expected three numbers such as 3.53.0.")
    major, minor, patch = (int(number or 0) for number in match.groups())
    if not _FIRST_AFFECTED <= (major, minor, patch) < _FIXED_FOR_GOOD:
        return NOT_AFFECTED
    fixed_from = _FIXED_BRANCHES.get((major, minor))
    return NOT_AFFECTED if fixed_from is not None and patch >= fixed_from else AFFECTED
