"""The record of begun attempts in SQLite: a small database of its own, which is never flushed to the disk.

See :mod:`arrowproof.service.begun` for what is in it, and :mod:`arrowproof.service.begun_file` for where it stands.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from arrowproof.service.begun_file import BEGUN_APPLICATION_ID, begun_file, may_be_begun, remove_begun
from arrowproof.service.companions import check_companions, check_regular
from arrowproof.service.database import BUSY_SECONDS, DatabaseError
from arrowproof.service.queries import schema_statements
from arrowproof.service.refusal import RefusedError
from arrowproof.service.sqlite import SQLITE_VERSION, SQLiteDatabase, own_errors
from arrowproof.service.wal_reset import parse_version, safe_journal_mode


def open_begun(path: Path, busy_seconds: float = BUSY_SECONDS) -> SQLiteDatabase:
    """Open the record of begun attempts beside a database, and make it when it is missing or broken.

    Nothing of it is worth keeping when it cannot be read: a power cut can break it, since it is never flushed. A file
    that is not known as such a record is left alone.

    Raises:
        RefusedError: it can be neither opened nor made, or a file of something else has its name.
    """
    file = begun_file(path)
    try:
        check_regular(file)
        check_companions(file)
        if not may_be_begun(file):
            raise RefusedError(f"{str(file)!r} is in the way: it is no record of the notes service; move it elsewhere")
        try:
            return _open_begun(file, busy_seconds)
        except DatabaseError as error:
            if not isinstance(error.__cause__, (apsw.NotADBError, apsw.CorruptError)):
                raise
        remove_begun(path)
        return _open_begun(file, busy_seconds)
    except (DatabaseError, OSError, apsw.Error) as error:
        raise RefusedError(f"{str(file)!r} cannot be used: {error}") from error


def _open_begun(file: Path, busy_seconds: float) -> SQLiteDatabase:
    journal_mode = safe_journal_mode(parse_version(SQLITE_VERSION))
    with own_errors():
        connection = apsw.Connection(str(file))
    try:
        connection.set_busy_timeout(int(busy_seconds * 1000))
        database = SQLiteDatabase(connection, journal_mode)
        database.rows("synchronous")
        if database.rows("application_id") != [(BEGUN_APPLICATION_ID,)]:
            _make_begun(connection, database)
        if database.rows("quick_check") != [("ok",)]:
            raise DatabaseError("CorruptError: the record is broken") from apsw.CorruptError()
        database.rows(journal_mode)
        database.rows("not_synchronous")
    except BaseException:
        connection.close()
        raise
    return database


def _make_begun(connection: apsw.Connection, database: SQLiteDatabase) -> None:
    """Make the table and the mark in one transaction, unless another process has just done so.

    A file that had the one without the other would be taken for something else for ever.
    """
    database.begin()
    try:
        if database.rows("application_id") != [(BEGUN_APPLICATION_ID,)]:
            with own_errors():
                for statement in schema_statements("sqlite", "begun_schema"):
                    connection.execute(statement)
        database.commit()
    finally:
        database.roll_back()
