"""``arrowproof doctor``: what works on this machine and what does not."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

import click

from arrowproof import __version__
from arrowproof.cli.output import emit_json, json_option
from arrowproof.errors import ENVIRONMENT_LACKS, HOLDS, MissingEnvironmentError


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``works`` is None for a plain fact; ``remedy`` is the command that mends what does not."""

    name: str
    found: str
    works: bool | None = None
    remedy: str | None = None


@click.command(short_help="what this machine has, and whether its SQLite is safe")
@json_option
def command(as_json: bool) -> int:
    """Say which versions are here, whether SQLite has the WAL-reset bug, and whether a Chromium can be started.

    \b
    Example:
      arrowproof doctor --json
    """
    findings = [*_python(), *_sqlite(), _graphviz(), _chromium(), _postgresql()]
    works = all(finding.works is not False for finding in findings)
    if as_json:
        emit_json("arrowproof.doctor/1", "holds" if works else "lacks", {"findings": [asdict(f) for f in findings]})
    else:
        for finding in findings:
            mark = {True: "ok", False: "no", None: "  "}[finding.works]
            click.echo(f"{mark}  {finding.name:<22} {finding.found}")
            if finding.remedy:
                click.echo(f"    {'':<22} to fix it: {finding.remedy}")
    return HOLDS if works else ENVIRONMENT_LACKS


def _python() -> list[Finding]:
    return [
        Finding("Arrowproof", __version__),
        Finding("Python", f"{platform.python_version()} ({sys.executable})", sys.version_info >= (3, 11)),
    ]


def _sqlite() -> list[Finding]:
    """The two SQLite libraries: ours through apsw, and Python's own, which Arrowproof never opens a file with."""
    from sqlite3 import sqlite_version

    from apsw import sqlite_lib_version

    from arrowproof.conformance.wal_reset import wal_reset_status

    ours, pythons = sqlite_lib_version(), sqlite_version
    status = wal_reset_status(ours)
    return [
        Finding("SQLite of apsw", f"{ours}, {_said(status)}; opens every file here", status == "not affected"),
        Finding("SQLite of Python", f"{pythons}, {_said(wal_reset_status(pythons))}; opens no file here"),
    ]


def _said(status: str) -> str:
    return f"{status} by the WAL-reset bug"


def _graphviz() -> Finding:
    try:
        from pygraphviz import __version__ as version
    except ImportError as error:
        return Finding("Graphviz", f"pygraphviz cannot be imported: {error}", False, "pip install pygraphviz")
    return Finding("Graphviz", f"in pygraphviz {version}", True)


def _postgresql() -> Finding:
    """Whether PostgreSQL could be reached. A plain fact: nothing needs it yet."""
    try:
        found = f"psycopg {version('psycopg')}"
    except PackageNotFoundError:
        found = "no psycopg (the extra `postgres` brings it)"
    return Finding("PostgreSQL", f"{found}; this version proves on SQLite alone")


def _chromium() -> Finding:
    from arrowproof.render.chromium import describe_chromium

    try:
        found = describe_chromium()
    except MissingEnvironmentError as error:
        return Finding("Chromium", str(error).splitlines()[0], False, error.remedy)
    return Finding("Chromium", f"{found.version} ({found.path})", True)
