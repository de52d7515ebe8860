"""The notes database beside the service: what is put into it, refused by it, and gone from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_api import Accepted
from arrowproof.conformance.notes_database import Doubled, NotesDatabase
from arrowproof.conformance.notes_service import NotesService
from arrowproof.conformance.rows import open_database

NUMBERS = count(1)


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


def test_only_a_finished_job_is_put_out_of_reach(
    service: NotesService, database: NotesDatabase, accepted: Accepted
) -> None:
    database.put_out_of_reach(accepted.job_id)
    assert service.api().job(accepted.job_id).finished_at is None
    service.api().ask_for("cancel", accepted.job_id)
    database.put_out_of_reach(accepted.job_id)
    assert service.api().job(accepted.job_id).finished_at == "9999-12-31T23:59:59.999Z"
    _, told = service.run("retention", "--keep-finished", "0")
    assert told == {"removed": 0}


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

    for action in ("FAIL", "FAIL", "ROLLBACK"):
        database.set_fault(action)
        (trigger,) = triggers()
        assert f"RAISE({action}, 'the history row is refused')" in trigger
    database.set_fault(None)
    assert triggers() == []
