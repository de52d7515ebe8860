"""SQLite: a connection to a notes database in a file, and the checks before the file may be opened.

A file is opened only when its marks say that it is a database of the notes service and of this schema version; see
:mod:`arrowproof.service.file_header` for the look that comes first. Who only works on a database (the worker) creates
nothing. The server may create a missing file in an existing folder, and initialises an empty file or a database in
which nothing was ever created. Triggers, indexes and tables that someone added are no reason to refuse. A file that has
several names is one: under each name SQLite keeps a WAL of its own, and commits of one are lost to the other
(https://www.sqlite.org/howtocorrupt.html, section 2.5).
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import Final

import apsw

from arrowproof.service.begun_file import remove_begun
from arrowproof.service.companions import check_companions
from arrowproof.service.database import (
    BUSY_SECONDS,
    SCHEMA_VERSION,
    BusyError,
    DatabaseError,
    UnchangedError,
    Value,
    describe,
)
from arrowproof.service.file_header import (
    FileHeader,
    NotADatabaseError,
    read_file_header,
)
from arrowproof.service.queries import schema_statements, service_queries
from arrowproof.service.refusal import RefusedError
from arrowproof.service.wake_fifo import FifoBell
from arrowproof.service.wal_reset import Version, has_wal_reset_bug, parse_version, safe_journal_mode

APPLICATION_ID: Final = 0x4E6F7465
SQLITE_VERSION: Final = apsw.sqlite_lib_version()
_BUSY = (apsw.BusyError, apsw.LockedError)
_UNUSABLE = (apsw.CantOpenError, apsw.NotADBError, apsw.CorruptError, apsw.ReadOnlyError, apsw.AuthError)


class SQLiteDatabase:
    """One connection to a file. See :class:`arrowproof.service.database.Database`."""

    def __init__(self, connection: apsw.Connection, journal_mode: str, bell: FifoBell | None = None) -> None:
        self._connection = connection
        # One for all statements: each is run to its end before the next, and a new cursor costs as much as a small one.
        self._cursor = connection.cursor()
        # Otherwise SQLite plans a statement with a LIMIT or a range anew whenever it is given other values for them.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self._bell = bell
        self._queries: Mapping[str, str] = service_queries("sqlite")
        self._has_savepoint = False
        self.journal_mode = journal_mode

    @property
    def facts(self) -> Mapping[str, str]:
        """Versions, whether the library has the WAL-reset bug, and how commits reach the disk."""
        bug = has_wal_reset_bug(parse_version(SQLITE_VERSION))
        return {
            "python": platform.python_version(),
            "apsw": apsw.apsw_version(),
            "sqlite": SQLITE_VERSION,
            "wal_reset_bug": "affected" if bug else "not affected",
            "journal_mode": self.journal_mode,
            "synchronous": "full",
        }

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction stands. SQLite ends one on its own after some errors."""
        try:
            return self._connection.in_transaction
        except apsw.Error as error:
            raise own_error(error) from error

    @property
    def has_savepoint(self) -> bool:
        """Whether a savepoint stands to which the transaction can be rolled back."""
        return self._has_savepoint and self.in_transaction

    def begin(self) -> None:
        """Take the write lock."""
        self._has_savepoint = False
        self.rows("begin")

    def commit(self) -> None:
        """Make the work of the transaction durable, and then wake the workers, if asked to."""
        self.rows("commit")
        if self._bell is not None:
            self._bell.ring()

    def rows(self, query: str, **parameters: Value) -> list[tuple[Value, ...]]:
        """Run a named query to its end and give every row."""
        try:
            return self._cursor.execute(self._queries[query], parameters).fetchall()
        except apsw.Error as error:
            raise own_error(error) from error

    def row(self, query: str, **parameters: Value) -> tuple[Value, ...] | None:
        """Run a named query to its end and give its first row, or None."""
        return next(iter(self.rows(query, **parameters)), None)

    def change(self, query: str, **parameters: Value) -> int:
        """Run a named INSERT, UPDATE or DELETE and give the number of rows that it changed, triggers not counted."""
        try:
            self._cursor.execute(self._queries[query], parameters)
            return self._connection.changes()
        except apsw.Error as error:
            raise own_error(error) from error

    def later(self, query: str, **parameters: Value) -> None:
        """Run a named statement at once, since there is no way to be saved."""
        self.change(query, **parameters)
        if query == "savepoint":
            self._has_savepoint = True
        elif query == "release_savepoint":
            self._has_savepoint = False

    def change_one(self, query: str, *, job_id: int, **parameters: Value) -> None:
        """Run a named statement at once that has to change one row of a job."""
        if self.change(query, job_id=job_id, **parameters) != 1:
            raise UnchangedError(query, job_id)

    def settle(self) -> None:
        """Nothing: everything was done at once."""

    def stand_still(self) -> None:
        """Nothing: everything was done at once, and a file has no patience to lose."""

    def roll_back(self) -> None:
        """Drop the transaction, if one still stands."""
        if self.in_transaction:
            self.rows("rollback")

    def close(self) -> None:
        """Close the connection; what is not committed is lost."""
        self._connection.close()


def own_error(error: apsw.Error) -> DatabaseError:
    """An error of apsw as one of the service's own."""
    return BusyError(describe(error)) if isinstance(error, _BUSY) else DatabaseError(describe(error))


@contextmanager
def own_errors() -> Iterator[None]:
    """Has an error of apsw raised as one of the service's own; not for what is run for each job."""
    try:
        yield
    except apsw.Error as error:
        raise own_error(error) from error


def open_sqlite(
    path: Path,
    *,
    create: bool = False,
    busy_seconds: float = BUSY_SECONDS,
    journal_mode: str | None = None,
    version: Version | None = None,
    bell: FifoBell | None = None,
) -> SQLiteDatabase:
    """Open a notes database, checked first, with a journal mode that is safe.

    Args:
        path: The database file; symbolic links are followed.
        create: Whether to make the file when it is missing, and the tables when nothing was ever created in it.
        busy_seconds: How long a statement waits for another process's lock.
        journal_mode: ``wal`` or ``truncate``. When None, who creates takes WAL where it is safe, and who does not
            create leaves the file in the mode that it is in.
        version: The SQLite version that says whether WAL is safe; the library's own when None.
        bell: What is rung after each commit.

    Raises:
        RefusedError: the path is no notes database of this version, or may not be read and written.
        BusyError: another process kept the database locked for longer than ``busy_seconds``.
        DatabaseError: the database failed.
    """
    shown = repr(str(path))
    path, header = _look(path, shown, create)
    safe = safe_journal_mode(version or parse_version(SQLITE_VERSION))
    _check_header(header, shown, create, safe)
    if journal_mode == "wal" != safe:
        raise RefusedError(
            f"SQLite {SQLITE_VERSION} can lose a commit in WAL mode; install a newer apsw, or use truncate"
        )
    if journal_mode is None:
        journal_mode = safe if create or header is None or header.uses_wal else "truncate"
    connection = _connect(path, shown, create)
    try:
        connection.set_busy_timeout(int(busy_seconds * 1000))
        database = SQLiteDatabase(connection, journal_mode, bell)
        _prepare(connection, database, shown, create)
    except BaseException:
        connection.close()
        raise
    return database


def _look(path: Path, shown: str, create: bool) -> tuple[Path, FileHeader | None]:
    """The file itself, behind all links, and its header: None when it is empty or not there."""
    try:
        path = path.resolve()
        exists = _is_there(path, shown, create)
        check_companions(path)
        return path, read_file_header(path) if exists else None
    except NotADatabaseError:
        raise RefusedError(f"{shown} is not a SQLite database; give another --db") from None
    except (OSError, RuntimeError, ValueError, apsw.CantOpenError) as error:
        raise RefusedError(f"{shown} cannot be read: {error}") from error


def _connect(path: Path, shown: str, create: bool) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    try:
        return apsw.Connection(str(path), flags=flags)
    except (ValueError, apsw.CantOpenError) as error:
        raise RefusedError(f"{shown} cannot be opened: {error}") from error


def _is_there(path: Path, shown: str, create: bool) -> bool:
    """Whether the file exists; refuses what is no file, and a missing one that may not be created."""
    try:
        status = path.stat()
    except FileNotFoundError:
        if not create:
            raise RefusedError(f"{shown} does not exist; start the server on it first, or move it back") from None
        if not path.parent.is_dir():
            raise RefusedError(f"{shown} cannot be created: its folder does not exist") from None
        return False
    if not S_ISREG(status.st_mode):
        raise RefusedError(f"{shown} is not a file; give the path of a database file to --db")
    if status.st_nlink > 1:
        raise RefusedError(
            f"{shown} has {status.st_nlink} names (hard links), and commits under one are lost under another: end what "
            "works on it, remove the other names, or give the path of a copy to --db"
        )
    return True


def _check_header(header: FileHeader | None, shown: str, create: bool, safe: str) -> None:
    if header is None:
        if not create:
            raise RefusedError(f"{shown} is empty; start the server on it first")
        return
    if not (create and header.is_blank):
        _check_marks((header.application_id, header.user_version), shown)
    if header.uses_wal and safe != "wal":
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


def _prepare(connection: apsw.Connection, database: SQLiteDatabase, shown: str, create: bool) -> None:
    """Check the marks once more, now by SQLite's own rules, make the tables if asked to, and set what work needs."""
    try:
        database.rows("synchronous")
        marks = _read_marks(database)
        if create and marks == (0, 0):
            database.rows("page_size")
            _initialise(connection, database, shown)
            marks = _read_marks(database)
        _check_marks(marks, shown)
        if connection.readonly("main"):
            raise RefusedError(f"{shown} may not be written; change its permissions or give another --db")
        _set_journal_mode(connection, database, shown)
        database.rows("foreign_keys")
        database.rows("distrust_schema")
    except DatabaseError as error:
        if isinstance(error.__cause__, _UNUSABLE):
            raise RefusedError(f"{shown} cannot be used: {error.__cause__}") from error
        raise


def _set_journal_mode(connection: apsw.Connection, database: SQLiteDatabase, shown: str) -> None:
    try:
        ((answer,),) = database.rows(database.journal_mode)
    except BusyError as error:
        with own_errors():
            in_wal = connection.pragma("journal_mode") == "wal"
        if not in_wal or database.journal_mode == "wal":
            raise
        raise RefusedError(
            f"{shown} is in WAL mode and in use, so it cannot leave that mode: end the other processes that have it "
            "open first, or give --journal-mode wal"
        ) from error
    if answer != database.journal_mode:
        raise RefusedError(f"{shown} cannot use journal mode {database.journal_mode}: SQLite stays with {answer}")


def _read_marks(database: SQLiteDatabase) -> tuple[int, int]:
    ((application_id,),) = database.rows("application_id")
    ((user_version,),) = database.rows("user_version")
    assert isinstance(application_id, int)
    assert isinstance(user_version, int)
    return application_id, user_version


def _initialise(connection: apsw.Connection, database: SQLiteDatabase, shown: str) -> None:
    """Make the tables, in one transaction, unless another process has just done so."""
    database.begin()
    try:
        if _read_marks(database) == (0, 0):
            ((objects,),) = database.rows("count_schema_objects")
            if objects:
                raise RefusedError(f"{shown} holds tables of something else; give another --db")
            _forget_begun(Path(connection.filename), shown)
            with own_errors():
                for statement in schema_statements("sqlite"):
                    connection.execute(statement)
        database.commit()
    finally:
        database.roll_back()


def _forget_begun(path: Path, shown: str) -> None:
    """Remove the record that a removed database of the same name left: its jobs had the same numbers."""
    try:
        remove_begun(path)
    except OSError as error:
        raise RefusedError(f"{shown} cannot be made: {error}") from error
