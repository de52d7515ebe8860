"""The processes of the notes service as a driver has them: started ahead, held, killed, restarted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_service import NotesService
from arrowproof.model.evidence import Process, Side


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


def test_what_restarts_the_service_is_a_process_that_is_started_then(service: NotesService) -> None:
    service.start()
    (fork_server,) = {parent(service.server().pid)}
    assert parent(fork_server) == os.getpid()
    service.hold("worker", "after-select").kill()
    before = children(fork_server)
    restarted = service.hold("worker", "after-select")
    restarted.await_held()
    assert children(fork_server) - before == {restarted.process.pid}
    assert before == {service.server().pid}
    assert str(service.database) in Path(f"/proc/{restarted.process.pid}/cmdline").read_text()


def test_what_forks_the_service_has_no_thread_no_connection_and_no_database(
    service: NotesService, postgresql: str, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = NotesService(tmp_path / "other", url=postgresql)
    try:
        for each, late in ((service, "arrowproof.service.sqlite"), (other, "arrowproof.service.postgresql")):
            each.start()
            folder = Path(f"/proc/{parent(each.server().pid)}")
            assert late in (folder / "cmdline").read_text()
            assert len(list((folder / "task").iterdir())) == 1
            opened = {str(file.readlink()).partition(":")[0] for file in (folder / "fd").iterdir()}
            assert opened <= {"socket", "anon_inode", "/dev/null", str(log(each))}
            # Its orders twice, two for signals of the system, and the channel of the server.
            assert sum(str(file.readlink()).startswith("socket") for file in (folder / "fd").iterdir()) == 5
    finally:
        other.stop()


def log(service: NotesService) -> Path:
    return service._processes.folder / "processes" / "fork-server.stderr"


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def test_the_servers_of_later_tours_are_started_ahead_one_at_a_time(service: NotesService, tmp_path: Path) -> None:
    service.start()
    counts = []
    for _ in range(3):
        service.start_ahead()
        counts.append(len(started(tmp_path)))
    assert counts == [2, 3, 3]
    accepted = service.api(2).post(1, replayed=False)
    assert service.api().job(accepted.job_id).max_attempts == 2
    assert started(tmp_path) == ["server"] * 3


def test_the_server_that_has_served_is_killed_and_the_one_that_starts_then_serves_on(service: NotesService) -> None:
    service.start()
    for number, side in enumerate((Side.BEFORE, Side.AFTER), start=1):
        service.api().post(10 * number, replayed=False)
        served = service.server()
        assert kill_at_a_post(service, side, number).pid == served.pid
        accepted = service.api().post(number, replayed=side is Side.AFTER)
        assert service.api().job(accepted.job_id).status == "pending"
        assert service.server().pid != served.pid


def test_a_server_can_be_killed_on_the_side_that_would_come_later(service: NotesService) -> None:
    service.start()
    kill_at_a_post(service, Side.AFTER, 1)
    service.api().post(1, replayed=True)


def kill_at_a_post(service: NotesService, side: Side, number: int) -> Process:
    api, hold = service.take_server(side)
    with api, ThreadPoolExecutor() as client:
        asked = client.submit(api.post, number, replayed=False)
        killed = hold.kill()
        assert isinstance(asked.exception(), DriverError)
    assert killed.ended == "SIGKILL"
    return killed
