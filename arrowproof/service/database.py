"""The database: one SQLite connection that runs named queries, and the checks before it may be opened.

A file is opened only when its marks say that it is a database of the notes service and of this schema version; see
:mod:`arrowproof.service.file_header` for the look that comes first. Who only works on a database (the worker) creates
nothing. The server may create a missing file in an existing folder, and initialises an empty file or a database in
which nothing was ever created. Triggers, indexes and tables that someone added are no reason to refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Final

import apsw

from arrowproof.service.file_header import FileHeader, NotADatabaseError, read_file_header
from arrowproof.service.queries import schema_statements, service_queries
from arrowproof.service.refusal import RefusedError
from arrowproof.service.wal_reset import Version, parse_version, safe_journal_mode

APPLICATION_ID: Final = 0x4E6F7465
SCHEMA_VERSION: Final = 1
BUSY_SECONDS: Final = 5.0

Value = str | int | float | None
SQLITE_VERSION: Final = apsw.sqlite_lib_version()


class Database:
    """One connection. Not for two threads at once. Errors of SQLite are raised as :class:`apsw.Error`."""

    def __init__(self, connection: apsw.Connection, journal_mode: str) -> None:
        self._connection = connection
        self._queries: Mapping[str, str] = service_queries()
        self.journal_mode = journal_mode

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction stands. SQLite ends one on its own after some errors."""
        return self._connection.in_transaction

    def rows(self, query: str, **parameters: Value) -> list[tuple[Value, ...]]:
        """Run a named query to its end and give every row."""
        return list(self._connection.execute(self._queries[query], parameters))

    def row(self, query: str, **parameters: Value) -> tuple[Value, ...] | None:
        """Run a named query to its end and give its first row, or None."""
        return next(iter(self.rows(query, **parameters)), None)

    def change(self, query: str, **parameters: Value) -> int:
        """Run a named INSERT or UPDATE and give the number of rows that it changed, triggers not counted."""
        self._connection.execute(self._queries[query], parameters)
        return self._connection.changes()

    def roll_back(self) -> None:
        """Drop the transaction, if one still stands."""
        if self.in_transaction:
            self.rows("rollback")

    def close(self) -> None:
        """Close the connection; what is not committed is lost."""
        self._connection.close()


def open_database(
    path: Path,
    *,
    create: bool = False,
    busy_seconds: float = BUSY_SECONDS,
    version: Version | None = None,
) -> Database:
    """Open a notes database, checked first, with the journal mode that is safe.

    Args:
        path: The database file; symbolic links are followed.
        create: Whether to make the file when it is missing, and the tables when nothing was ever created in it.
        busy_seconds: How long a statement waits for another process's lock.
        version: The SQLite version that decides on the journal mode; the library's own when None.

    Raises:
        RefusedError: the path is no notes database of this version, or may not be read and written.
        apsw.BusyError: another process kept the database locked for longer than ``busy_seconds``.
    """
    shown = repr(str(path))
    try:
        path = path.resolve()
        exists = _is_there(path, shown, create)
        header = read_file_header(path) if exists else None
    except NotADatabaseError:
        raise RefusedError(f"{shown} is not a SQLite database; give another --db") from None
    except (OSError, RuntimeError, ValueError, apsw.CantOpenError) as error:
        raise RefusedError(f"{shown} cannot be read: {error}") from error
    journal_mode = safe_journal_mode(version or parse_version(SQLITE_VERSION))
    _check_header(header, shown, create, journal_mode)
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    try:
        connection = apsw.Connection(str(path), flags=flags)
    except (ValueError, apsw.CantOpenError) as error:
        raise RefusedError(f"{shown} cannot be opened: {error}") from error
    try:
        return _prepare(connection, shown, create, busy_seconds, journal_mode)
    except BaseException:
        connection.close()
        raise


def _is_there(path: Path, shown: str, create: bool) -> bool:
    """Whether the file exists; refuses what is no file, and a missing one that may not be created."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not create:
            raise RefusedError(f"{shown} does not exist; start the server on it first") from None
        if not path.parent.is_dir():
            raise RefusedError(f"{shown} cannot be created: its folder does not exist") from None
        return False
    if not S_ISREG(mode):
        raise RefusedError(f"{shown} is not a file; give the path of a database file to --db")
    return True


def _check_header(header: FileHeader | None, shown: str, create: bool, journal_mode: str) -> None:
    if header is None:
        if not create:
            raise RefusedError(f"{shown} is empty; start the server on it first")
        return
    if not (create and header.is_blank):
        _check_marks((header.application_id, header.user_version), shown)
    if header.uses_wal and journal_mode != "wal":
        raise RefusedError(
            f"{shown} is in WAL mode, and SQLite {SQLITE_VERSION} can lose a commit there; install a newer apsw"
        )


def _check_marks(marks: tuple[int, int], shown: str) -> None:
    application_id, user_version = marks
    if application_id != APPLICATION_ID:
        raise RefusedError(
            f"{shown} is not a database of the notes service: its application_id is {application_id}, "
            f"not {APPLICATION_ID}; give another --db"
        )
    if user_version != SCHEMA_VERSION:
        raise RefusedError(
            f"{shown} has schema version {user_version}, and this service works with version {SCHEMA_VERSION} only; "
            "it was left as it is: use the release that made it, or give another --db"
        )


def _prepare(connection: apsw.Connection, shown: str, create: bool, busy_seconds: float, journal_mode: str) -> Database:
    """Check the marks once more, now by SQLite's own rules, make the tables if asked to, and set what work needs."""
    connection.set_busy_timeout(int(busy_seconds * 1000))
    database = Database(connection, journal_mode)
    try:
        database.rows("synchronous")
        marks = _read_marks(database)
        if create and marks == (0, 0):
            _initialise(connection, database, shown)
            marks = _read_marks(database)
        _check_marks(marks, shown)
        if connection.readonly("main"):
            raise RefusedError(f"{shown} may not be written; change its permissions or give another --db")
        ((answer,),) = database.rows(journal_mode)
        if answer != journal_mode:
            raise RefusedError(f"{shown} cannot use journal mode {journal_mode}: SQLite stays with {answer}")
        database.rows("foreign_keys")
        database.rows("distrust_schema")
    except (apsw.CantOpenError, apsw.NotADBError, apsw.CorruptError, apsw.ReadOnlyError, apsw.AuthError) as error:
        raise RefusedError(f"{shown} cannot be used: {error}") from error
    return database


def _read_marks(database: Database) -> tuple[int, int]:
    ((application_id,),) = database.rows("application_id")
    ((user_version,),) = database.rows("user_version")
    assert isinstance(application_id, int)
    assert isinstance(user_version, int)
    return application_id, user_version


def _initialise(connection: apsw.Connection, database: Database, shown: str) -> None:
    """Make the tables, in one transaction, unless another process has just done so."""
    database.rows("begin")
    try:
        if _read_marks(database) == (0, 0):
            ((objects,),) = database.rows("count_schema_objects")
            if objects:
                raise RefusedError(f"{shown} holds tables of something else; give another --db")
            for statement in schema_statements():
                connection.execute(statement)
        database.rows("commit")
    finally:
        database.roll_back()
