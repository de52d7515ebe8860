"""The journal on a real PostgreSQL: every rule of that database which it rests on is a test here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from arrowproof.conformance.balance import find_unbalanced
from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.journal import open_journal
from arrowproof.conformance.postgresql_journal_schema import LONGEST_QUERY
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding
from tests.conformance.databases import JOBS, PostgresPlace, make
from tests.conformance.journals import JOB, brief

PARTITIONED = """CREATE TABLE jobs (id INTEGER, status TEXT, attempts INTEGER DEFAULT 0, PRIMARY KEY (id, status))
PARTITION BY LIST (status);
CREATE TABLE waiting PARTITION OF jobs FOR VALUES IN ('pending', 'retry_wait');
CREATE TABLE finished PARTITION OF jobs DEFAULT PARTITION BY RANGE (id);
CREATE TABLE finished_low PARTITION OF finished FOR VALUES FROM (0) TO (100)"""


@pytest.fixture
def place(postgresql: str) -> Iterator[PostgresPlace]:
    made = PostgresPlace(postgresql)
    yield made
    made.connection.close()


def test_what_a_before_trigger_makes_of_the_row_is_recorded_whatever_its_name(place: PostgresPlace) -> None:
    journal = make(place)
    place.run(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN IF NEW.attempts > 2 THEN NEW.status := 'failed'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER zz BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION fail()",
        "INSERT INTO jobs (id, status) VALUES (1, 'pending')",
        "UPDATE jobs SET attempts = 3",
    )
    assert brief(journal.rows())[1:] == [("update", "changed", 1, "pending", "failed")]


def test_what_an_after_trigger_changes_comes_after_what_fired_it(place: PostgresPlace) -> None:
    journal = make(place)
    place.run(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN UPDATE jobs SET status = 'failed' WHERE id = NEW.id; RETURN NULL; END $$",
        "CREATE TRIGGER a AFTER UPDATE OF attempts ON jobs FOR EACH ROW EXECUTE FUNCTION fail()",
        "INSERT INTO jobs (id, status) VALUES (1, 'pending')",
        "UPDATE jobs SET status = 'pending', attempts = 3",
    )
    assert brief(journal.rows())[1:] == [
        ("update", "named", 1, "pending", "pending"),
        ("update", "changed", 1, "pending", "failed"),
    ]


def test_replica_mode_hides_nothing(place: PostgresPlace) -> None:
    journal = make(place)
    place.run("SET session_replication_role TO replica", "INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    place.run("UPDATE jobs SET status = 'pending', attempts = 1", "TRUNCATE jobs")
    assert brief(journal.rows()) == [
        ("insert", "changed", 1, None, "pending"),
        ("update", "named", 1, "pending", "pending"),
        ("delete", "changed", 1, "pending", None),
    ]


def test_truncate_removes_every_row_one_by_one(place: PostgresPlace) -> None:
    journal = make(place)
    place.run("INSERT INTO jobs (id, status, attempts) VALUES (1, 'pending', 2), (2, 'done', 3)", "TRUNCATE jobs")
    removed = journal.rows()[2:]
    assert sorted(brief(removed)) == [("delete", "changed", 1, "pending", None), ("delete", "changed", 2, "done", None)]
    assert {row.old_watched for row in removed} == {(("attempts", 2),), (("attempts", 3),)}
    assert {row.query for row in removed} == {"TRUNCATE jobs"}


def test_rows_are_in_the_order_of_their_writes_not_of_their_transactions(place: PostgresPlace) -> None:
    journal = make(place)
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'pending')", "BEGIN", "SELECT pg_current_xact_id()")
    with place.other() as other:
        other.execute("UPDATE jobs SET status = 'running'")
    place.run("UPDATE jobs SET status = 'done'", "COMMIT")
    assert brief(journal.rows())[1:] == [
        ("update", "changed", 1, "pending", "running"),
        ("update", "changed", 1, "running", "done"),
    ]
    stamps = 'SELECT array_agg(written_at ORDER BY "order"), array_agg(transaction::text::int8 ORDER BY "order")'
    ((times, transactions),) = place.run(f"{stamps} FROM arrowproof_journal_jobs.changes")
    assert times == sorted(times)
    assert transactions != sorted(transactions)


def test_a_row_whose_state_takes_it_to_another_partition_has_one_update(place: PostgresPlace) -> None:
    journal = make(place, PARTITIONED)
    place.run("INSERT INTO jobs VALUES (1, 'pending'), (2, 'pending')")
    mark = journal.last_order()
    place.run("UPDATE jobs SET status = 'done', attempts = attempts + 1", "UPDATE jobs SET id = 3 WHERE id = 2")
    rows = journal.rows(after=mark)
    assert brief(rows) == [
        ("update", "changed", 1, "pending", "done"),
        ("update", "changed", 2, "pending", "done"),
        ("delete", "changed", 2, "done", None),
        ("insert", "changed", 3, None, "done"),
    ]
    assert (rows[0].old_watched, rows[0].new_watched) == ((("attempts", 0),), (("attempts", 1),))


def test_a_row_that_is_removed_and_made_again_in_another_partition_is_two_changes(place: PostgresPlace) -> None:
    journal = make(place, PARTITIONED)
    place.run("INSERT INTO jobs VALUES (1, 'pending')", "BEGIN", "DELETE FROM jobs")
    place.run("INSERT INTO jobs VALUES (1, 'done')", "COMMIT")
    assert [row.operation for row in journal.rows()] == ["insert", "delete", "insert"]


def test_a_row_that_one_statement_removes_and_makes_again_in_its_partition_is_two_changes(place: PostgresPlace) -> None:
    journal = make(place, PARTITIONED)
    place.run("INSERT INTO jobs VALUES (1, 'pending')")
    place.run("WITH gone AS (DELETE FROM jobs RETURNING id) INSERT INTO jobs SELECT id, 'retry_wait' FROM gone")
    assert [row.operation for row in journal.rows()] == ["insert", "delete", "insert"]


def test_a_partition_is_watched_by_its_own_name_and_emptied_by_itself_or_with_all(place: PostgresPlace) -> None:
    journal = make(place, PARTITIONED)
    place.run("INSERT INTO finished_low VALUES (1, 'done'), (2, 'done')", "INSERT INTO waiting VALUES (3, 'pending')")
    place.run("TRUNCATE finished_low", "TRUNCATE jobs")
    assert brief(journal.rows())[3:] == [
        ("delete", "changed", 1, "done", None),
        ("delete", "changed", 2, "done", None),
        ("delete", "changed", 3, "pending", None),
    ]
    place.run("CREATE TABLE finished_high PARTITION OF finished FOR VALUES FROM (100) TO (200)")
    place.run("INSERT INTO jobs VALUES (150, 'done')")
    assert brief(journal.rows())[-1] == ("insert", "changed", 150, None, "done")
    assert journal.stands()
    place.run("DROP TABLE finished_low")
    assert not journal.stands()


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE jobs DISABLE TRIGGER ALL",
        'ALTER TABLE jobs DISABLE TRIGGER "00_arrowproof_2_named"',
        'ALTER TABLE jobs DISABLE TRIGGER "00_arrowproof_3_emptied";'
        'ALTER TABLE jobs ENABLE TRIGGER "00_arrowproof_3_emptied"',
        'DROP TRIGGER "00_arrowproof_1_record" ON jobs',
        'DROP TRIGGER "00_arrowproof_1_record" ON jobs;'
        'CREATE TRIGGER "00_arrowproof_1_record" AFTER INSERT OR UPDATE OR DELETE ON jobs FOR EACH ROW'
        " WHEN (pg_trigger_depth() > 9) EXECUTE FUNCTION arrowproof_journal_jobs.record();"
        'ALTER TABLE jobs ENABLE ALWAYS TRIGGER "00_arrowproof_1_record"',
        "CREATE OR REPLACE FUNCTION arrowproof_journal_jobs.record() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NULL; END $$",
        "DROP SCHEMA arrowproof_journal_jobs CASCADE",
        "DROP TABLE jobs",
    ],
)
def test_a_trigger_that_was_disabled_dropped_or_changed_is_found_at_the_end(place: PostgresPlace, change: str) -> None:
    journal = make(place)
    assert journal.stands()
    place.run(change)
    assert not journal.stands()


def test_what_a_disabled_trigger_did_not_see_leaves_the_journal_out_of_balance(place: PostgresPlace) -> None:
    place.run(JOBS)
    journal = open_journal(place.address, JOB)
    start = journal.install()
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    record = '"00_arrowproof_1_record"'
    place.run(f"ALTER TABLE jobs DISABLE TRIGGER {record}", "UPDATE jobs SET status = 'done'")
    place.run(f"ALTER TABLE jobs ENABLE ALWAYS TRIGGER {record}")
    assert journal.stands()
    rows, states = journal.rows_and_states()
    assert find_unbalanced(start, states, rows) == ((("id", 1),),)


def test_a_row_keeps_what_the_client_sent_and_no_more_of_it_than_is_read(place: PostgresPlace) -> None:
    journal = make(place)
    place.connection.execute("INSERT INTO jobs (id, status) VALUES (%s, %s)", (1, "pending"))
    both = "UPDATE jobs SET attempts = 1; UPDATE jobs SET status = 'done'"
    place.run(both, f"/* {'x' * 9000} */ DELETE FROM jobs")
    queries = [row.query or "" for row in journal.rows()]
    assert queries[:3] == ["INSERT INTO jobs (id, status) VALUES ($1, $2)", both, both]
    assert len(queries[3]) == LONGEST_QUERY


def test_a_role_that_may_not_write_the_journal_is_recorded_all_the_same(place: PostgresPlace) -> None:
    journal = make(place)
    place.run(
        f"CREATE ROLE plain_{place.database}",
        f"GRANT SELECT, INSERT, UPDATE, TRUNCATE ON jobs TO plain_{place.database}",
        f"SET ROLE plain_{place.database}",
        "CREATE TEMP TABLE jobs_seen (id int)",
        "INSERT INTO jobs (id, status) VALUES (1, 'pending')",
        "UPDATE jobs SET status = 'pending', attempts = 1",
        "TRUNCATE jobs",
    )
    assert [row.operation for row in journal.rows()] == ["insert", "update", "delete"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        place.run("DELETE FROM arrowproof_journal_jobs.changes")


def test_values_of_every_type_are_what_a_reader_expects_whatever_the_session_has_set(place: PostgresPlace) -> None:
    ddl = """CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE jobs (id uuid PRIMARY KEY, status mood, attempts numeric, at timestamptz, code char(5), is_on boolean,
    raw bytea, many integer[], json jsonb)"""
    watch = ("attempts", "at", "code", "is_on", "raw", "many", "json")
    journal = make(place, ddl, Binding("jobs", ("id",), "status", watch=watch))
    place.run("SET TimeZone TO 'Asia/Tokyo'", "SET DateStyle TO 'German'", "SET bytea_output TO 'escape'")
    place.run(
        "INSERT INTO jobs VALUES ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'glad', 1.5, '2026-11-29 15:09:02+00', 'ab',"
        " true, '\\x01ff', '{1,2}', '{\"a\": 1}')".replace("\\\\", "\\")
    )
    (row,) = journal.rows()
    key = (("id", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),)
    assert (row.key, row.new_state) == (key, "glad")
    wanted = [1.5, "2026-11-29T15:09:02+00:00", "ab", True, "\\x01ff", "[1, 2]", '{"a": 1}']
    assert [value for _, value in row.new_watched] == wanted
    found = journal.bound_row(key)
    assert found is not None
    assert found.columns[2:] == row.new_watched


def test_a_table_of_another_schema_is_found_by_both_names(place: PostgresPlace) -> None:
    place.run("CREATE SCHEMA app", JOBS.replace("jobs", "app.jobs"))
    journal = open_journal(place.address, Binding("app.jobs", ("id",), "status"))
    journal.install()
    place.run("INSERT INTO app.jobs (id, status) VALUES (1, 'pending')")
    assert brief(journal.rows()) == [("insert", "changed", 1, None, "pending")]


def test_a_table_with_a_name_of_the_full_length_has_a_journal(place: PostgresPlace) -> None:
    name = "j" * 63
    journal = make(place, JOBS.replace("jobs", name), Binding(name, ("id",), "status"))
    place.run(f"INSERT INTO {name} (id, status) VALUES (1, 'pending')")
    assert journal.stands()
    assert len(journal.rows()) == 1
    place.run(f"ALTER TABLE {name} DISABLE TRIGGER ALL")
    assert not journal.stands()


def test_installation_waits_for_a_writer_and_gives_up_in_words(
    place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arrowproof.conformance.postgresql_rows.LOCK_SECONDS", 1)
    place.run(JOBS, "BEGIN", "INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    with pytest.raises(InputError, match="stayed locked for 1 s"):
        open_journal(place.address, JOB).install()
    place.run("COMMIT")
    assert open_journal(place.address, JOB).install() == {(("id", 1),): "pending"}


def test_a_server_that_is_not_there_is_said_without_a_password() -> None:
    address = "postgresql://someone:secret@127.0.0.1:1/notes"
    with pytest.raises(InputError, match=r"someone@127\.0\.0\.1:1/notes") as refused:
        open_journal(address, JOB).install()
    assert "secret" not in str(refused.value)


def test_settling_waits_until_the_transaction_of_a_killed_process_has_ended(place: PostgresPlace) -> None:
    journal = make(place)
    place.run("INSERT INTO jobs (id, status) VALUES (1, 'pending')")
    script = (
        "import psycopg, sys; c = psycopg.connect(sys.argv[1]); c.execute('UPDATE jobs SET attempts = 1');"
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(place.address)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        process.kill()
    journal.settle()
    place.run("SET lock_timeout TO '1ms'", "UPDATE jobs SET attempts = 2")
    assert len(journal.rows()) == 2


def test_a_transaction_that_stays_open_is_said_to_do_so(place: PostgresPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arrowproof.conformance.open_transactions.SETTLE_SECONDS", 0.05)
    journal = make(place)
    with place.other() as other, other.transaction():
        other.execute("SELECT 1")
        with pytest.raises(DriverError, match=f"of backend {other.info.backend_pid}"):
            journal.settle()
