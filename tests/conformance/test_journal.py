"""The journal is shown on real files; every rule of SQLite that it rests on is a test here."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import apsw
import pytest

from arrowproof.conformance.sqlite_journal import SQLiteJournal
from arrowproof.errors import InputError
from arrowproof.model.evidence import JournalKind
from arrowproof.model.lifecycle import Binding
from tests.conformance.journals import JOB, JOBS, Make, brief, make_journal, schema_of


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return partial(make_journal, tmp_path)


def test_insert_update_and_delete_leave_one_row_each_in_the_order_of_the_writes(make: Make) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status) VALUES (7, 'pending')")
    connection.execute("UPDATE jobs SET status = 'done', attempts = attempts + 1")
    connection.execute("DELETE FROM jobs")
    rows = journal.rows()
    assert brief(rows) == [
        ("insert", "changed", 7, None, "pending"),
        ("update", "changed", 7, "pending", "done"),
        ("delete", "changed", 7, "done", None),
    ]
    assert [row.order for row in rows] == sorted({row.order for row in rows})
    assert rows[1].old_watched == (("attempts", 0),)
    assert rows[1].new_watched == (("attempts", 1),)
    assert rows[0].old_watched == ()
    assert rows[2].new_watched == ()


def test_rows_after_an_order_leave_out_what_came_before(make: Make) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    mark = journal.last_order()
    connection.execute("INSERT INTO jobs (id, status) VALUES (2, 'pending')")
    assert [row.key for row in journal.rows(after=mark)] == [(("id", 2),)]


def test_an_update_that_names_the_unchanged_state_is_told_from_a_touch_and_leaves_one_row(make: Make) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status) VALUES (1, 'running'), (2, 'running')")
    mark = journal.last_order()
    connection.execute("UPDATE jobs SET status = 'running', attempts = attempts + 1")
    connection.execute("UPDATE jobs SET attempts = attempts + 1")
    connection.execute("UPDATE jobs SET status = status WHERE id = 2")
    kinds = [(row.kind, row.key[0][1]) for row in journal.rows(after=mark)]
    named, touched = JournalKind.NAMED, JournalKind.TOUCHED
    assert kinds == [(named, 1), (named, 2), (touched, 1), (touched, 2), (named, 2)]


def test_a_generated_state_is_seen_although_no_update_names_it(make: Make) -> None:
    journal, connection = make(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, attempts INTEGER,"
        " status AS (CASE WHEN attempts > 2 THEN 'failed' ELSE 'pending' END));"
        "CREATE TABLE missed (x); CREATE TRIGGER misses AFTER UPDATE OF status ON jobs"
        " BEGIN INSERT INTO missed VALUES (1); END"
    )
    connection.execute("INSERT INTO jobs (id, attempts) VALUES (1, 2)")
    connection.execute("UPDATE jobs SET attempts = 3")
    assert brief(journal.rows())[-1] == ("update", "changed", 1, "pending", "failed")
    assert connection.execute("SELECT count(*) FROM missed").get == 0


def test_a_change_that_another_trigger_makes_is_seen(make: Make) -> None:
    journal, connection = make(
        f"{JOBS}; CREATE TRIGGER gives_up AFTER UPDATE OF attempts ON jobs WHEN NEW.attempts > 2"
        " BEGIN UPDATE jobs SET status = 'failed' WHERE id = NEW.id; END"
    )
    connection.execute("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    connection.execute("UPDATE jobs SET attempts = 3")
    assert brief(journal.rows())[1:] == [
        ("update", "touched", 1, "pending", "pending"),
        ("update", "changed", 1, "pending", "failed"),
    ]


def test_a_nested_trigger_that_is_made_after_the_journal_loses_no_transition(make: Make) -> None:
    journal, connection = make()
    connection.execute(
        "CREATE TRIGGER late AFTER UPDATE ON jobs WHEN NEW.attempts < 9"
        " BEGIN UPDATE jobs SET attempts = 9 WHERE id = NEW.id; END;"
        "CREATE TRIGGER later AFTER INSERT ON jobs BEGIN UPDATE jobs SET attempts = 1 WHERE id = NEW.id; END"
    )
    connection.execute("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    connection.execute("UPDATE jobs SET status = 'done', attempts = 2")
    changes = [row for row in journal.rows() if row.kind is JournalKind.CHANGED]
    assert brief(tuple(changes)) == [
        ("insert", "changed", 1, None, "pending"),
        ("update", "changed", 1, "pending", "done"),
    ]


def test_a_savepoint_that_rolls_back_takes_its_rows_along(make: Make) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    connection.execute(
        "BEGIN; UPDATE jobs SET attempts = 1; SAVEPOINT s; UPDATE jobs SET status = 'done'; ROLLBACK TO s;"
        "UPDATE jobs SET status = 'failed'; COMMIT; BEGIN; DELETE FROM jobs; ROLLBACK"
    )
    assert brief(journal.rows())[1:] == [
        ("update", "touched", 1, "pending", "pending"),
        ("update", "changed", 1, "pending", "failed"),
    ]


def test_uncommitted_rows_are_not_seen(make: Make) -> None:
    journal, connection = make()
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN; INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    assert journal.rows() == ()
    connection.execute("COMMIT")
    assert len(journal.rows()) == 1


def test_an_update_of_the_key_is_a_removal_and_a_creation(make: Make) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status) VALUES (1, 'pending'), (5, 'done')")
    mark = journal.last_order()
    connection.execute("UPDATE jobs SET id = 2, status = 'done' WHERE id = 1")
    connection.execute("UPDATE OR REPLACE jobs SET id = 5 WHERE id = 2")
    assert brief(journal.rows(after=mark)) == [
        ("delete", "changed", 1, "pending", None),
        ("insert", "changed", 2, None, "done"),
        ("delete", "changed", 2, "done", None),
        ("replace", "named", 5, "done", "done"),
    ]


def test_a_rebuilt_table_has_lost_its_triggers(make: Make) -> None:
    journal, connection = make()
    assert journal.stands()
    connection.execute(f"{JOBS.replace('jobs', 'fresh')}; DROP TABLE jobs; ALTER TABLE fresh RENAME TO jobs")
    assert not journal.stands()


def test_a_trigger_with_another_text_does_not_stand_for_the_journal(make: Make) -> None:
    journal, connection = make()
    connection.execute("DROP TRIGGER arrowproof_journal_insert_jobs")
    assert not journal.stands()
    connection.execute("CREATE TRIGGER arrowproof_journal_insert_jobs AFTER INSERT ON jobs BEGIN SELECT 1; END")
    assert not journal.stands()


def test_a_new_column_leaves_the_journal_standing(make: Make) -> None:
    journal, connection = make(binding=Binding("jobs", ("id",), state_sql="coalesce(status, 'none')"))
    connection.execute("ALTER TABLE jobs ADD COLUMN note")
    assert journal.stands()


def test_removal_leaves_nothing_and_takes_nothing_else(make: Make, tmp_path: Path) -> None:
    journal, connection = make(f"{JOBS}; CREATE TRIGGER own AFTER INSERT ON jobs BEGIN SELECT 1; END")
    bare = apsw.Connection(str(tmp_path / "bare.sqlite3"))
    bare.execute(f"{JOBS}; CREATE TRIGGER own AFTER INSERT ON jobs BEGIN SELECT 1; END")
    assert schema_of(connection) != schema_of(bare)
    journal.remove()
    assert schema_of(connection) == schema_of(bare)
    journal.remove()
    with pytest.raises(InputError, match="no such table"):
        journal.rows()


def test_rows_from_before_the_journal_are_known_to_it(make: Make) -> None:
    journal, connection = make(f"{JOBS}; INSERT INTO jobs (id, status) VALUES (1, 'completed')")
    connection.execute("REPLACE INTO jobs (id, status) VALUES (1, 'pending')")
    assert brief(journal.rows()) == [("replace", "changed", 1, "completed", "pending")]


def test_names_of_any_kind_and_a_composite_key_without_rowid_are_quoted(make: Make) -> None:
    table, first, second, state = 'jo"b; DROP TABLE x --', "OLD", "key 0", "selectあ'"
    names = [name.replace('"', '""') for name in (table, first, second, state)]
    ddl = 'CREATE TABLE "{}" ("{}" TEXT COLLATE NOCASE, "{}", "{}", PRIMARY KEY (2, 3)) WITHOUT ROWID'
    ddl = ddl.replace("(2, 3)", '("{}", "{}")').format(*names, names[1], names[2])
    journal, connection = make(ddl, Binding(table, (second, first), state, watch=(state,)))
    connection.execute(f'INSERT INTO "{names[0]}" VALUES (?, ?, ?)', ("k", b"\x01\xff", "a"))
    connection.execute(f'UPDATE "{names[0]}" SET "{state}" = 1.5')
    connection.execute(f'UPDATE "{names[0]}" SET "{state}" = NULL')
    rows = journal.rows()
    assert rows[0].key == (("key 0", "x'01FF'"), ("OLD", "k"))
    assert [(row.old_state, row.new_state) for row in rows] == [(None, "a"), ("a", 1.5), (1.5, None)]
    assert journal.stands()


def test_state_and_key_that_differ_by_case_alone_differ(make: Make) -> None:
    journal, connection = make(
        "CREATE TABLE jobs (id TEXT COLLATE NOCASE PRIMARY KEY, status TEXT COLLATE NOCASE, attempts)"
    )
    connection.execute("INSERT INTO jobs VALUES ('a', 'done', 0)")
    connection.execute("UPDATE jobs SET status = 'DONE'")
    connection.execute("UPDATE jobs SET id = 'A'")
    assert brief(journal.rows())[1:] == [
        ("update", "changed", "a", "done", "DONE"),
        ("delete", "changed", "a", "DONE", None),
        ("insert", "changed", "A", None, "DONE"),
    ]


def test_a_derived_state_is_followed_through_its_columns(make: Make) -> None:
    derived = "CASE WHEN jobs.done_at IS NOT NULL THEN 'done' WHEN locked_by IS NULL THEN 'free' ELSE 'locked' END -- ."
    journal, connection = make(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, locked_by, done_at, note)",
        Binding("jobs", ("id",), state_sql=derived),
    )
    connection.execute("INSERT INTO jobs (id) VALUES (1)")
    connection.execute("UPDATE jobs SET locked_by = 'w1'")
    connection.execute("UPDATE jobs SET note = 'n'")
    connection.execute("UPDATE jobs SET done_at = 1, locked_by = NULL")
    assert brief(journal.rows()) == [
        ("insert", "changed", 1, None, "free"),
        ("update", "changed", 1, "free", "locked"),
        ("update", "touched", 1, "locked", "locked"),
        ("update", "changed", 1, "locked", "done"),
    ]


def test_a_cascade_is_seen(make: Make) -> None:
    journal, connection = make(
        "CREATE TABLE notes (id INTEGER PRIMARY KEY);"
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY REFERENCES notes ON DELETE CASCADE, status, attempts)"
    )
    connection.execute("PRAGMA foreign_keys = ON; INSERT INTO notes VALUES (1); INSERT INTO jobs VALUES (1, 'a', 0)")
    connection.execute("DELETE FROM notes")
    assert brief(journal.rows())[-1] == ("delete", "changed", 1, "a", None)


def test_last_insert_rowid_of_the_service_is_its_own(make: Make) -> None:
    _, connection = make()
    connection.execute("INSERT INTO jobs (id, status) VALUES (41, 'pending')")
    assert connection.last_insert_rowid() == 41


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (Binding("job", ("id",), "status"), r"no table 'job'. It has: 'jobs'"),
        (Binding("seen", ("id",), "status"), r"'seen' is a view"),
        (Binding("jobs", ("id",), "state", watch=("tries",)), r"no column 'tries', 'state'. It has: 'id', 'status'"),
        (Binding("jobs", ("status",), "status"), r"key \('status'\) of 'jobs' does not name one row"),
        (Binding("jobs", ("id", "code"), "status"), r"does not name one row"),
        (Binding("jobs", ("id",), state_sql="nope + 1"), r"state_sql is no expression over 'jobs': no such column"),
        (Binding("jobs", ("id",), state_sql="1); DROP TABLE jobs; SELECT (1"), r"state_sql"),
        (Binding("jobs", ("id",), "sta\0tus"), r"no column"),
    ],
)
def test_a_binding_that_does_not_fit_is_refused_and_nothing_is_made(
    tmp_path: Path, binding: Binding, message: str
) -> None:
    path = tmp_path / "service.sqlite3"
    connection = apsw.Connection(str(path))
    connection.execute(f"{JOBS}; CREATE VIEW seen AS SELECT * FROM jobs")
    before = schema_of(connection)
    with pytest.raises(InputError, match=message):
        SQLiteJournal(path, binding).install()
    assert schema_of(connection) == before


def test_a_second_journal_on_the_table_is_refused(make: Make) -> None:
    journal, _ = make()
    with pytest.raises(InputError, match="already has a journal"):
        journal.install()


@pytest.mark.parametrize(("content", "message"), [(None, "no database file"), (b"not a database" * 99, "refuses")])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "service.sqlite3"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        SQLiteJournal(path, JOB).install()
    assert (path.read_bytes() if path.exists() else None) == content


def test_installation_waits_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    writer = apsw.Connection(str(path))
    writer.execute(f"{JOBS}; BEGIN IMMEDIATE; INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    installer = threading.Thread(target=SQLiteJournal(path, JOB).install)
    installer.start()
    installer.join(0.1)
    assert installer.is_alive()
    writer.execute("COMMIT")
    installer.join(5)
    assert not installer.is_alive()
    assert SQLiteJournal(path, JOB).stands()


def test_a_database_that_stays_locked_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arrowproof.conformance.rows.BUSY_MILLISECONDS", 50)
    path = tmp_path / "service.sqlite3"
    writer = apsw.Connection(str(path))
    writer.execute(f"{JOBS}; BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="stayed locked"):
        SQLiteJournal(path, JOB).install()
    writer.execute("ROLLBACK")
