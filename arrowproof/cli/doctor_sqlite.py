"""The SQLite libraries of this machine, and which of them have the WAL-reset bug.

Only the one that comes with apsw opens files here. Python's own and the ``sqlite3`` command are looked at because they
are at hand: an affected one must not write to a file in WAL mode that another process works on.
"""

from __future__ import annotations

import shutil

from arrowproof.cli.finding import Finding, said_version
from arrowproof.conformance.wal_reset import AFFECTED, wal_reset_status
from arrowproof.errors import InputError

_UPGRADE = "pip install --upgrade apsw"
_KEEP_OFF = "keep it off databases in WAL mode"


def sqlite_findings() -> list[Finding]:
    """What each library is: that of apsw, that of Python, and that of the command, if there is one."""
    return [_of_apsw(), _of_python(), *_of_command()]


def _of_apsw() -> Finding:
    try:
        from apsw import apsw_version, sqlite_lib_version
    except ImportError as error:
        return Finding("SQLite of apsw", f"apsw cannot be imported: {error}", False, _UPGRADE)
    ours = sqlite_lib_version()
    status = wal_reset_status(ours)
    is_safe = status != AFFECTED
    found = f"{ours} in apsw {apsw_version()}, {_said(status)}; opens every file here"
    facts = {"apsw": apsw_version(), "sqlite": ours, "wal_reset_bug": status}
    return Finding("SQLite of apsw", found, is_safe, None if is_safe else _UPGRADE, facts)


def _of_python() -> Finding:
    try:
        from sqlite3 import sqlite_version
    except ImportError as error:
        return Finding("SQLite of Python", f"this Python has none: {error}")
    return _bystander("SQLite of Python", sqlite_version, "opens no file here")


def _of_command() -> list[Finding]:
    program = shutil.which("sqlite3")
    if program is None:
        return []
    said = said_version(program)
    if said is None:
        return [Finding("sqlite3 command", f"{program} does not say its version")]
    return [_bystander("sqlite3 command", said.split(" ")[0], f"in {program}")]


def _bystander(name: str, version: str, what: str) -> Finding:
    """One that Arrowproof opens no file with: a plain fact, and advice where it is affected."""
    try:
        status = wal_reset_status(version)
    except InputError:
        return Finding(name, f"{version[:40]!r} is no SQLite version; {what}")
    advice = f"; {_KEEP_OFF}" if status == AFFECTED else ""
    facts = {"sqlite": version, "wal_reset_bug": status}
    return Finding(name, f"{version}, {_said(status)}; {what}{advice}", facts=facts)


def _said(status: str) -> str:
    return f"{status} by the WAL-reset bug"
