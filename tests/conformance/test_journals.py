"""What a journal promises on every engine: one suite, run on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.conformance.balance import find_unbalanced
from arrowproof.conformance.journal import open_journal
from arrowproof.conformance.walks import classify
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding, Lifecycle
from tests.conformance.databases import ENGINES, Place, PostgresPlace, SQLitePlace, make
from tests.conformance.journals import JOB, brief


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made: Place = SQLitePlace(tmp_path)
    if request.param == "postgresql":
        made = PostgresPlace(request.getfixturevalue("postgresql"))
    yield made
    made.close()


def test_insert_update_and_delete_leave_one_row_each_in_the_order_of_the_writes(place: Place) -> None:
    journal = make(place)
    place.run("INSERT INTO jobs (id, status) VALUES (7, 'pending')")
    mark = journal.last_order()
    place.run("UPDATE jobs SET status = 'done', attempts = attempts + 1", "DELETE FROM jobs")
    rows = journal.rows()
    assert brief(rows) == [
        ("insert", "changed", 7, None, "pending"),
        ("update", "changed", 7, "pending", "done"),
        ("delete", "changed", 7, "done", None),
    ]
    assert (rows[1].old_watched, rows[1].new_watched) == ((("attempts", 0),), (("attempts", 1),))
    assert (rows[0].old_watched, rows[2].new_watched) == ((), ())
    assert journal.rows(after=mark) == rows[1:]
    assert journal.last_order() == rows[-1].order


def test_the_three_kinds_are_told_apart(place: Place) -> None:
    journal = make(place, "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER DEFAULT 0)")
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'running'), (2, 'pending')")
    mark = journal.last_order()
    place.run("UPDATE jobs SET status = 'running'", "UPDATE jobs SET attempts = 5 WHERE id = 1")
    assert sorted(brief(journal.rows(after=mark))[:2]) == [
        ("update", "changed", 2, "pending", "running"),
        ("update", "named", 1, "running", "running"),
    ]
    assert brief(journal.rows(after=mark))[2:] == [("update", "touched", 1, "running", "running")]


def test_a_double_claim_is_seen_as_a_self_transition(place: Place, note_job: Lifecycle) -> None:
    lifecycle = replace(note_job, binding=JOB)
    journal = make(place)
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    mark = journal.last_order()
    claim = "UPDATE jobs SET status = 'completed', attempts = attempts + 1 WHERE id = 1"
    place.run(claim, claim)
    seen = [classify(lifecycle, {}, row) for row in journal.rows(after=mark)]
    assert seen == [("pending", "completed"), ("completed", "completed")]


def test_a_savepoint_that_rolls_back_takes_its_rows_along(place: Place) -> None:
    journal = make(place)
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    place.run("BEGIN", "UPDATE jobs SET attempts = 1", "SAVEPOINT s", "UPDATE jobs SET status = 'done'")
    place.run("ROLLBACK TO SAVEPOINT s", "UPDATE jobs SET status = 'failed'", "COMMIT")
    place.run("BEGIN", "DELETE FROM jobs", "ROLLBACK")
    assert brief(journal.rows())[1:] == [
        ("update", "touched", 1, "pending", "pending"),
        ("update", "changed", 1, "pending", "failed"),
    ]


def test_an_update_of_the_key_is_a_removal_and_a_creation(place: Place) -> None:
    journal = make(place)
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'pending')", "UPDATE jobs SET id = 2, status = 'done'")
    assert brief(journal.rows())[1:] == [
        ("delete", "changed", 1, "pending", None),
        ("insert", "changed", 2, None, "done"),
    ]


def test_an_upsert_is_what_it_does_to_the_row(place: Place) -> None:
    journal = make(place)
    upsert = "INSERT INTO jobs (id, status) VALUES (1, '{}') ON CONFLICT (id) DO UPDATE SET status = excluded.status"
    place.run(upsert.format("pending"), upsert.format("done"), upsert.format("done"))
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'lost') ON CONFLICT DO NOTHING")
    assert brief(journal.rows()) == [
        ("insert", "changed", 1, None, "pending"),
        ("update", "changed", 1, "pending", "done"),
        ("update", "named", 1, "done", "done"),
    ]


def test_a_cascade_is_seen(place: Place) -> None:
    notes = "CREATE TABLE notes (id INTEGER PRIMARY KEY);\n"
    jobs = (
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY REFERENCES notes ON DELETE CASCADE, status TEXT, attempts INTEGER)"
    )
    journal = make(place, notes + jobs)
    if place.name == "sqlite":
        place.run("PRAGMA foreign_keys = ON")
    place.run("INSERT INTO notes VALUES (1)", "INSERT INTO jobs VALUES (1, 'a', 0)", "DELETE FROM notes")
    assert brief(journal.rows())[-1] == ("delete", "changed", 1, "a", None)


def test_names_of_any_kind_and_a_composite_key_are_quoted(place: Place) -> None:
    table, first, second, state = 'jo"b %s; DROP TABLE x --', "OLD", "key $1 %s \\", "selectあ'"
    names = [name.replace('"', '""') for name in (table, first, second, state)]
    ddl = 'CREATE TABLE "{0}" ("{1}" TEXT, "{2}" INTEGER, "{3}" TEXT, PRIMARY KEY ("{1}", "{2}"))'.format(*names)
    journal = make(place, ddl, Binding(table, (second, first), state, watch=(state,)))
    place.run(f"INSERT INTO \"{names[0]}\" VALUES ('k', 3, 'a')", f'UPDATE "{names[0]}" SET "{names[3]}" = NULL')
    rows = journal.rows()
    assert rows[0].key == ((second, 3), (first, "k"))
    assert [(row.old_state, row.new_state) for row in rows] == [(None, "a"), ("a", None)]
    found = journal.bound_row(((second, 3), (first, "k")))
    assert found is not None
    assert found.columns == ((first, "k"), (second, 3), (state, None))
    assert journal.stands()


@pytest.mark.parametrize("table", ["new", "OLD"])
def test_a_table_is_not_taken_for_the_row_that_a_trigger_calls_so(place: Place, table: str) -> None:
    journal = make(
        place,
        f'CREATE TABLE "{table}" (id INTEGER PRIMARY KEY, s TEXT, code TEXT UNIQUE)',
        Binding(table, ("id",), "s"),
    )
    place.run(
        f"""INSERT INTO "{table}" VALUES (1, 'a', 'x'), (2, 'a', 'y')""",
        f"""UPDATE "{table}" SET s = 'b' WHERE id = 2""",
        f"""DELETE FROM "{table}" WHERE id = 1""",
    )
    if place.name == "sqlite":
        place.run(f"""REPLACE INTO "{table}" VALUES (3, 'c', 'y')""")
    else:
        place.run(f"""DELETE FROM "{table}" WHERE id = 2""", f"""INSERT INTO "{table}" VALUES (3, 'c', 'y')""")
    assert [(row.key, row.old_state, row.new_state) for row in journal.rows()] == [
        ((("id", 1),), None, "a"),
        ((("id", 2),), None, "a"),
        ((("id", 2),), "a", "b"),
        ((("id", 1),), "a", None),
        ((("id", 2),), "b", None),
        ((("id", 3),), None, "c"),
    ]


def test_a_derived_state_is_followed_through_its_columns(place: Place) -> None:
    derived = "CASE WHEN jobs.done_at IS NOT NULL THEN 'done' WHEN locked_by IS NULL THEN 'free' ELSE 'locked' END -- ."
    ddl = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, locked_by TEXT, done_at INTEGER, note TEXT)"
    journal = make(place, ddl, Binding("jobs", ("id",), state_sql=derived))
    place.run("INSERT INTO jobs (id) VALUES (1)", "UPDATE jobs SET locked_by = 'w1'", "UPDATE jobs SET note = 'n'")
    place.run("UPDATE jobs SET done_at = 1, locked_by = NULL")
    assert brief(journal.rows()) == [
        ("insert", "changed", 1, None, "free"),
        ("update", "changed", 1, "free", "locked"),
        ("update", "touched", 1, "locked", "locked"),
        ("update", "changed", 1, "locked", "done"),
    ]
    found = journal.bound_row((("id", 1),))
    assert found is not None
    assert found.state == "done"


def test_the_row_is_found_by_what_its_key_is_written_as(place: Place) -> None:
    journal = make(place)
    place.run("INSERT INTO jobs (id, status) VALUES (3, 'pending')")
    found = [journal.bound_row((("id", key),)) for key in (3, "3", 4, "three", None)]
    assert [row and row.state for row in found] == ["pending", "pending", None, None, None]


def test_rows_from_before_the_journal_are_its_start_and_the_rows_lead_to_the_table_as_it_is(place: Place) -> None:
    ddl = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER DEFAULT 0)"
    place.run(ddl, "INSERT INTO jobs (id, status) VALUES (1, 'pending'), (2, 'pending')")
    journal = open_journal(place.address, JOB)
    start = journal.install()
    assert start == {(("id", 1),): "pending", (("id", 2),): "pending"}
    place.run("UPDATE jobs SET status = 'done' WHERE id = 1", "DELETE FROM jobs WHERE id = 2")
    rows, states = journal.rows_and_states()
    assert states == {(("id", 1),): "done"}
    assert find_unbalanced(start, states, rows) == ()


def test_a_dropped_trigger_and_a_rebuilt_table_are_found_at_the_end(place: Place) -> None:
    journal = make(place)
    assert journal.stands()
    place.run("ALTER TABLE jobs RENAME TO old_jobs", "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT)")
    assert not journal.stands()
    place.run("DROP TABLE jobs")
    assert not journal.stands()


def test_removal_leaves_nothing_and_takes_nothing_else(place: Place) -> None:
    place.run("CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER)")
    before = place.made()
    journal = open_journal(place.address, JOB)
    journal.install()
    assert place.made() != before
    journal.remove()
    assert place.made() == before
    journal.remove()
    with pytest.raises(InputError):
        journal.rows()


def test_a_second_journal_on_the_table_is_refused(place: Place) -> None:
    journal = make(place)
    with pytest.raises(InputError, match="already has a journal"):
        journal.install()
    assert journal.stands()


def test_a_database_without_any_table_is_told_to_be_ahead_of_its_service(place: Place) -> None:
    place.run("SELECT 1")
    with pytest.raises(InputError, match=r"no table 'jobs' and no other\. .* a driver's start, in a proof"):
        open_journal(place.address, JOB).install()


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (Binding("job", ("id",), "status"), r"no table 'job'. It has: '?jobs"),
        (Binding("seen", ("id",), "status"), r"'seen' is a view"),
        (Binding("jobs", ("id",), "state", watch=("tries",)), r"no column 'tries', 'state'. It has: 'id', 'status'"),
        (Binding("jobs", ("status",), "status"), r"key \('status'\) of 'jobs' does not name one row"),
        (Binding("jobs", ("id", "code"), "status"), r"does not name one row"),
        (Binding("jobs", ("id",), state_sql="nope + 1"), r"state_sql is no expression over 'jobs'"),
        (Binding("jobs", ("id",), state_sql="1); DROP TABLE jobs; SELECT (1"), r"state_sql"),
        (Binding("jobs", ("id",), "sta\0tus"), r"no column"),
    ],
)
def test_a_binding_that_does_not_fit_is_refused_and_nothing_is_made(
    place: Place, binding: Binding, message: str
) -> None:
    place.run("CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER, code TEXT UNIQUE)")
    place.run("CREATE VIEW seen AS SELECT * FROM jobs")
    before = place.made()
    with pytest.raises(InputError, match=message):
        open_journal(place.address, binding).install()
    assert place.made() == before
