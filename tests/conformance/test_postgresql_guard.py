"""The rules by which PostgreSQL's guard holds, one by one; test_guard_property tries them all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import psycopg
import pytest

from arrowproof.conformance.guard import Allowed, read_allowed
from arrowproof.conformance.guard_script import GuardScript
from arrowproof.conformance.postgresql_binding import check_postgresql_binding
from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Arrow, Binding, Kind, State
from tests.conformance.guards import BINDING, allowed_job, guarded_job
from tests.service.waiting import wait_until

JOBS = "CREATE TABLE jobs (id integer PRIMARY KEY, status text, attempts integer DEFAULT 0, code text UNIQUE)"
ROWS = ("(1, 'todo', 0, 'a')", "(2, 'doing', 0, 'b')", "(3, 'done', 0, 'c')")

Connection = psycopg.Connection[tuple[object, ...]]
Guarded = Callable[..., Connection]


@pytest.fixture
def guarded(connection: Connection) -> Guarded:
    """Makes the table with these rows, and then its guard."""

    def make(ddl: str = JOBS, rows: Sequence[str] = ROWS, allowed: Allowed | None = None) -> Connection:
        connection.execute(ddl)
        for row in rows:
            connection.execute(f"INSERT INTO jobs VALUES {row}")
        connection.execute(script(allowed).installation())
        return connection

    return make


@pytest.fixture
def connection(postgresql: str) -> Iterator[Connection]:
    """A session in a schema that is new."""
    with psycopg.connect(postgresql, autocommit=True, prepare_threshold=None) as connection:
        connection.execute("DROP SCHEMA IF EXISTS guarded CASCADE")
        connection.execute("CREATE SCHEMA guarded")
        connection.execute("SET search_path TO guarded")
        yield connection
        connection.execute("ROLLBACK; DROP SCHEMA guarded CASCADE")


def script(allowed: Allowed | None = None) -> GuardScript:
    return GuardScript(PostgreSQLGuard(allowed or allowed_job()))


def refused(connection: Connection, sql: str) -> str | None:
    """What the guard says against a statement, None when the database takes it."""
    try:
        connection.execute(sql)
    except psycopg.errors.CheckViolation as error:
        return error.diag.message_primary
    return None


def states(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT id, status FROM jobs ORDER BY id").fetchall()


def objects(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute(
        "SELECT 'trigger', tgname::text, pg_get_triggerdef(oid), tgenabled FROM pg_trigger"
        " WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'guarded'::regnamespace)"
        " UNION ALL SELECT 'function', proname, prosrc, 'O' FROM pg_proc WHERE pronamespace = 'guarded'::regnamespace"
        " ORDER BY 1, 2"
    ).fetchall()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE jobs SET status = 'todo' WHERE id = 3", "jobs id=3: 'done' -> 'todo'"),
        ("UPDATE jobs SET status = NULL WHERE id = 2", "jobs id=2: 'doing' -> NULL"),
        ("INSERT INTO jobs VALUES (4, 'done', 0, 'd')", "jobs id=4: created -> 'done'"),
        ("DELETE FROM jobs WHERE id = 1", "jobs id=1: 'todo' -> removed"),
        ("TRUNCATE jobs", "jobs id=1: 'todo' -> removed"),
        ("UPDATE jobs SET id = 8 WHERE id = 1", "jobs id=1: 'todo' -> removed"),
        ("UPDATE jobs SET id = 8 WHERE id = 3", "jobs id=8: created -> 'done'"),
        ("UPDATE jobs SET status = 'todo', attempts = 7 WHERE id = 1", "jobs id=1: 'todo' -> 'todo'"),
        (
            "INSERT INTO jobs VALUES (1, 'done') ON CONFLICT (id) DO UPDATE SET status = 'done'",
            "jobs id=1: 'todo' -> 'done'",
        ),
    ],
)
def test_a_refusal_names_the_row_and_both_ends(guarded: Guarded, sql: str, said: str) -> None:
    connection = guarded()
    assert refused(connection, sql) == f"{said} is not in the lifecycle job"
    assert states(connection) == [(1, "todo"), (2, "doing"), (3, "done")]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE jobs SET attempts = attempts + 1",
        "UPDATE jobs SET status = 'todo' WHERE id = 1",
        "UPDATE jobs SET status = 'doing', attempts = 7 WHERE id = 2",
        "INSERT INTO jobs VALUES (1, 'done') ON CONFLICT DO NOTHING",
        "INSERT INTO jobs VALUES (1, 'done') ON CONFLICT (id) DO UPDATE SET status = 'doing'",
        "DELETE FROM jobs WHERE id = 3",
        "TRUNCATE jobs",
    ],
)
def test_what_the_model_has_passes_and_so_does_a_touch(guarded: Guarded, sql: str) -> None:
    connection = guarded(rows=ROWS[2:] if "TRUNCATE" in sql else ROWS)
    assert refused(connection, sql) is None


def test_it_stands_in_replica_mode(guarded: Guarded) -> None:
    connection = guarded()
    connection.execute("SET session_replication_role = replica")
    for sql in ("UPDATE jobs SET status = 'done' WHERE id = 1", "DELETE FROM jobs", "TRUNCATE jobs"):
        assert refused(connection, sql) is not None
    assert refused(connection, "INSERT INTO jobs VALUES (4, 'done', 0, 'd')") is not None
    assert refused(connection, "UPDATE jobs SET status = 'todo', attempts = 7 WHERE id = 1") is not None


def test_operators_and_types_that_a_session_puts_in_front_change_nothing(guarded: Guarded) -> None:
    connection = guarded()
    connection.execute("CREATE FUNCTION pg_temp.always(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    connection.execute("CREATE OPERATOR guarded.= (FUNCTION = pg_temp.always, LEFTARG = text, RIGHTARG = text)")
    connection.execute("CREATE DOMAIN pg_temp.text AS integer")
    connection.execute("SET search_path TO guarded, pg_catalog")
    said = refused(connection, "UPDATE jobs SET status = 'todo' WHERE id = 3")
    assert said == "jobs id=3: 'done' -> 'todo' is not in the lifecycle job"
    connection.execute("DISCARD TEMP; SET search_path TO guarded")


def test_keys_are_compared_as_the_journal_does_whatever_their_equal_sign_says(guarded: Guarded) -> None:
    connection = guarded("CREATE TABLE jobs (id varchar(9) PRIMARY KEY, status text, attempts int, code text)")
    never = "CREATE FUNCTION never(varchar, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    connection.execute(f"{never}; CREATE OPERATOR = (FUNCTION = never, LEFTARG = varchar, RIGHTARG = varchar)")
    connection.execute(script().installation())
    assert refused(connection, "UPDATE jobs SET id = '9' WHERE id LIKE '1'") == (
        "jobs id=1: 'todo' -> removed is not in the lifecycle job"
    )


def test_a_change_that_a_later_trigger_slips_in_is_seen(guarded: Guarded) -> None:
    connection = guarded()
    connection.execute(
        "CREATE FUNCTION slip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.status := 'done'; RETURN NEW; END $$"
    )
    connection.execute("CREATE TRIGGER zzz BEFORE INSERT OR UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION slip()")
    said = refused(connection, "UPDATE jobs SET attempts = 3 WHERE id = 1")
    assert said == "jobs id=1: 'todo' -> 'done' is not in the lifecycle job"
    assert refused(connection, "INSERT INTO jobs VALUES (4, 'todo')") is not None


def test_a_row_is_judged_as_it_was_found_behind_the_lock_of_another_session(guarded: Guarded, postgresql: str) -> None:
    first = guarded()
    with psycopg.connect(postgresql, autocommit=True, options="-csearch_path=guarded") as second:
        first.execute("BEGIN")
        first.execute("UPDATE jobs SET status = 'done' WHERE id = 2")
        waiting = psycopg.connect(postgresql, autocommit=True)
        with waiting, second.pipeline():
            late = second.execute("UPDATE jobs SET status = 'doing' WHERE id = 2")
            blocked = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = %s"
            wait_until(lambda: waiting.execute(blocked, (second.info.backend_pid,)).fetchone(), "the wait for a lock")
            first.execute("COMMIT")
            with pytest.raises(psycopg.errors.CheckViolation, match="'done' -> 'doing' is not in the lifecycle"):
                late.fetchall()


def test_truncate_is_refused_in_a_transaction_with_one_snapshot_which_cannot_see_every_row(guarded: Guarded) -> None:
    connection = guarded(rows=ROWS[2:])
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    said = refused(connection, "TRUNCATE jobs")
    assert said is not None
    assert "not READ COMMITTED" in said
    connection.execute("ROLLBACK")


def test_truncate_passes_anywhere_where_every_state_may_be_removed(guarded: Guarded) -> None:
    purged = [Arrow(f"purge {state}", state, None) for state in ("todo", "doing")]
    job = guarded_job()
    connection = guarded(allowed=read_allowed(replace(job, arrows=(*job.arrows, *purged))))
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert refused(connection, "TRUNCATE jobs") is None
    connection.execute("ROLLBACK")


def test_truncate_by_another_role_sees_the_rows_that_a_policy_hides_from_it(guarded: Guarded) -> None:
    connection = guarded()
    connection.execute("ALTER TABLE jobs ENABLE ROW LEVEL SECURITY")
    connection.execute("DROP ROLE IF EXISTS cleaner")
    connection.execute("CREATE ROLE cleaner")
    connection.execute("GRANT USAGE ON SCHEMA guarded TO cleaner")
    connection.execute("GRANT TRUNCATE ON jobs TO cleaner")
    try:
        connection.execute("SET ROLE cleaner")
        assert refused(connection, "TRUNCATE jobs") == "jobs id=1: 'todo' -> removed is not in the lifecycle job"
    finally:
        connection.execute("RESET ROLE")
        connection.execute("DROP OWNED BY cleaner")
        connection.execute("DROP ROLE cleaner")


@pytest.mark.parametrize("kind", ["job_status", "varchar(20)", "char(8)"])
def test_an_enum_and_the_other_types_of_text_are_states(guarded: Guarded, kind: str) -> None:
    enum = "CREATE TYPE job_status AS ENUM ('todo', 'doing', 'done');"
    connection = guarded(enum + JOBS.replace("status text", f"status {kind}"))
    assert refused(connection, "UPDATE jobs SET status = 'doing' WHERE id = 1") is None
    assert refused(connection, "UPDATE jobs SET status = 'todo' WHERE id = 2") is not None


def test_states_may_be_numbers_and_null(guarded: Guarded) -> None:
    values = {"todo": None, "doing": 1, "done": -2}
    job = replace(guarded_job(), states=tuple(State(each, Kind.ACTIVE, each, values[each]) for each in values))
    rows = ("(1, NULL)", "(2, 1)", "(3, -2)")
    connection = guarded(JOBS.replace("status text", "status integer"), rows, read_allowed(job))
    assert refused(connection, "UPDATE jobs SET status = 1 WHERE id = 1") is None
    assert refused(connection, "UPDATE jobs SET status = NULL WHERE id = 2") == (
        "jobs id=2: '1' -> NULL is not in the lifecycle job"
    )
    assert refused(connection, "INSERT INTO jobs VALUES (4, 0)") is not None


def test_a_derived_state_is_guarded(guarded: Guarded) -> None:
    derived = Binding("jobs", ("id",), state_sql="CASE WHEN code IS NULL THEN 'todo' ELSE jobs.status END -- now")
    connection = guarded(rows=("(1, 'done', 0, NULL)",), allowed=allowed_job(derived))
    said = refused(connection, "UPDATE jobs SET code = 'x'")
    assert said == "jobs id=1: 'todo' -> 'done' is not in the lifecycle job"
    assert refused(connection, "UPDATE jobs SET code = 'x', status = 'doing'") is None
    assert refused(connection, "TRUNCATE jobs") == "jobs id=1: 'doing' -> removed is not in the lifecycle job"


def test_a_table_with_a_long_name_of_any_characters_is_guarded(connection: Connection) -> None:
    table = 'Ordered "jobs" of the café\'s $guard$ 100% back\\slash, and long'
    quoted = '"' + table.replace('"', '""') + '"'
    connection.execute(JOBS.replace("jobs", quoted))
    made = script(allowed_job(replace(BINDING, table=table)))
    connection.execute(made.installation())
    said = refused(connection, f"INSERT INTO {quoted} VALUES (4, 'done')")
    assert said == f"{table} id=4: created -> 'done' is not in the lifecycle job"
    connection.execute(made.removal())
    assert objects(connection) == []


def test_it_is_installed_twice_with_the_same_result_and_removed_without_a_trace(guarded: Guarded) -> None:
    connection = guarded()
    once = objects(connection)
    connection.execute(script().installation())
    assert objects(connection) == once
    connection.execute(script().removal())
    assert objects(connection) == []
    connection.execute(script().removal())


@pytest.mark.parametrize(
    ("ddl", "said"),
    [
        (f"{JOBS}; INSERT INTO jobs VALUES (5, 'lost')", "jobs id=5: 'lost' is no state of the lifecycle job"),
        ("CREATE TABLE jobs (id int, status text, attempts int) PARTITION BY LIST (status)", "has partitions"),
        (f"{JOBS}; CREATE TABLE more () INHERITS (jobs)", "has partitions or children"),
    ],
)
def test_it_is_not_installed_where_it_could_not_hold(connection: Connection, ddl: str, said: str) -> None:
    connection.execute(ddl)
    assert said in (refused(connection, script().installation()) or "")
    connection.execute("ROLLBACK")
    assert objects(connection) == []


@pytest.mark.parametrize(
    "binding", [BINDING, replace(BINDING, state=None, state_sql="CASE WHEN jobs.Status <> '' THEN status END")]
)
def test_a_column_that_has_no_value_in_a_trigger_is_refused_where_there_are_such(
    connection: Connection, binding: Binding
) -> None:
    if connection.info.server_version < 180000:
        pytest.skip("PostgreSQL has VIRTUAL columns from version 18 on")
    status = "status text GENERATED ALWAYS AS (lower(raw)) VIRTUAL"
    connection.execute(f"CREATE TABLE jobs (id int PRIMARY KEY, raw text, {status}, attempts int)")
    said = refused(connection, script(allowed_job(binding)).installation()) or ""
    assert said.startswith("jobs status: is computed when it is read")
    connection.execute("ROLLBACK")
    with pytest.raises(InputError, match=r"computes 'status' when it is read \(VIRTUAL\)"):
        check_postgresql_binding(connection, binding)


def test_states_that_are_one_as_text_are_an_error() -> None:
    job = guarded_job()
    twins = (State("todo", Kind.ACTIVE, "todo", "1"), State("doing", Kind.ACTIVE, "doing", 1), job.states[2])
    with pytest.raises(InputError, match="'1', as text and as number"):
        script(read_allowed(replace(job, states=twins))).installation()
