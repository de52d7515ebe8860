from __future__ import annotations

import shutil
import subprocess
import sys

import apsw
import pytest

from arrowproof.service.file_header import FileHeader, NotADatabaseError, read_file_header


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.sqlite3"


def make(path, *statements):
    """Run statements on a database file; the open connection."""
    connection = apsw.Connection(str(path))
    for statement in statements:
        list(connection.execute(statement))
    return connection


def test_the_marks_of_a_rollback_journal_database_are_read(path):
    make(path, "PRAGMA application_id = -5", "PRAGMA user_version = 7").close()
    assert read_file_header(path) == FileHeader(-5, 7, uses_wal=False, is_blank=False)


def test_the_newest_committed_marks_are_read_from_the_wal(path):
    connection = make(path, "PRAGMA user_version = 1", "PRAGMA journal_mode = WAL", "PRAGMA user_version = 2")
    try:
        list(connection.execute("PRAGMA user_version = 3"))
        assert read_file_header(path) == FileHeader(0, 3, uses_wal=True, is_blank=False)
        # Without the WAL the file itself still holds the old marks, so the test above would go red.
        lonely = path.with_name("lonely.sqlite3")
        shutil.copy(path, lonely)
        assert read_file_header(lonely).user_version == 1
    finally:
        connection.close()


def test_frames_of_an_older_generation_of_the_wal_do_not_count(path):
    connection = make(path, "PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", "PRAGMA user_version = 2")
    try:
        for statement in ("PRAGMA user_version = 9", "PRAGMA wal_checkpoint(FULL)", "INSERT INTO t VALUES (1)"):
            list(connection.execute(statement))
        list(connection.execute("PRAGMA user_version = 4"))
        assert read_file_header(path).user_version == 4
        list(connection.execute("PRAGMA wal_checkpoint(FULL)"))
        list(connection.execute("INSERT INTO t VALUES (1)"))
        # The new generation has overwritten the first frame; the frame behind it still says 4, or 9 before that.
        assert read_file_header(path).user_version == 4
    finally:
        connection.close()


def test_a_transaction_that_is_not_committed_does_not_count(path):
    connection = make(path, "PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", "PRAGMA cache_size = 1", "BEGIN")
    try:
        list(connection.execute("PRAGMA user_version = 5"))
        for _ in range(200):
            connection.execute("INSERT INTO t VALUES (randomblob(3000))")
        assert path.with_name("some.sqlite3-wal").stat().st_size > 100_000, "nothing was spilled"
        assert read_file_header(path).user_version == 0
    finally:
        connection.close()


def test_a_database_in_which_nothing_was_created_is_blank(path):
    make(path, "CREATE TABLE t (x)", "DROP TABLE t", "VACUUM").close()
    assert read_file_header(path) == FileHeader(0, 0, uses_wal=False, is_blank=True)


@pytest.mark.parametrize("statement", ["CREATE TABLE t (x)", "PRAGMA user_version = 1", "PRAGMA application_id = 1"])
def test_a_database_with_a_table_or_a_mark_is_not_blank(path, statement):
    make(path, statement).close()
    assert not read_file_header(path).is_blank


def test_an_empty_file_has_no_header(path):
    path.touch()
    assert read_file_header(path) is None


@pytest.mark.parametrize("content", [b"x", b"SQLite format 3\x00", b"<html>" * 100])
def test_another_file_is_no_database(path, content):
    path.write_bytes(content)
    with pytest.raises(NotADatabaseError):
        read_file_header(path)


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 5000])
def test_a_wal_without_meaning_is_passed_over(path, content):
    make(path, "PRAGMA user_version = 7").close()
    path.with_name("some.sqlite3-wal").write_bytes(content)
    assert read_file_header(path).user_version == 7


BUSY_OR_NOT = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
try:
    connection.execute("BEGIN IMMEDIATE")
except apsw.BusyError:
    sys.exit(5)
"""


def is_locked(path):
    """Whether another process finds the database locked."""
    status = subprocess.run([sys.executable, "-c", BUSY_OR_NOT, str(path)], check=False).returncode
    assert status in (0, 5)
    return status == 5


def test_the_look_keeps_the_locks_that_this_process_holds(path):
    connection = make(path, "CREATE TABLE t (x)", "BEGIN IMMEDIATE")
    try:
        read_file_header(path)
        assert is_locked(path)
        # A look past SQLite loses them: the reason why the header is read through its file layer.
        path.read_bytes()
        assert not is_locked(path)
    finally:
        connection.close()
