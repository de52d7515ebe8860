"""The notes database beside the service: what is put into it, refused by it, and gone from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_api import Accepted
from arrowproof.conformance.notes_database import Doubled, NotesDatabase
from arrowproof.conformance.notes_service import NotesService
from arrowproof.conformance.rows import open_database

NUMBERS = count(1)
TABLES = """
CREATE TABLE notes (id INTEGER PRIMARY KEY, client, idempotency_key, text, text_sha256, created_at);
CREATE TABLE jobs
    (id INTEGER PRIMARY KEY, note_id, client, status, attempts, max_attempts, next_run_at, last_error, finished_at);
CREATE TABLE note_events (job_id, attempt, created_at);
CREATE TABLE attempt_errors (id INTEGER PRIMARY KEY, job_id, attempt, error, created_at);
INSERT INTO notes VALUES (1, '', 'key', 'text', 'digest', '2026-11-29T15:09:01.118Z');
INSERT INTO jobs VALUES (1, 1, '', 'completed', 1, 3, NULL, NULL, '2026-11-29T15:09:02.118Z');
INSERT INTO note_events VALUES (1, 1, '2026-11-29T15:09:02.118Z');
INSERT INTO attempt_errors VALUES (1, 1, 1, 'error', '2026-11-29T15:09:02.118Z');
"""
"""A row in each table, without a constraint."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotesService]:
    service = NotesService(tmp_path_factory.mktemp("notes"))
    service.start()
    yield service
    service.stop()


@pytest.fixture
def database(service: NotesService) -> NotesDatabase:
    return NotesDatabase(service.database)


@pytest.fixture
def accepted(service: NotesService) -> Accepted:
    return service.api().post(next(NUMBERS), replayed=False)


def test_a_pending_job_is_not_put_out_of_reach_and_a_finished_one_is(
    service: NotesService, database: NotesDatabase, accepted: Accepted
) -> None:
    before = service.api().job(accepted.job_id)
    database.put_out_of_reach(accepted.job_id)
    assert service.api().job(accepted.job_id) == before
    service.api().ask_for("cancel", accepted.job_id)
    database.put_out_of_reach(accepted.job_id)
    assert service.api().job(accepted.job_id).finished_at == "9999-12-31T23:59:59.999Z"
    _, told = service.run("retention", "--keep-finished", "0")
    assert told == {"removed": 0}


def test_a_job_that_waits_for_a_retry_is_put_out_of_reach_and_made_due_again(
    service: NotesService, database: NotesDatabase, accepted: Accepted
) -> None:
    database.set_fault("FAIL")
    told: object = service.run("worker", "--max-polls", "1")[1]
    database.set_fault(None)
    assert told == {"outcome": "retry_wait", "job_id": accepted.job_id}
    for set_moment, found in ((database.put_out_of_reach, "idle"), (database.make_due, "completed")):
        set_moment(accepted.job_id)
        told = service.run("worker", "--max-polls", "1")[1]
        assert isinstance(told, dict)
        assert told["outcome"] == found
    database.put_out_of_reach(accepted.job_id)


def test_what_belongs_to_others_is_counted(service: NotesService, database: NotesDatabase, accepted: Accepted) -> None:
    before = database.others(accepted.job_id, accepted.note_id)
    other = service.api().post(next(NUMBERS), replayed=False)
    assert database.others(accepted.job_id, accepted.note_id) == replace(before, notes=before.notes + 1)
    assert database.others(other.job_id, other.note_id) == replace(before, notes=before.notes + 1)
    for each in (accepted, other):
        service.api().ask_for("cancel", each.job_id)
        database.put_out_of_reach(each.job_id)


@pytest.mark.parametrize(
    ("doubled", "index", "wider"),
    [
        (Doubled.NOTE, "notes (client, idempotency_key)", "notes (client, idempotency_key, text_sha256, created_at)"),
        (Doubled.JOB, "jobs (note_id)", "jobs (note_id, status)"),
        (Doubled.JOB, "jobs (note_id)", "jobs (note_id, client)"),
        (Doubled.EVENT, "note_events (job_id)", "note_events (job_id, attempt)"),
        (Doubled.ERROR, "attempt_errors (job_id, attempt)", "attempt_errors (job_id, attempt, error)"),
        (Doubled.ERROR, "attempt_errors (job_id, attempt)", "attempt_errors (job_id, attempt, created_at)"),
    ],
)
def test_a_constraint_that_names_more_than_it_should_is_none(
    tmp_path: Path, doubled: Doubled, index: str, wider: str
) -> None:
    (tmp_path / "notes.sqlite3").touch()
    database = NotesDatabase(tmp_path / "notes.sqlite3")
    with open_database(tmp_path / "notes.sqlite3") as connection:
        connection.execute(TABLES)
        connection.execute(f"CREATE UNIQUE INDEX one ON {index}")
        database.check_refusal(doubled)
        connection.execute(f"DROP INDEX one; CREATE UNIQUE INDEX one ON {wider}")
    with pytest.raises(DriverError, match=f"takes a {doubled}"):
        database.check_refusal(doubled)


@pytest.mark.usefixtures("accepted")
def test_what_the_tables_refuse_is_tried_and_leaves_nothing(service: NotesService, database: NotesDatabase) -> None:
    def rows() -> list[tuple[int, ...]]:
        with open_database(service.database) as connection:
            return list(connection.execute("SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM jobs)"))

    before = rows()
    database.check_refusal(Doubled.NOTE)
    database.check_refusal(Doubled.JOB)
    assert rows() == before


def test_what_is_left_of_a_removed_job_is_named(database: NotesDatabase, accepted: Accepted) -> None:
    database.check_removed(job_id=0, note_id=0)
    with pytest.raises(DriverError, match=r"^Job 0 was removed and left a note behind\.$"):
        database.check_removed(job_id=0, note_id=accepted.note_id)


def test_a_fault_is_set_once_and_taken_away(service: NotesService, database: NotesDatabase) -> None:
    def triggers() -> list[str]:
        with open_database(service.database) as connection:
            return [str(row[0]) for row in connection.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")]

    for action, attempts, said in (
        ("FAIL", 0, "now"),
        ("FAIL", 2, "now"),
        ("FAIL", 1, "once more"),
        ("ROLLBACK", 0, "now"),
    ):
        database.set_fault(action, attempts)
        (trigger,) = triggers()
        assert f"RAISE({action}, 'the history row is refused {said}')" in trigger
        assert database.error(action) == f"the history row is refused {said}"
    database.set_fault(None)
    assert triggers() == []
