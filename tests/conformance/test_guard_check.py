"""The check of a guard finds each trigger that is left out, each that refuses too much, and leaves no trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import psycopg
import pytest

from arrowproof.conformance.guard import read_allowed
from arrowproof.conformance.guard_check import GuardCheck, check_guard_of
from arrowproof.conformance.guard_script import GuardScript
from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
from arrowproof.conformance.service_guard import check_service_guard
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import AcceptedSneakPath, Arrow, Binding, Lifecycle
from tests.conformance.guards import JOBS, allowed_job, guarded_job, sqlite_guard

SQLITE_TRIGGERS = ("named", "insert", "update", "delete")
POSTGRESQL_TRIGGERS = ("named", "insert", "update", "delete", "truncate")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite file whose table of jobs has a guard."""
    path = tmp_path / "service.sqlite3"
    connection = apsw.Connection(str(path))
    connection.execute(JOBS)
    connection.execute(GuardScript(sqlite_guard(connection, allowed_job())).installation())
    connection.close()
    return path


@pytest.fixture
def server(postgresql: str) -> Iterator[str]:
    """The URL of a schema whose table of jobs has a guard."""
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS checked CASCADE")
        connection.execute("CREATE SCHEMA checked")
        connection.execute("SET search_path TO checked")
        connection.execute("CREATE TABLE jobs (id serial PRIMARY KEY, status text, attempts int, code text UNIQUE)")
        connection.execute(GuardScript(PostgreSQLGuard(allowed_job())).installation())
        connection.execute("INSERT INTO jobs (status, code) VALUES ('todo', 'a'), ('todo', 'b')")
        yield f"{postgresql}&options=-csearch_path%3Dchecked"
        connection.execute("DROP SCHEMA checked CASCADE")


def execute(address: Path | str, sql: str) -> None:
    if isinstance(address, Path):
        with apsw.Connection(str(address)) as connection:
            connection.execute(sql)
    else:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(sql)


def check(address: Path | str, lifecycle: Lifecycle | None = None) -> GuardCheck:
    return check_guard_of(address, lifecycle or guarded_job())


def names(checked: GuardCheck) -> list[str]:
    return [trial.name for trial in checked.leaks]


def test_a_guard_of_sqlite_holds_in_every_pair_and_every_way_of_writing(database: Path) -> None:
    before = database.read_bytes()
    checked = check(database)
    assert checked.holds, [str(trial) for trial in checked.trials if not trial.is_right]
    tried = {trial.name for trial in checked.trials}
    assert {
        "created -> done by a plain statement",
        "created -> done by OR IGNORE",
        "done -> todo by UPSERT",
        "done -> todo by OR IGNORE",
        "done -> todo by REPLACE",
        "todo -> removed by REPLACE through (code)",
        "INSERT OR IGNORE as done in todo",
        "ON CONFLICT DO NOTHING as done in todo",
        "an update of another column in done",
        "todo -> todo by a plain statement",
    } <= tried
    assert database.read_bytes() == before


def test_a_guard_of_postgresql_holds_and_its_check_leaves_neither_rows_nor_a_number_taken(server: str) -> None:
    checked = check(server)
    assert checked.holds, [str(trial) for trial in checked.trials if not trial.is_right]
    tried = {trial.name for trial in checked.trials}
    assert {
        "created -> done by UPSERT",
        "done -> todo by a statement in replica mode",
        "todo -> removed by TRUNCATE",
        "todo -> todo by a plain statement",
    } <= tried
    with psycopg.connect(server) as connection:
        assert connection.execute("SELECT id, status, code FROM jobs ORDER BY id").fetchall() == [
            (1, "todo", "a"),
            (2, "todo", "b"),
        ]
        assert connection.execute("SELECT last_value FROM jobs_id_seq").fetchone() == (2,)


@pytest.mark.parametrize("trigger", SQLITE_TRIGGERS)
def test_each_trigger_of_sqlite_s_guard_that_is_left_out_is_found(database: Path, trigger: str) -> None:
    execute(database, f"DROP TRIGGER arrowproof_guard_{trigger}_jobs")
    checked = check(database)
    assert not checked.holds
    assert checked.leaks


@pytest.mark.parametrize("trigger", POSTGRESQL_TRIGGERS)
def test_each_trigger_of_postgresql_s_guard_that_is_left_out_is_found(server: str, trigger: str) -> None:
    execute(server, f"DROP TRIGGER arrowproof_guard_{trigger} ON jobs")
    checked = check(server)
    assert not checked.holds
    assert checked.leaks


@pytest.mark.parametrize("trigger", ["insert", "update", "delete", "named"])
def test_a_trigger_that_does_not_fire_in_replica_mode_is_a_leak(server: str, trigger: str) -> None:
    execute(server, f"ALTER TABLE jobs ENABLE TRIGGER arrowproof_guard_{trigger}")
    checked = check(server)
    assert checked.leaks
    assert all(name.endswith("replica mode") for name in names(checked))


def test_a_unique_index_that_came_after_the_guard_is_a_leak(database: Path) -> None:
    execute(database, "CREATE UNIQUE INDEX later ON jobs (attempts)")
    assert names(check(database)) == [
        f"{state} -> removed by {way} through (attempts)"
        for state in ("todo", "doing")
        for way in ("REPLACE", "UPDATE OR REPLACE")
    ]


def test_an_update_trigger_that_waits_for_some_columns_leaks_through_another_index(database: Path) -> None:
    with apsw.Connection(str(database)) as connection:
        found = "SELECT sql FROM sqlite_schema WHERE name = 'arrowproof_guard_update_jobs'"
        trigger = str(connection.execute(found).fetchone()[0])
    narrowed = trigger.replace("AFTER UPDATE ON", "AFTER UPDATE OF id, status ON")
    assert narrowed != trigger
    execute(database, f"DROP TRIGGER arrowproof_guard_update_jobs; {narrowed}")
    leaks = names(check(database))
    assert leaks
    assert all(" by UPDATE OR REPLACE through (" in name for name in leaks)


@pytest.mark.parametrize("engine", ["database", "server"])
def test_a_guard_of_another_model_leaks_and_refuses_too_much(request: pytest.FixtureRequest, engine: str) -> None:
    job = guarded_job()
    other = replace(job, arrows=(*job.arrows[:3], Arrow("end", "doing", "todo"), Arrow("skip", "todo", "done")))
    checked = check(request.getfixturevalue(engine), other)
    assert "doing -> done by a plain statement" in names(checked)
    assert "todo -> done by a plain statement" in [trial.name for trial in checked.wrongly_refused]
    assert not checked.holds


def test_a_table_without_a_guard_refuses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    execute(path, JOBS)
    checked = check(path)
    assert checked.as_evidence().refused == 0
    assert not checked.holds


def test_what_another_constraint_prevents_is_not_credited_to_a_guard(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    execute(path, JOBS.replace("status TEXT", "status TEXT CHECK (status IN ('todo', 'doing', 'done') AND id < 0)"))
    checked = check(path)
    assert checked.as_evidence().refused == 0
    assert "CHECK constraint failed" in str(checked.untried[0])


def test_a_guard_that_skips_a_row_without_a_word_refuses_too(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    execute(path, JOBS)
    skip = "CREATE TRIGGER skip BEFORE UPDATE ON jobs WHEN OLD.status = 'done' BEGIN SELECT RAISE(IGNORE); END"
    execute(path, skip)
    refusals = [trial.name for trial in check(path).trials if trial.answer.said == "the statement changed nothing"]
    assert "done -> todo by a plain statement" in refusals


def test_a_sneak_path_that_the_owner_accepts_is_not_tried(database: Path) -> None:
    lenient = replace(guarded_job(), accepted_sneak_paths=(AcceptedSneakPath("done", "todo", "by hand"),))
    checked = check(database, lenient)
    assert checked.holds
    assert not [trial for trial in checked.trials if trial.name.startswith("done -> todo")]


def test_rows_are_made_by_the_example_of_the_rows_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    execute(
        path, f"{JOBS[:-1]}, made TEXT NOT NULL CHECK (made GLOB '20??-*'), CHECK (status <> 'done' OR attempts > 0))"
    )
    execute(path, "INSERT INTO jobs VALUES (1, 'todo', 0, 'a', '2026-01-01'), (3, 'done', 2, 'c', '2026-01-01')")
    connection = apsw.Connection(str(path))
    connection.execute(GuardScript(sqlite_guard(connection, allowed_job())).installation())
    connection.close()
    checked = check(path)
    assert checked.holds, [str(trial) for trial in checked.trials if not trial.is_right]


def test_a_guard_that_forbids_only_what_it_lists_lets_values_of_no_state_in(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    forbids = "WHEN OLD.status = 'done' AND NEW.status IN ('todo', 'doing') BEGIN SELECT RAISE(ABORT, 'no'); END"
    execute(path, f"{JOBS}; CREATE TRIGGER strict AFTER UPDATE ON jobs {forbids}")
    leaks = names(check(path))
    assert "done -> a value of no state by a plain statement" in leaks
    assert "done -> NULL, which is no state by REPLACE" in leaks
    assert "done -> todo by a plain statement" not in leaks


@pytest.mark.parametrize("is_server", [False, True])
def test_a_state_that_the_database_computes_is_tried_by_the_rows_that_are_there(
    tmp_path: Path, postgresql: str, is_server: bool
) -> None:
    jobs = "CREATE TABLE jobs (id int PRIMARY KEY, raw text, status text GENERATED ALWAYS AS (lower(raw)) STORED)"
    lifecycle = guarded_job(Binding("jobs", ("id",), "status"))
    lifecycle = replace(lifecycle, arrows=tuple(each for each in lifecycle.arrows if each.id != "retry"))
    rows = "INSERT INTO jobs (id, raw) VALUES (1, 'TODO'), (2, 'Doing'), (3, 'done')"
    if is_server:
        address: Path | str = f"{postgresql}&options=-csearch_path%3Dcomputed"
        guard = GuardScript(PostgreSQLGuard(read_allowed(lifecycle))).installation()
        execute(address, f"DROP SCHEMA IF EXISTS computed CASCADE; CREATE SCHEMA computed; {jobs}; {rows}; {guard}")
    else:
        address = tmp_path / "service.sqlite3"
        with apsw.Connection(str(address)) as connection:
            connection.execute(f"{jobs}; {rows}")
        connection = apsw.Connection(str(address))
        connection.execute(GuardScript(sqlite_guard(connection, read_allowed(lifecycle))).installation())
        connection.close()
    checked = check(address, lifecycle)
    assert checked.holds, [str(trial) for trial in checked.trials if not trial.is_right]
    assert "done -> todo by a plain statement" in {trial.name for trial in checked.trials}


def test_a_key_that_may_be_changed_unseen_is_a_leak(database: Path) -> None:
    with apsw.Connection(str(database)) as connection:
        found = "SELECT sql FROM sqlite_schema WHERE name = 'arrowproof_guard_update_jobs'"
        trigger = str(connection.execute(found).fetchone()[0])
    narrowed = trigger.replace("AFTER UPDATE ON", "AFTER UPDATE OF status, attempts, code ON")
    assert narrowed != trigger
    execute(database, f"DROP TRIGGER arrowproof_guard_update_jobs; {narrowed}")
    assert names(check(database)) == [f"{state} -> removed by an update of the key" for state in ("todo", "doing")]


def test_a_child_that_came_after_the_guard_is_told(server: str) -> None:
    execute(server, "CREATE TABLE kid () INHERITS (jobs); INSERT INTO kid (id, status) VALUES (9, 'done')")
    checked = check(server)
    assert not checked.holds
    assert [trial.name for trial in checked.untried] == ["a row of kid, which inherits from the table"]


@pytest.mark.parametrize("sign", ["IS", "IS NOT"])
def test_a_guard_that_looks_whether_the_watched_column_changes_leaks_where_it_does_not_refuse(
    tmp_path: Path, sign: str
) -> None:
    path = tmp_path / "service.sqlite3"
    condition = f"OLD.status = 'done' AND NEW.status IS NOT 'done' AND OLD.attempts {sign} NEW.attempts"
    execute(path, f"{JOBS}; CREATE TRIGGER it AFTER UPDATE ON jobs WHEN {condition} BEGIN SELECT RAISE(ABORT, ''); END")
    leaks = names(check(path))
    assert ("done -> todo by an update of the state alone" in leaks) == (sign == "IS NOT")
    assert ("done -> todo by an update of the state and what is watched" in leaks) == (sign == "IS")


@pytest.mark.parametrize(
    ("verb", "when", "holds"), [("FAIL", "AFTER", False), ("ROLLBACK", "AFTER", True), ("FAIL", "BEFORE", True)]
)
def test_a_refusal_is_one_when_nothing_of_the_change_stands(tmp_path: Path, verb: str, when: str, holds: bool) -> None:
    path = tmp_path / "service.sqlite3"
    trigger = f"CREATE TRIGGER it {when} UPDATE ON jobs WHEN OLD.status = 'done' AND NEW.status IS NOT 'done'"
    execute(path, f"{JOBS}; {trigger} BEGIN SELECT RAISE({verb}, 'no'); END")
    trials = [each for each in check(path).trials if each.name.startswith("done -> todo by a")]
    assert [trial.is_right for trial in trials] == [holds] * 3
    assert holds or "RAISE(FAIL) lets what is changed stand: no" in str(trials[0])


def test_a_trigger_that_leaves_the_row_alone_refuses_a_self_transition_too(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    execute(
        path,
        f"{JOBS}; CREATE TRIGGER it BEFORE UPDATE ON jobs WHEN OLD.status = 'done' BEGIN SELECT RAISE(IGNORE); END",
    )
    assert "done -> done by a plain statement" not in names(check(path))
    assert "todo -> todo by a plain statement" in names(check(path))


def test_rows_that_the_guard_has_not_followed_are_told(database: Path) -> None:
    execute(database, "INSERT INTO jobs (id, status) VALUES (1, 'todo'), (2, 'todo')")
    assert check(database).holds
    execute(database, "DELETE FROM arrowproof_guard_jobs WHERE key_0 = 2")
    execute(database, "REPLACE INTO jobs (id, status, attempts) VALUES (2, 'todo', 7)")
    assert check(database).holds, "it knows the row again"
    execute(database, "UPDATE arrowproof_guard_jobs SET state = 'done' WHERE key_0 = 1")
    assert [trial.name for trial in check(database).untried] == ["REPLACE of 1 rows"]


@pytest.mark.parametrize("kind", ["inet", "time", "mood", "jsonb", "int[]", "bit(4)", "oid"])
def test_a_key_of_any_type_of_postgresql_has_values_to_try(postgresql: str, kind: str) -> None:
    address = f"{postgresql}&options=-csearch_path%3Dkeyed"
    execute(address, "DROP SCHEMA IF EXISTS keyed CASCADE; CREATE SCHEMA keyed; CREATE TYPE mood AS ENUM ('a', 'b')")
    execute(address, f"CREATE TABLE jobs (id {kind} PRIMARY KEY, status text, attempts int, code {kind} UNIQUE)")
    execute(address, GuardScript(PostgreSQLGuard(allowed_job())).installation())
    checked = check(address)
    assert checked.holds, [str(trial) for trial in checked.trials if not trial.is_right]


@pytest.mark.parametrize(
    ("column", "index"),
    [
        ("number int GENERATED ALWAYS AS IDENTITY", ""),
        ("note int UNIQUE REFERENCES notes", ""),
        ("note int NOT NULL REFERENCES notes ON DELETE CASCADE", ""),
        ("note text DEFAULT 'same'", "CREATE UNIQUE INDEX ON jobs (lower(note), (attempts IS NULL))"),
    ],
)
@pytest.mark.parametrize("rows", ["", "INSERT INTO jobs (id, status) SELECT n, 'todo' FROM notes"])
def test_rows_are_made_whatever_else_a_table_of_postgresql_asks_of_them(
    postgresql: str, column: str, index: str, rows: str
) -> None:
    address = f"{postgresql}&options=-csearch_path%3Dasking"
    execute(
        address, "DROP SCHEMA IF EXISTS asking CASCADE; CREATE SCHEMA asking; CREATE TABLE notes (n int PRIMARY KEY)"
    )
    execute(address, f"CREATE TABLE jobs (id int PRIMARY KEY, status text, attempts int, {column}); {index}")
    if "NOT NULL" not in column:
        execute(address, f"INSERT INTO notes VALUES (1); {rows}")
    execute(address, GuardScript(PostgreSQLGuard(allowed_job())).installation())
    checked = check(address)
    assert checked.holds, [str(trial) for trial in checked.trials if not trial.is_right]
    with psycopg.connect(address) as connection:
        query = "SELECT count(*) FROM pg_constraint WHERE conrelid = 'jobs'::regclass AND contype = 'f'"
        assert connection.execute(query).fetchone() == (int("REFERENCES" in column),)


def test_a_key_of_which_no_value_is_known_is_named_and_a_proof_goes_on(postgresql: str) -> None:
    address = f"{postgresql}&options=-csearch_path%3Dkeyed"
    execute(address, "DROP SCHEMA IF EXISTS keyed CASCADE; CREATE SCHEMA keyed; CREATE TYPE pair AS (a int, b int)")
    execute(address, "CREATE TABLE jobs (id pair PRIMARY KEY, status text, attempts int)")
    execute(address, GuardScript(PostgreSQLGuard(allowed_job())).installation())
    with pytest.raises(InputError, match="the key column 'id' is of the type pair, of which the check can make no"):
        check(address)
    credited = check_service_guard(address, guarded_job())
    assert credited is not None
    assert not credited.holds
    assert "is of the type pair" in str(credited.untried[0])
