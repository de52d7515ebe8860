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


def test_a_frame_of_the_wal_that_a_power_cut_tore_is_not_believed(path):
    connection = make(path, "CREATE TABLE t (x)", "PRAGMA user_version = 1", "PRAGMA journal_mode = WAL")
    try:
        list(connection.execute("PRAGMA user_version = 2"))
        copies = [path.with_name(name) for name in ("whole.sqlite3", "torn.sqlite3")]
        wal = path.with_name("some.sqlite3-wal").read_bytes()
        assert len(wal) == 32 + 24 + 4096
        for copy, kept in zip(copies, (wal, wal[:512] + bytes(len(wal) - 512)), strict=True):
            shutil.copy(path, copy)
            copy.with_name(copy.name + "-wal").write_bytes(kept)
        assert [read_file_header(copy).user_version for copy in copies] == [2, 1]
    finally:
        connection.close()


def test_a_file_whose_journal_says_that_it_was_empty_before_is_empty(path):
    connection = make(path, "PRAGMA cache_size = 1", "BEGIN", "CREATE TABLE t (x)")
    try:
        for _ in range(200):
            connection.execute("INSERT INTO t VALUES (randomblob(3000))")
        half = path.with_name("half.sqlite3")
        half.write_bytes(b"\xff" * 512 + path.read_bytes()[512:])
        with pytest.raises(NotADatabaseError):
            read_file_header(half)
        shutil.copy(path.with_name("some.sqlite3-journal"), path.with_name("half.sqlite3-journal"))
        assert read_file_header(half) is None
    finally:
        connection.close()
    # And SQLite agrees.
    other = make(half)
    assert list(other.execute("SELECT count(*) FROM sqlite_schema")) == [(0,)]
    other.close()
    assert half.stat().st_size == 0


def test_the_marks_that_a_rollback_will_bring_back_are_those_that_count(path):
    connection = make(path, "PRAGMA user_version = 7", "CREATE TABLE t (x)", "PRAGMA cache_size = 1", "BEGIN")
    try:
        list(connection.execute("PRAGMA user_version = 8"))
        for _ in range(200):
            connection.execute("INSERT INTO t VALUES (randomblob(3000))")
        broken = path.with_name("broken.sqlite3")
        broken.write_bytes(b"\xff" * 512 + path.read_bytes()[512:])
        journal = path.with_name("some.sqlite3-journal").read_bytes()
        broken.with_name("broken.sqlite3-journal").write_bytes(journal)
        assert read_file_header(broken).user_version == 7
        broken.with_name("broken.sqlite3-journal").write_bytes(journal[:600] + b"\xff" * 4096 + journal[4696:])
        with pytest.raises(NotADatabaseError):
            read_file_header(broken)
        broken.with_name("broken.sqlite3-journal").write_bytes(journal)
    finally:
        connection.close()
    # And SQLite agrees.
    other = make(broken)
    assert other.pragma("user_version") == 7
    other.close()


@pytest.mark.parametrize("head", [b"", bytes(512), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(19)])
def test_a_journal_that_says_nothing_is_passed_over(path, head):
    make(path, "PRAGMA user_version = 7").close()
    path.with_name("some.sqlite3-journal").write_bytes(head)
    assert read_file_header(path).user_version == 7


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
