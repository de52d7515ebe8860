"""The processes of the notes service as a driver has them: started ahead, held, killed, restarted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_service import NotesService
from arrowproof.model.evidence import Side


@pytest.fixture
def service(tmp_path: Path) -> Iterator[NotesService]:
    service = NotesService(tmp_path)
    yield service
    service.stop()


def started(tmp_path: Path) -> list[str]:
    return sorted(path.stem.partition("-")[2] for path in (tmp_path / "processes").glob("*.stdout"))


def test_a_worker_is_killed_where_it_waits_and_the_next_one_does_its_work(service: NotesService) -> None:
    service.start()
    accepted = service.api().post(1, replayed=False)
    assert service.hold("worker", "after-history").kill().ended == "SIGKILL"
    assert service.api().job(accepted.job_id).attempts == 0
    assert service.hold("worker", Side.AFTER).kill().ended == "SIGKILL"
    assert service.api().job(accepted.job_id).status == "completed"
    process, told = service.run("worker", "--max-polls", "1")
    assert (process.ended, told) == ("exit 0", {"outcome": "idle", "job_id": None})


def test_a_process_that_does_not_come_to_its_point_is_told(service: NotesService) -> None:
    service.start()
    hold = service.hold("worker", "after-count", "--max-polls", "1")
    with pytest.raises(DriverError, match=r"did not come to after-count\.held and ended with exit 0"):
        hold.kill()


def test_servers_are_started_ahead_one_at_a_time_and_not_more_than_wait_to_be_used(
    service: NotesService, tmp_path: Path
) -> None:
    counts = []
    for _ in range(8):
        service.start_ahead()
        counts.append(len(started(tmp_path)))
    assert counts == [1, 2, 3, 4, 5, 6, 6, 6]
    api, hold = service.take_held_server(Side.AFTER)
    with api:
        assert hold.process.is_running
    service.start_ahead()
    assert started(tmp_path) == ["server"] * 7


def test_a_restarted_server_ends_when_it_was_asked(service: NotesService) -> None:
    service.start()
    with service.restarted(2) as (api, server):
        accepted = api.post(1, replayed=False)
        assert server.record().ended == "running"
    assert service.api().job(accepted.job_id).max_attempts == 2
    server.end()
    assert not server.is_running
