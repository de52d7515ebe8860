"""``arrowproof doctor``: what works on this machine and what does not."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict

import click

from arrowproof import __version__
from arrowproof.cli.doctor_postgresql import postgresql_findings
from arrowproof.cli.doctor_sqlite import sqlite_findings
from arrowproof.cli.finding import Finding
from arrowproof.cli.output import emit_json, json_option, printable
from arrowproof.errors import ENVIRONMENT_LACKS, HOLDS, MissingEnvironmentError


@click.command()
@click.option("--db", "url", metavar="URL", help="A PostgreSQL server to look at: postgresql://USER@HOST:PORT/NAME.")
@json_option
def command(url: str | None, as_json: bool) -> int:
    """Say which versions are here, which SQLite has the WAL-reset bug, and whether a Chromium can be started.

    With --db it asks a PostgreSQL server for its version and for the settings that decide whether a commit outlives a
    power cut. Exit status 0 when nothing is marked `no`, otherwise 3.

    With --json: {"format": "arrowproof.doctor/1", "verdict": "holds" or "lacks", "findings": [...]}. A finding has
    `name`, `found` (for people), `works` (true, false, or null for a plain fact), `remedy` (text or null) and `facts`,
    an object of texts: python; apsw, sqlite, wal_reset_bug ("affected" or "not affected"); psycopg, libpq; postgresql,
    fsync, synchronous_commit, full_page_writes. The bundled service prints the same facts when it starts.

    \b
    Example:
      arrowproof doctor --db postgresql://notes@localhost/notes --json
    """
    findings = [*_python(), *sqlite_findings(), _graphviz(), _chromium(), *postgresql_findings(url)]
    works = all(finding.works is not False for finding in findings)
    if as_json:
        emit_json("arrowproof.doctor/1", "holds" if works else "lacks", {"findings": [asdict(f) for f in findings]})
    else:
        for finding in findings:
            mark = {True: "ok", False: "no", None: "  "}[finding.works]
            click.echo(f"{mark}  {finding.name:<22} {printable(finding.found)}")
            if finding.remedy:
                click.echo(f"    {'':<22} to fix it: {printable(finding.remedy)}")
    return HOLDS if works else ENVIRONMENT_LACKS


def _python() -> list[Finding]:
    python = platform.python_version()
    is_new_enough = sys.version_info >= (3, 11)
    return [
        Finding("Arrowproof", __version__),
        Finding("Python", f"{python} ({sys.executable})", is_new_enough, facts={"python": python}),
    ]


def _graphviz() -> Finding:
    try:
        from pygraphviz import __version__ as version
    except ImportError as error:
        return Finding("Graphviz", f"pygraphviz cannot be imported: {error}", False, "pip install pygraphviz")
    return Finding("Graphviz", f"in pygraphviz {version}", True)


def _chromium() -> Finding:
    from arrowproof.render.chromium import describe_chromium

    try:
        found = describe_chromium()
    except MissingEnvironmentError as error:
        return Finding("Chromium", str(error).splitlines()[0], False, error.remedy)
    return Finding("Chromium", f"{found.version} ({found.path})", True)
