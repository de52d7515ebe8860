"""What is PostgreSQL's alone: the checks before a database is used, moments, and connections that are lost."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from datetime import datetime

import psycopg
import pytest

from arrowproof.service.address import Address
from arrowproof.service.database import SCHEMA_VERSION, BusyError, ConnectionLostError, DatabaseError
from arrowproof.service.notes import SentUnderKey, accept_note, find_job, find_note
from arrowproof.service.postgresql_session import postgres_statements
from arrowproof.service.refusal import RefusedError
from tests.service.conftest import wait_until
from tests.service.engines import only_postgresql, open_engine

pytestmark = only_postgresql
NOW = "2026-11-29T15:09:02.118Z"
NOTE = {"client": "", "idempotency_key": "k", "text": "t", "text_sha256": "s", "now": NOW}


def tables(engine):
    return engine.sql("SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY 1")


@pytest.fixture
def insert(database):
    """Puts a job into the database with a text for a moment; its id."""

    def insert(moment=NOW):
        database.begin()
        ((note_id,),) = database.rows("insert_note", **{**NOTE, "now": moment})
        ((job_id,),) = database.rows("insert_job", note_id=note_id, max_attempts=3, now=moment)
        database.commit()
        return job_id

    return insert


def test_the_server_makes_the_tables_once_and_the_worker_makes_none(engine):
    with pytest.raises(RefusedError, match="is no database of the notes service; start the server on it first"):
        open_engine(engine)
    assert tables(engine) == []
    open_engine(engine, create=True).close()
    made = tables(engine)
    assert ("jobs",) in made
    open_engine(engine, create=True).close()
    open_engine(engine).close()
    assert tables(engine) == made


def test_servers_that_start_at_once_make_the_tables_once(engine):
    with ThreadPoolExecutor(6) as threads:
        opened = list(threads.map(lambda _: open_engine(engine, create=True), range(6)))
    for database in opened:
        database.close()
    assert engine.sql("SELECT schema_version FROM notes_service") == [(SCHEMA_VERSION,)]


@pytest.mark.parametrize("create", [True, False], ids=["server", "worker"])
def test_tables_of_another_version_are_refused_and_left_as_they_are(engine, create):
    open_engine(engine, create=True).close()
    engine.sql("UPDATE notes_service SET schema_version = 1")
    before = tables(engine)
    with pytest.raises(RefusedError, match="has schema version 1, and this service works with version 4 only"):
        open_engine(engine, create=create)
    assert tables(engine) == before


def test_tables_of_something_else_are_refused_and_left_as_they_are(engine):
    engine.sql("CREATE TABLE jobs (id integer)")
    before = tables(engine)
    with pytest.raises(RefusedError, match=r"holds tables of something else \(jobs\)"):
        open_engine(engine, create=True)
    assert tables(engine) == before


def test_what_someone_added_is_no_reason_to_refuse(engine):
    open_engine(engine, create=True).close()
    engine.sql("CREATE TABLE journal (old text, new text)")
    engine.sql("CREATE INDEX added ON jobs (last_error)")
    engine.sql("CREATE VIEW failures AS SELECT * FROM jobs WHERE status = 'failed'")
    open_engine(engine, create=True).close()
    open_engine(engine).close()


def test_a_database_that_takes_no_writes_is_refused(engine):
    open_engine(engine, create=True).close()
    reader = Address(engine.db + "%20-cdefault_transaction_read_only%3Don")
    with pytest.raises(RefusedError, match="takes no writes"):
        reader.open()


def test_a_database_that_cannot_hold_every_text_is_refused(engine):
    with engine.administrator() as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        try:
            with pytest.raises(RefusedError, match="holds text as LATIN1"):
                Address(engine.address(dbname="latin")).open(create=True)
        finally:
            connection.execute("DROP DATABASE latin")


def test_the_client_s_own_encoding_does_not_matter(engine, monkeypatch):
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with closing(open_engine(engine, create=True)) as database:
        database.begin()
        database.rows("insert_note", **{**NOTE, "text": "日本語 🐦"})
        database.rows("insert_job", note_id=1, max_attempts=3, now=NOW)
        database.commit()
        assert find_note(database, 1).text == "日本語 🐦"


@pytest.fixture
def role(engine):
    """A role with odd habits and a password, that may use the schema."""
    with engine.administrator() as connection:
        connection.execute("CREATE ROLE odd LOGIN PASSWORD 'sesame-7331'")
        for setting in (
            "TimeZone = 'Asia/Kathmandu'",
            "DateStyle = 'SQL, DMY'",
            "IntervalStyle = 'iso_8601'",
            "extra_float_digits = 0",
            "default_transaction_isolation = 'serializable'",
            "lock_timeout = '1h'",
            "bytea_output = 'escape'",
        ):
            connection.execute(f"ALTER ROLE odd SET {setting}")
        connection.execute(f"GRANT ALL ON SCHEMA {engine.schema} TO odd")
        yield "odd"
        connection.execute("DROP OWNED BY odd CASCADE")
        connection.execute("DROP ROLE odd")


def test_a_moment_has_the_same_text_whatever_habits_the_role_has(engine, role, hold):
    with closing(Address(engine.address(user=role), 0.5).open(create=True)) as database:
        clock_text = database.row("read_clock")[0]
        assert clock_text.endswith("Z")
        assert len(clock_text) == len(NOW)
        accept_note(database, SentUnderKey("k", "t"), 3, lambda _: datetime.fromisoformat(NOW), hold)
        assert find_job(database, 1).next_run_at == NOW
        # Its own patience with locks does not count either: a request is answered in time.
        database.begin()
        with engine.busy(), pytest.raises(BusyError):
            database.rows("claim_due_jobs", now=NOW, most=1)


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("2026-11-29 15:09:02.118999+00", "2026-11-29T15:09:02.118Z"),
        ("2026-11-29 15:09:02.1+00", "2026-11-29T15:09:02.100Z"),
        ("2026-11-29 20:54:02+05:45", "2026-11-29T15:09:02.000Z"),
        ("2026-12-31 23:59:59.9999+00", "2026-12-31T23:59:59.999Z"),
        ("0001-01-01 00:00:00+00", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31 23:59:59.999999+00", "9999-12-31T23:59:59.999Z"),
        ("infinity", "infinity"),
        ("-infinity", "-infinity"),
        ("12026-11-29 15:09:02+00", "12026-11-29 15:09:02+00"),
        ("0044-03-15 12:00:00+00 BC", "0044-03-15 12:00:00+00 BC"),
    ],
)
def test_a_moment_is_read_with_milliseconds_and_what_rfc_3339_cannot_say_as_it_is(
    engine, database, insert, stored, read
):
    job_id = insert()
    engine.sql("UPDATE jobs SET next_run_at = %s::timestamptz", (stored,))
    assert find_job(database, job_id).next_run_at == read


def test_a_job_that_is_due_never_is_not_claimed_and_one_due_since_ever_is(engine, database, insert):
    job_id = insert()
    engine.sql("UPDATE jobs SET next_run_at = 'infinity'")
    database.begin()
    assert database.rows("claim_due_jobs", now="9999-12-31T23:59:59.999Z", most=1) == []
    database.roll_back()
    engine.sql("UPDATE jobs SET next_run_at = '-infinity'")
    database.begin()
    assert database.rows("claim_due_jobs", now="0001-01-01T00:00:00.000Z", most=1)[0][:3] == (job_id, 0, 3)
    database.roll_back()


def test_a_claim_without_a_moment_goes_by_the_server_s_clock_as_it_is_then_and_not_when_the_transaction_began(
    engine, database
):
    database.begin()
    database.settle()
    ((began,),) = database.rows("read_clock")
    wait_until(
        lambda: engine.sql("SELECT clock_timestamp() > %s::timestamptz + interval '2ms'", (began,))[0][0], "later"
    )
    with closing(open_engine(engine)) as other:
        ((now,),) = other.rows("read_clock")
        other.begin()
        ((note_id,),) = other.rows("insert_note", **{**NOTE, "now": now})
        ((job_id,),) = other.rows("insert_job", note_id=note_id, max_attempts=3, now=now)
        other.commit()
    ((claimed, *_, moment),) = database.rows("claim_due_jobs", now=None, most=1)
    assert claimed == job_id
    assert began < now <= moment
    database.roll_back()


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
def test_a_claim_without_a_moment_reads_no_job_that_is_not_due_yet(engine, plan):
    engine.sql(
        "INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at) "
        "SELECT '', n::text, '', '', now() FROM generate_series(1, 2000) AS n"
    )
    engine.sql(
        "INSERT INTO jobs (note_id, client, status, attempts, max_attempts, next_run_at) "
        "SELECT id, '', 'pending', 0, 3, now() + interval '1 day' FROM notes"
    )
    engine.sql("ANALYZE jobs")
    claim = postgres_statements()["claim_due_jobs"]
    assert claim.names == ("now", "most")
    with psycopg.connect(engine.db, autocommit=True) as connection:
        connection.execute(f"SET plan_cache_mode = {plan}")
        connection.execute(f"PREPARE claim AS {claim.text.decode()}")
        explained = connection.execute("EXPLAIN (ANALYZE) EXECUTE claim (NULL, 1)").fetchall()
    steps = "\n".join(step for (step,) in explained)
    assert "using jobs_waiting" in steps, steps
    assert "Removed by Filter" not in steps, steps


def test_a_commit_of_an_aborted_transaction_is_an_error(engine, database):
    database.begin()
    database.rows("insert_note", **NOTE)
    with pytest.raises(DatabaseError):
        database.rows("insert_job", note_id=-1, max_attempts=3, now=NOW)
    assert database.in_transaction
    with pytest.raises(DatabaseError, match="InFailedSqlTransaction: the transaction was aborted, and is rolled back"):
        database.commit()
    assert not database.in_transaction
    assert engine.sql("SELECT count(*) FROM notes") == [(0,)]


@pytest.mark.parametrize("look", ["rows", "begin"])
def test_a_connection_that_was_lost_while_nobody_looked_is_made_anew(engine, database, look):
    assert engine.end_backends() == 1
    if look == "rows":
        assert database.row("find_note", note_id=1) is None
    else:
        database.begin()
        database.rows("insert_note", **NOTE)
        database.commit()
        assert engine.sql("SELECT count(*) FROM notes") == [(1,)]


def test_one_that_is_lost_within_a_transaction_is_an_error_until_that_is_rolled_back(engine, database):
    database.begin()
    database.rows("insert_note", **NOTE)
    engine.end_backends()
    for _ in range(2):
        with pytest.raises(ConnectionLostError):
            database.rows("insert_note", **NOTE)
    with pytest.raises(ConnectionLostError):
        database.row("find_note", note_id=1)
    with pytest.raises(ConnectionLostError):
        database.commit()
    database.roll_back()
    assert database.row("find_note", note_id=1) is None


def change_type(engine, table, column):
    """What somebody may do at any time; no prepared statement that gives or takes the column fits any more."""
    engine.sql(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE varchar(100000)")


def test_a_column_whose_type_somebody_changes_is_read_on_a_new_connection(engine, database):
    for _ in range(10):
        database.row("find_note", note_id=1)
    before = database.connection
    change_type(engine, "notes", "text")
    assert database.row("find_note", note_id=1) is None
    assert before.closed


@pytest.mark.parametrize("ends", ["roll_back", "commit"])
def test_within_a_transaction_that_is_one_error_and_the_next_transaction_has_a_new_connection(engine, database, ends):
    for _ in range(10):
        database.row("find_note", note_id=1)
    change_type(engine, "notes", "text")
    database.begin()
    with pytest.raises(DatabaseError, match="FeatureNotSupported: cached plan"):
        database.row("find_note", note_id=1)
    with pytest.raises(DatabaseError, match="InFailedSqlTransaction") if ends == "commit" else nullcontext():
        getattr(database, ends)()
    database.begin()
    assert database.row("find_note", note_id=1) is None
    database.commit()


@pytest.mark.parametrize("whose", ["DEALLOCATE ALL", "DISCARD ALL"])
def test_prepared_statements_that_a_pooler_threw_away_are_made_again_on_a_new_connection(database, whose):
    for _ in range(10):
        database.row("find_note", note_id=1)
    # Past psycopg, which would take it as a sign to forget them too.
    database.connection.pgconn.exec_(whose.encode())
    assert database.row("find_note", note_id=1) is None


def test_a_server_and_a_resident_worker_go_on_when_somebody_changes_the_type_of_a_column(notes):
    server = notes.server("--connections", "1")
    worker = notes._start("worker", ["--db", notes.engine.db, "--forever", "--poll-interval", "0.05"])
    for number in range(10):
        accepted = server.accept(f"before-{number}")
        server.note(accepted["note_id"])
        job_id = accepted["job_id"]
        wait_until(lambda job_id=job_id: server.job(job_id)["status"] == "completed", "completion")
    change_type(notes.engine, "notes", "text")
    change_type(notes.engine, "jobs", "last_error")
    change_type(notes.engine, "notes", "idempotency_key")
    assert server.job(job_id)["status"] == "completed"
    assert server.note(accepted["note_id"])["text"] == "text"
    # Within a transaction the first may still meet the old connection.
    answers = [server.post("after", "text").status_code for _ in range(3)]
    assert answers[1:] == [202, 202], answers
    wait_until(lambda: server.job(job_id + 1)["status"] == "completed", "completion")
    assert worker.process.poll() is None


def test_a_client_that_says_nothing_within_a_transaction_is_given_up_by_the_server_after_a_while(
    engine, database, insert, monkeypatch
):
    asked = "SHOW idle_in_transaction_session_timeout"
    assert database.connection.execute(asked).fetchall() == [("1min",)]
    with closing(Address(f"{engine.db}%20-cidle_in_transaction_session_timeout%3D7s").open()) as opened:
        assert opened.connection.execute(asked).fetchall() == [("7s",)]
    job_id = insert()
    monkeypatch.setattr("arrowproof.service.postgresql_session.IDLE_SECONDS", 0.2)
    with closing(open_engine(engine)) as stopped:
        stopped.begin()
        assert stopped.rows("claim_due_jobs", now=NOW, most=1) == [(job_id, 0, 3, NOW)]
        database.begin()
        wait_until(lambda: database.rows("claim_due_jobs", now=NOW, most=1) == [(job_id, 0, 3, NOW)], "the job")
        database.roll_back()
        with pytest.raises(ConnectionLostError, match="idle-in-transaction timeout"):
            stopped.commit()
        stopped.roll_back()
        assert stopped.row("claim_lost_job", job_id=job_id) == ("pending", 0)


def test_a_server_that_answers_nothing_any_more_is_given_up(engine, database, insert, monkeypatch):
    job_id = insert()
    monkeypatch.setattr("arrowproof.service.postgresql_session.SILENCE_SECONDS", 0.9)
    with closing(Address(f"{engine.db}%20-cstatement_timeout%3D100ms").open()) as hasty:
        hasty.begin()
        assert hasty.row("find_note", note_id=1)
        with engine.silence("state = 'idle in transaction'"):
            with pytest.raises(ConnectionLostError, match="OperationalError: the server has not answered for 1 s"):
                hasty.row("find_note", note_id=1)
            hasty.roll_back()
            assert not hasty.in_transaction
            # On a new connection.
            assert hasty.row("claim_lost_job", job_id=job_id) == ("pending", 0)
    assert database.facts


def test_how_long_a_statement_may_take_is_bounded_by_the_service_unless_somebody_else_does(engine, database, role):
    asked = "SELECT current_setting('statement_timeout')"
    assert database.facts
    for address, seconds, set_to in (
        (Address(engine.db), 65, "65s"),
        (Address(engine.db, 0.5), 60.5, "60500ms"),
        (Address(f"{engine.db}%20-cstatement_timeout%3D2min"), 120, "2min"),
    ):
        with closing(address.open()) as opened:
            assert opened.connection.execute(asked).fetchall() == [(set_to,)]
            assert opened.connection.patience == seconds + 10
    with engine.administrator() as connection:
        connection.execute(f"ALTER ROLE {role} SET statement_timeout = '7s'")
        connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {engine.schema} TO {role}")
    with closing(Address(engine.address(user=role)).open()) as opened:
        assert opened.connection.execute(asked).fetchall() == [("7s",)]


def test_a_machine_that_vanishes_is_found_out_by_the_kernel_unless_the_url_says_otherwise(engine, database):
    def asked(opened):
        parameters = opened.connection.info.get_parameters()
        names = ("keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout", "connect_timeout")
        return [parameters.get(name) for name in names]

    assert asked(database) == ["30", "10", "3", "30000", "10"]
    with closing(Address(engine.address(keepalives_idle="7", tcp_user_timeout="1234")).open()) as opened:
        assert asked(opened) == ["7", "10", "3", "1234", "10"]


@pytest.mark.parametrize(
    ("given", "holds"), [("off", "on"), ("on", "on"), ("local", "local"), ("remote_apply", "remote_apply")]
)
def test_a_commit_is_on_the_disk_whatever_the_role_has_by_default(engine, database, given, holds):
    assert database.facts
    given_so = Address(f"{engine.db}%20-csynchronous_commit%3D{given}")
    with closing(given_so.open()) as opened, closing(given_so.open_begun()) as begun:
        assert opened.facts["synchronous_commit"] == holds
        for connection in (opened.connection, begun._record.database.connection):
            assert connection.execute("SHOW synchronous_commit").fetchall() == [(holds,)]
        opened.begin()
        assert opened.row("read_settings")[2] == holds
        opened.roll_back()


def test_a_connection_that_is_made_anew_is_set_like_the_first(engine, database):
    assert database.facts
    with closing(Address(f"{engine.db}%20-csynchronous_commit%3Doff").open()) as opened:
        assert engine.end_backends() >= 1
        assert opened.row("read_settings")[2] == "on"
        assert opened.connection.patience == 75


def test_a_wrong_password_is_refused_without_showing_it(engine, role):
    with engine.passwords_asked():
        wrong = Address(engine.address(user=role, password="knock-4242"))
        with pytest.raises(RefusedError, match="password authentication failed for user") as refused:
            wrong.open(create=True)
        assert "knock-4242" not in str(refused.value)
        Address(engine.address(user=role, password="sesame-7331")).open(create=True).close()


@pytest.mark.parametrize("way", ["PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE"])
def test_a_password_may_come_from_the_environment_or_a_file(engine, role, tmp_path, way):
    address, environment = engine.address(user=role), dict(os.environ)
    if way == "PGPASSWORD":
        environment[way] = "sesame-7331"
    else:
        file = tmp_path / "secret"
        environment[way] = str(file)
        file.write_text("*:*:*:odd:sesame-7331\n")
        if way == "PGSERVICEFILE":
            parts = psycopg.conninfo.conninfo_to_dict(engine.address(user=role, password="sesame-7331"))
            file.write_text("[notes]\n" + "".join(f"{key}={value}\n" for key, value in parts.items()))
            address = "postgresql://?service=notes"
        file.chmod(0o600)
    worker = [sys.executable, "-m", "arrowproof.service.worker", "--max-polls", "1", "--db", address]
    with engine.passwords_asked():
        Address(engine.address(user=role, password="sesame-7331")).open(create=True).close()
        ended = subprocess.run(worker, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, '{"outcome": "idle", "job_id": null}\n'), ended.stderr
    assert "sesame" not in ended.stderr


@pytest.mark.parametrize(
    "said", ["it's 5 % off; :now %(x)s", "naïve 日本語 🐦", "two\nlines\tand \x1b[31m red", "x" * 5000]
)
def test_an_error_keeps_the_words_of_the_database_on_one_line_and_is_bounded(engine, database, insert, said):
    insert()
    engine.fault("INSERT ON note_events", said=said)
    database.begin()
    with pytest.raises(DatabaseError) as refused:
        database.rows("insert_history", job_id=1, now=NOW)
    database.roll_back()
    assert str(refused.value) == f"RaiseException: {said}".replace("\n", " ")[:500]


def test_a_nul_is_an_error_of_the_database_and_nothing_else(database):
    database.begin()
    with pytest.raises(DatabaseError):
        database.rows("insert_note", **{**NOTE, "text": "a\x00b"})
    database.roll_back()


def test_without_a_schema_for_the_tables_a_database_is_refused(engine):
    nowhere = Address(engine.address(options="-csearch_path=no_such_schema"))
    with pytest.raises(RefusedError, match="has no schema for the tables"):
        nowhere.open(create=True)


def test_a_role_that_may_not_make_or_use_the_tables_is_refused(engine, role):
    with engine.administrator() as connection:
        connection.execute(f"REVOKE CREATE ON SCHEMA {engine.schema} FROM {role}")
    stranger = Address(engine.address(user=role))
    with pytest.raises(RefusedError, match="cannot be used: InsufficientPrivilege: permission denied for schema"):
        stranger.open(create=True)
    open_engine(engine, create=True).close()
    with pytest.raises(RefusedError, match="cannot be used: InsufficientPrivilege: permission denied for table"):
        stranger.open()


def test_a_name_that_has_to_be_quoted_is_an_ordinary_schema(engine):
    with engine.administrator() as connection:
        connection.execute('CREATE SCHEMA "Odd ""name"""')
        try:
            given = engine.address(options='-csearch_path="Odd\\ ""name"""')
            Address(given).open(create=True).close()
            with closing(Address(given).open()) as database:
                ((channel,),) = database.rows("name_channel")
                assert channel.startswith("arrowproof_notes_")
        finally:
            connection.execute('DROP SCHEMA "Odd ""name""" CASCADE')
