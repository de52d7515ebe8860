"""Where a proof runs: versions of Arrowproof, Python and the database, the platform, and what they mean for it."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path

import apsw

import arrowproof
from arrowproof.conformance.rows import open_database
from arrowproof.conformance.wal_reset import wal_reset_status
from arrowproof.model.evidence import Environment


def describe_environment(database: Path) -> Environment:
    """The environment of a proof on this database; ``journal_mode`` is what the file is in now.

    ``database_version`` and ``wal_reset`` are of the SQLite that the proof itself reads with; a service may bring
    another one, which is not known here.

    Raises:
        InputError: the file is missing or is no database.
    """
    with open_database(database) as connection:
        mode = connection.pragma("journal_mode")
    version = apsw.sqlite_lib_version()
    return replace(_here("SQLite", version), journal_mode=str(mode), wal_reset=wal_reset_status(version))


def describe_postgresql(server_version: str) -> Environment:
    """The environment of a proof on a PostgreSQL server of this version."""
    return _here("PostgreSQL", server_version)


def _here(database: str, version: str) -> Environment:
    return Environment(
        arrowproof=arrowproof.__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        database=database,
        database_version=version,
    )
