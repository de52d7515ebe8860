from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from arrowproof.service.begun_file import open_begun
from arrowproof.service.database import SCHEMA_VERSION, BusyError
from arrowproof.service.queries import schema_statements
from arrowproof.service.refusal import RefusedError
from arrowproof.service.sqlite import APPLICATION_ID, open_sqlite
from tests.service.engines import only_sqlite

AFFECTED = (3, 51, 2)
OLDER = ["PRAGMA application_id = 1315927141", "PRAGMA user_version = 1", "CREATE TABLE jobs (id INTEGER)"]
NEWER = [*schema_statements("sqlite"), "PRAGMA user_version = 5"]
FOREIGN = ["CREATE TABLE jobs (id INTEGER)"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "finale.sqlite3"


def make(path: Path, statements: list[str], journal_mode: str = "delete") -> None:
    """A database with these statements run; in WAL mode its last change stands in the WAL only, as after a crash."""
    original = path.with_name("original")
    connection = apsw.Connection(str(original))
    connection.execute(f"PRAGMA journal_mode = {journal_mode}")
    for statement in statements:
        connection.execute(statement)
    shutil.copy(original, path)
    if journal_mode == "wal":
        shutil.copy(f"{original}-wal", f"{path}-wal")
    connection.close()
    original.unlink()


@pytest.mark.parametrize("create", [True, False], ids=["server", "worker"])
@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
@pytest.mark.parametrize(
    ("statements", "said"),
    [(OLDER, "schema version 1"), (NEWER, "schema version 5"), (FOREIGN, "application_id is 0")],
    ids=["older", "newer", "foreign"],
)
def test_another_database_is_refused_and_not_a_byte_changes(path, fingerprint, statements, said, journal_mode, create):
    make(path, statements, journal_mode)
    before = fingerprint()
    with pytest.raises(RefusedError, match=said):
        open_sqlite(path, create=create)
    assert fingerprint() == before


def test_opening_it_the_ordinary_way_would_have_changed_it(path, fingerprint):
    make(path, FOREIGN, "wal")
    before = fingerprint()
    connection = apsw.Connection(str(path))
    connection.execute("SELECT count(*) FROM jobs")
    connection.close()
    assert fingerprint() != before


def test_a_missing_file_is_made_with_the_marks_of_the_service(path):
    database = open_sqlite(path, create=True)
    try:
        assert database.rows("application_id") == [(APPLICATION_ID,)]
        assert database.rows("user_version") == [(SCHEMA_VERSION,)]
        assert database.journal_mode == "wal"
    finally:
        database.close()
    open_sqlite(path).close()


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_a_blank_database_is_initialised_by_the_server_and_refused_by_the_worker(path, journal_mode):
    make(path, ["CREATE TABLE t (x)", "DROP TABLE t"], journal_mode)
    with pytest.raises(RefusedError, match="application_id is 0"):
        open_sqlite(path)
    open_sqlite(path, create=True).close()
    open_sqlite(path).close()


def test_an_empty_file_is_initialised_by_the_server_and_refused_by_the_worker(path, fingerprint):
    path.touch()
    before = fingerprint()
    with pytest.raises(RefusedError, match="is empty"):
        open_sqlite(path)
    assert fingerprint() == before
    open_sqlite(path, create=True).close()
    open_sqlite(path).close()


def test_a_missing_file_without_leave_to_make_it_is_refused_and_nothing_is_made(path, fingerprint):
    with pytest.raises(RefusedError, match="does not exist; start the server"):
        open_sqlite(path)
    assert fingerprint() == {}


def test_a_missing_folder_is_refused(path):
    with pytest.raises(RefusedError, match="its folder does not exist"):
        open_sqlite(path.parent / "no" / "finale.sqlite3", create=True)


@pytest.mark.parametrize("create", [True, False], ids=["server", "worker"])
def test_what_cannot_be_a_database_file_is_refused(path, create):
    path.write_text("notes\n" * 100)
    loop = path.with_name("loop")
    loop.symlink_to(loop)
    for wrong in (path, path.parent, path / "below", loop, path.with_name("x" * 300), Path("/dev/null"), Path("a\0b")):
        with pytest.raises(RefusedError, match=r"finale|below|loop|xxx|null|\\x00|test_what"):
            open_sqlite(wrong, create=create)


def test_the_pages_of_a_new_file_are_small_and_those_of_another_stay_as_they_are(path):
    def page_size():
        open_sqlite(path, create=True).close()
        return int.from_bytes(path.read_bytes()[16:18])

    assert page_size() == 2048
    path.unlink()
    make(path, ["PRAGMA page_size = 8192", *schema_statements("sqlite")])
    assert page_size() == 8192


@pytest.mark.parametrize("create", [True, False], ids=["server", "worker"])
def test_a_damaged_database_is_refused(path, create):
    open_sqlite(path, create=True).close()
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * 3996
    path.write_bytes(content)
    with pytest.raises(RefusedError, match=r"cannot be used: .*malformed"):
        open_sqlite(path, create=create)


def test_a_name_that_is_no_unicode_is_refused(tmp_path, fingerprint):
    with pytest.raises(RefusedError, match=r"cannot be opened: .*utf-8"):
        open_sqlite(tmp_path / os.fsdecode(b"\xff.db"), create=True)
    assert fingerprint() == {}


def test_a_symbolic_link_leads_to_the_database(path):
    open_sqlite(path, create=True).close()
    link = path.with_name("link")
    link.symlink_to(path)
    open_sqlite(link).close()
    assert not path.with_name("link-wal").exists()


@pytest.mark.parametrize("create", [True, False], ids=["server", "worker"])
def test_a_file_with_several_names_is_refused_and_names_the_way_out(path, fingerprint, create):
    open_sqlite(path, create=True).close()
    other = path.with_name("other.sqlite3")
    other.hardlink_to(path)
    before = fingerprint()
    for name in (path, other):
        with pytest.raises(RefusedError, match=r"has 2 names \(hard links\).*remove the other names"):
            open_sqlite(name, create=create)
    assert fingerprint() == before
    other.unlink()
    open_sqlite(path, create=create).close()


def put(kind: str, file: Path) -> None:
    """Put something that is no ordinary file where a file is looked for."""
    file.unlink(missing_ok=True)
    target = file.with_name("target")
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "device":
        file.symlink_to("/dev/full")
    elif kind == "dangling link":
        file.symlink_to(target)
    else:
        target.write_text("precious")
        file.symlink_to(target) if kind == "link" else file.hardlink_to(target)


every_ending = pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal", "-begun"])


def test_a_file_in_wal_mode_that_is_in_use_cannot_leave_that_mode_and_the_way_out_is_named(path):
    user = open_sqlite(path, create=True)
    user.rows("application_id")
    with pytest.raises(RefusedError, match=r"in WAL mode and in use.*end the other processes.*--journal-mode wal"):
        open_sqlite(path, create=True, journal_mode="truncate", busy_seconds=0.1)
    user.close()
    open_sqlite(path, create=True, journal_mode="truncate").close()


@every_ending
@pytest.mark.parametrize("kind", ["folder", "device", "dangling link", "link", "hard link"])
def test_what_stands_beside_it_is_never_opened_unless_it_is_an_ordinary_file(path, ending, kind):
    open_sqlite(path, create=True).close()
    file = path.with_name(path.name + ending)
    put(kind, file)
    before = file.lstat()
    with pytest.raises(RefusedError, match=f"{ending}' is in the way"):
        (open_begun if ending == "-begun" else open_sqlite)(path)
    assert file.lstat() == before
    target = file.with_name("target")
    assert target.read_text() == "precious" if kind in ("link", "hard link") else not target.exists()


@only_sqlite
@every_ending
def test_neither_server_nor_worker_waits_for_a_fifo_beside_the_database(notes, ending):
    open_sqlite(notes.database, create=True).close()
    put("fifo", notes.database.with_name(notes.database.name + ending))
    refused = [notes.worker()] if ending == "-begun" else [notes.worker(), notes.refused_server()]
    for process in refused:
        assert process.exit_status() == 2
        assert f"{ending}' is in the way" in process.stderr


def test_names_that_mean_something_to_sqlite_are_ordinary_file_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:a?mode=memory", "100%41.db"):
        open_sqlite(Path(name), create=True).close()
        assert (tmp_path / name).stat().st_size > 0


OPEN_AS_NOBODY = """
import sys
from pathlib import Path
from arrowproof.service.sqlite import open_sqlite
from arrowproof.service.refusal import RefusedError
try:
    open_sqlite(Path(sys.argv[1]))
except RefusedError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize(("mode", "said"), [(0o000, "cannot be read"), (0o444, "may not be written")])
def test_a_file_without_permission_is_refused(path, mode, said):
    open_sqlite(path, create=True).close()
    make_rollback = apsw.Connection(str(path))
    make_rollback.execute("PRAGMA journal_mode = DELETE")
    make_rollback.close()
    path.chmod(mode)
    command = [sys.executable, "-c", OPEN_AS_NOBODY, str(path)]
    if os.geteuid() == 0:
        # Root may read everything, as long as it has its capabilities.
        command = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", *command]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 1, process.stderr
    assert said in process.stderr


def test_triggers_tables_and_indexes_that_someone_added_are_no_reason_to_refuse(path):
    open_sqlite(path, create=True).close()
    connection = apsw.Connection(str(path))
    for statement in (
        "CREATE TABLE journal (old, new)",
        "CREATE TRIGGER j AFTER UPDATE ON jobs BEGIN INSERT INTO journal VALUES (OLD.status, NEW.status); END",
        "CREATE INDEX i ON jobs (last_error)",
    ):
        connection.execute(statement)
    connection.close()
    open_sqlite(path).close()
    open_sqlite(path, create=True).close()


def test_every_commit_is_synced_and_foreign_keys_hold(path):
    database = open_sqlite(path, create=True)
    try:
        connection = database._connection
        settings = [connection.pragma(name) for name in ("synchronous", "foreign_keys", "trusted_schema")]
        assert settings == [2, 1, 0]
        with pytest.raises(apsw.ConstraintError, match="FOREIGN KEY"):
            connection.execute("INSERT INTO note_events (job_id, attempt, created_at) VALUES (7, 1, '2026')")
    finally:
        database.close()


def test_a_sqlite_that_can_lose_a_commit_works_with_a_rollback_journal(path):
    database = open_sqlite(path, create=True, version=AFFECTED)
    try:
        assert database.journal_mode == "truncate"
        assert database._connection.pragma("journal_mode") == "truncate"
        database.begin()
        database.rows("insert_note", client="", idempotency_key="k", text="t", text_sha256="s", now="2026")
        database.commit()
        assert path.with_name("finale.sqlite3-journal").stat().st_size == 0
        assert not path.with_name("finale.sqlite3-wal").exists()
    finally:
        database.close()


def test_a_sqlite_that_can_lose_a_commit_leaves_a_database_in_wal_mode_alone(path, fingerprint):
    open_sqlite(path, create=True).close()
    before = fingerprint()
    with pytest.raises(RefusedError, match="install a newer apsw"):
        open_sqlite(path, version=AFFECTED)
    assert fingerprint() == before


def test_a_database_that_stays_locked_is_an_error_after_the_busy_time(path):
    open_sqlite(path, create=True, version=AFFECTED).close()
    other = apsw.Connection(str(path))
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(BusyError):
            open_sqlite(path, busy_seconds=0.05, version=AFFECTED)
    finally:
        other.close()


def test_a_statement_that_is_run_again_with_other_values_is_not_planned_anew(path):
    database = open_sqlite(path, create=True)
    planned = []
    # SQLite asks whether each part of a statement is allowed when it plans it, and then only.
    database._connection.authorizer = lambda *asked: planned.append(asked) or apsw.SQLITE_OK
    try:
        assert database.rows("claim_due_jobs", now="2026", most=1) == []
        assert planned
        planned.clear()
        assert database.rows("claim_due_jobs", now="2027", most=2) == []
        assert planned == []
    finally:
        database.close()
