"""The rules by which SQLite's guard holds, one by one; test_guard_property tries them all together."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import apsw
import pytest

from arrowproof.conformance.guard import read_allowed
from arrowproof.conformance.guard_script import GuardScript
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import AcceptedSneakPath, Binding
from tests.conformance.guards import (
    BINDING,
    JOBS,
    allowed_job,
    guarded_job,
    guarded_jobs,
    refused,
    sqlite_guard,
    states,
)

TODO = "(1, 'todo', 0, 'a')"
DOING = "(2, 'doing', 0, 'b')"
DONE = "(3, 'done', 0, 'c')"


def schema(connection: apsw.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT * FROM sqlite_schema ORDER BY rowid").fetchall()


# --- Messages


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE jobs SET status = 'todo' WHERE id = 3", "jobs id=3: 'done' -> 'todo'"),
        ("UPDATE jobs SET status = 'lost' WHERE id = 2", "jobs id=2: 'doing' -> 'lost'"),
        ("UPDATE jobs SET status = NULL WHERE id = 2", "jobs id=2: 'doing' -> NULL"),
        ("INSERT INTO jobs VALUES (4, 'done', 0, 'd')", "jobs id=4: created -> 'done'"),
        ("DELETE FROM jobs WHERE id < 3", "jobs id=1: 'todo' -> removed"),
    ],
)
def test_a_refusal_names_the_row_and_both_ends(sql, said):
    connection = guarded_jobs(rows=(TODO, DOING, DONE))
    assert refused(connection, sql) == f"{said} is not in the lifecycle job"
    assert states(connection) == {1: "todo", 2: "doing", 3: "done"}


def test_a_long_value_is_cut_in_the_message():
    said = refused(guarded_jobs(rows=(TODO,)), f"UPDATE jobs SET status = '{'x' * 5000}'")
    assert said is not None
    assert len(said) < 200


def test_the_plain_form_is_read_by_an_sqlite_that_takes_no_expression_for_a_message():
    connection = sqlite3.connect(":memory:")
    connection.executescript(JOBS)
    shaped = apsw.Connection(":memory:")
    shaped.execute(JOBS)
    connection.executescript(GuardScript(sqlite_guard(shaped, allowed_job(), is_plain=True)).installation())
    with pytest.raises(sqlite3.IntegrityError, match="jobs: creation that is not in the lifecycle job"):
        connection.execute("INSERT INTO jobs VALUES (4, 'done', 0, 'd')")
    connection.close()


# --- What passes


def test_a_touch_passes_and_a_self_transition_passes_where_the_model_has_it():
    connection = guarded_jobs(rows=(TODO, DOING))
    assert refused(connection, "UPDATE jobs SET attempts = attempts + 1") is None
    assert refused(connection, "UPDATE jobs SET status = 'todo' WHERE id = 1") is None
    assert refused(connection, "UPDATE jobs SET status = 'doing', attempts = 7 WHERE id = 2") is None
    again = "UPDATE jobs SET status = 'todo', attempts = 7 WHERE id = 1"
    assert refused(connection, again) == "jobs id=1: 'todo' -> 'todo' is not in the lifecycle job"


def test_a_sneak_path_that_the_owner_accepts_passes():
    lenient = replace(guarded_job(), accepted_sneak_paths=(AcceptedSneakPath("done", "todo", "by hand"),))
    connection = guarded_jobs(rows=(DONE,), allowed=read_allowed(lenient))
    assert refused(connection, "UPDATE jobs SET status = 'todo'") is None


# --- INSERT, UPSERT and REPLACE


@pytest.mark.parametrize("ending", ["ON CONFLICT DO NOTHING", "ON CONFLICT (id) DO UPDATE SET attempts = 5"])
def test_an_insert_that_finds_its_row_is_judged_by_what_it_does_then(ending):
    connection = guarded_jobs(rows=(TODO,))
    assert refused(connection, f"INSERT INTO jobs VALUES (1, 'done', 0, 'z') {ending}") is None
    assert refused(connection, "INSERT OR IGNORE INTO jobs VALUES (1, 'done', 0, 'z')") is None
    assert states(connection) == {1: "todo"}


def test_an_upsert_is_the_transition_that_it_makes():
    connection = guarded_jobs(rows=(TODO,))
    upsert = "INSERT INTO jobs VALUES (1, '{}', 0, 'z') ON CONFLICT (id) DO UPDATE SET status = excluded.status"
    assert refused(connection, upsert.format("done")) == "jobs id=1: 'todo' -> 'done' is not in the lifecycle job"
    assert refused(connection, upsert.format("doing")) is None


def test_replace_is_the_transition_from_the_row_that_it_took_away():
    connection = guarded_jobs(rows=(TODO,))
    said = refused(connection, "REPLACE INTO jobs VALUES (1, 'done', 0, 'a')")
    assert said == "jobs id=1: 'todo' -> 'done' is not in the lifecycle job"
    assert refused(connection, "REPLACE INTO jobs VALUES (1, 'doing', 0, 'a')") is None


def test_replace_through_another_unique_column_is_a_removal_of_the_other_row():
    connection = guarded_jobs(rows=(TODO, DONE))
    said = refused(connection, "REPLACE INTO jobs VALUES (9, 'todo', 0, 'a')")
    assert said == "jobs id=1: 'todo' -> removed is not in the lifecycle job"
    assert refused(connection, "REPLACE INTO jobs VALUES (9, 'todo', 0, 'c')") is None
    assert states(connection) == {1: "todo", 9: "todo"}


@pytest.mark.parametrize("word", ["IGNORE", "REPLACE", "FAIL", "ABORT", "ROLLBACK"])
def test_a_refusal_beats_the_conflict_clause_of_the_statement(word):
    connection = guarded_jobs(rows=(TODO,))
    assert refused(connection, f"UPDATE OR {word} jobs SET status = 'done'")
    assert refused(connection, f"INSERT OR {word} INTO jobs VALUES (4, 'done', 0, 'd')")
    assert states(connection) == {1: "todo"}


def test_a_key_that_is_changed_is_a_removal_and_a_creation():
    connection = guarded_jobs(rows=(TODO, DONE))
    said = refused(connection, "UPDATE jobs SET id = 8 WHERE id = 1")
    assert said == "jobs id=1: 'todo' -> removed is not in the lifecycle job"
    said = refused(connection, "UPDATE jobs SET id = 8 WHERE id = 3")
    assert said == "jobs id=8: created -> 'done' is not in the lifecycle job"


# --- Values, names and keys


@pytest.mark.parametrize("table", ["jobs", "new", "OLD", 'the "jobs"', "order", "état's"])
def test_any_name_of_a_table_is_guarded(table):
    quoted = '"' + table.replace('"', '""') + '"'
    connection = apsw.Connection(":memory:")
    connection.execute(JOBS.replace("jobs", quoted))
    allowed = allowed_job(replace(BINDING, table=table))
    for statement in sqlite_guard(connection, allowed).installation():
        connection.execute(statement)
    connection.execute(f"INSERT INTO {quoted} VALUES (1, 'todo', 0, 'a'), (2, 'todo', 0, 'b')")
    connection.execute(f"UPDATE {quoted} SET status = 'doing' WHERE id = 1")
    assert refused(connection, f"REPLACE INTO {quoted} VALUES (2, 'done', 0, 'b')") is not None
    assert refused(connection, f"REPLACE INTO {quoted} VALUES (1, 'done', 0, 'a')") is None


def test_a_derived_state_is_guarded():
    derived = Binding("jobs", ("id",), state_sql="CASE WHEN code IS NULL THEN 'todo' ELSE jobs.status END -- now")
    connection = guarded_jobs(rows=("(1, 'done', 0, NULL)",), allowed=allowed_job(derived))
    said = refused(connection, "UPDATE jobs SET code = 'x'")
    assert said == "jobs id=1: 'todo' -> 'done' is not in the lifecycle job"
    assert refused(connection, "UPDATE jobs SET code = 'x', status = 'doing'") is None


def test_a_row_that_another_trigger_changes_at_once_is_judged_step_by_step():
    hasty = (
        f"{JOBS}; CREATE TRIGGER hasty AFTER INSERT ON jobs BEGIN"
        " UPDATE jobs SET status = CASE NEW.code WHEN 'hasty' THEN 'done' ELSE 'doing' END WHERE id = NEW.id; END"
    )
    connection = guarded_jobs(hasty)
    assert refused(connection, "INSERT INTO jobs VALUES (1, 'todo', 0, 'calm')") is None
    said = refused(connection, "INSERT INTO jobs VALUES (2, 'todo', 0, 'hasty')")
    assert said == "jobs id=2: 'todo' -> 'done' is not in the lifecycle job"
    assert refused(connection, "REPLACE INTO jobs VALUES (1, 'todo', 0, 'calm')") is not None


# --- Installation and removal


def test_it_is_installed_twice_with_the_same_result_and_removed_to_the_byte():
    connection = apsw.Connection(":memory:")
    connection.execute(JOBS)
    connection.execute(f"INSERT INTO jobs VALUES {TODO}, {DOING}")
    before = schema(connection)
    script = GuardScript(sqlite_guard(connection, allowed_job()))
    connection.execute(script.installation())
    once = schema(connection)
    connection.execute(script.installation())
    assert schema(connection) == once
    assert refused(connection, "REPLACE INTO jobs VALUES (1, 'done', 0, 'a')") is not None
    connection.execute(script.removal())
    assert schema(connection) == before
    connection.execute(script.removal())
    assert refused(connection, "REPLACE INTO jobs VALUES (1, 'done', 0, 'a')") is None


def test_it_is_not_installed_where_a_row_is_in_no_state_of_the_model_even_by_a_client_that_goes_on():
    connection = apsw.Connection(":memory:")
    connection.execute(JOBS)
    connection.execute(f"INSERT INTO jobs VALUES {TODO}, (5, 'lost', 0, 'e')")
    before = schema(connection)
    script = GuardScript(sqlite_guard(connection, allowed_job())).installation()
    said = [refused_or_wrong(connection, statement) for statement in statements_of(script)]
    assert next(each for each in said if each is not None) == (
        "jobs id=5: 'lost' is no state of the lifecycle job; the guard was not installed"
    )
    assert schema(connection) == before


def statements_of(script: str) -> list[str]:
    """The statements as a shell cuts them, which goes on after an error."""
    statements, lines = [], ""
    for line in script.splitlines(keepends=True):
        lines += line
        if sqlite3.complete_statement(lines):
            statements.append(lines)
            lines = ""
    return statements


def refused_or_wrong(connection: apsw.Connection, sql: str) -> str | None:
    try:
        connection.execute(sql)
    except apsw.Error as error:
        return str(error)
    return None


def test_the_script_as_a_migration_has_both_ways_and_no_transaction():
    connection = apsw.Connection(":memory:")
    connection.execute(JOBS)
    before = schema(connection)
    migration = GuardScript(sqlite_guard(connection, allowed_job())).migration()
    assert "BEGIN IMMEDIATE" not in migration
    up, down = migration.split("-- migrate:down")
    connection.execute(up)
    assert refused(connection, "INSERT INTO jobs VALUES (4, 'done', 0, 'd')") is not None
    connection.execute(down)
    assert schema(connection) == before


def test_a_lifecycle_without_a_binding_is_an_error():
    with pytest.raises(InputError, match="names no table to guard"):
        read_allowed(replace(guarded_job(), binding=None))


def test_tables_whose_names_begin_like_what_a_guard_makes_have_guards_of_their_own():
    connection = guarded_jobs()
    for table in ("key_jobs", "unique_0_jobs", "ed_key_jobs"):
        connection.execute(JOBS.replace("jobs", table))
        allowed = allowed_job(replace(BINDING, table=table))
        for statement in sqlite_guard(connection, allowed).installation():
            connection.execute(statement)
        said = refused(connection, f"INSERT INTO {table} (status) VALUES ('done')")
        assert said == f"{table} id=1: created -> 'done' is not in the lifecycle job"
