"""The bundled notes service, driven: the whole lifecycle by real HTTP and real workers, and what must go red."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from arrowproof.conformance.bundled import NotesDriver
from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.driver import DriverError
from arrowproof.model.evidence import Row, Side
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import Pair, Transition, transition_map

NOTES = Path(__file__).parents[2] / "arrowproof" / "service" / "notes-job.lifecycle.json"


@pytest.fixture(scope="module")
def notes() -> Lifecycle:
    return load_lifecycle(NOTES)


@pytest.fixture(scope="module")
def result(notes: Lifecycle, tmp_path_factory: pytest.TempPathFactory) -> DriveResult:
    return drive(notes, NotesDriver(), tmp_path_factory.mktemp("notes"))


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[NotesDriver]:
    driver = NotesDriver()
    driver.start(tmp_path)
    yield driver
    driver.stop()


def walk_along(notes: Lifecycle, driver: NotesDriver, *states: str) -> tuple[Row | None, Transition]:
    """Bring a new job along these states; give its key and the transition that comes next, not yet walked."""
    transitions = transition_map(notes)
    pairs: list[Pair] = list(zip((None, *states), states, strict=False))
    steps = [transitions[pair] for pair in pairs]
    driver.begin(steps)
    key: Row | None = None
    for step in steps[:-1]:
        key = driver.walk(step, key).key
    return key, steps[-1]


def interfere(tmp_path: Path, trigger: str) -> None:
    connection = apsw.Connection(str(tmp_path / "notes.sqlite3"))
    connection.set_busy_timeout(5000)
    connection.execute(f"CREATE TRIGGER interference {trigger}")
    connection.close()


def test_every_transition_is_walked_by_itself(notes: Lifecycle, result: DriveResult) -> None:
    assert [walk.problem for walk in result.walks if walk.problem] == []
    assert {(walk.source, walk.target) for walk in result.walks} == set(transition_map(notes))
    assert (result.problems, result.sneak_paths) == ((), ())


def test_every_transition_survives_a_kill_on_both_sides_of_its_commit(notes: Lifecycle, result: DriveResult) -> None:
    assert [kill.problem for kill in result.kills if kill.problem] == []
    wanted = {(*pair, side) for pair in transition_map(notes) for side in Side}
    assert {(kill.source, kill.target, kill.side) for kill in result.kills} == wanted
    assert all(kill.processes[0].ended == "SIGKILL" for kill in result.kills)


def test_the_points_of_the_kills_are_the_statements_beside_the_commit(result: DriveResult) -> None:
    points = {(kill.processes[0].role, kill.side, kill.point) for kill in result.kills}
    assert points == {
        ("server", Side.BEFORE, "after-job"),
        ("server", Side.AFTER, "after-commit"),
        ("worker", Side.BEFORE, "after-state"),
        ("worker", Side.AFTER, "after-commit"),
    }


def test_each_attempt_is_counted_in_the_rows_before_and_after(result: DriveResult) -> None:
    for walk in result.walks:
        after = dict(walk.after or ())
        assert after["attempts"] == (0 if walk.before is None else int(dict(walk.before)["attempts"] or 0) + 1)
    failed = [dict(walk.after or ()) for walk in result.walks if walk.target == "failed"]
    assert sorted((row["attempts"], row["max_attempts"]) for row in failed) == [(1, 1), (2, 2)]


def test_no_process_is_left(result: DriveResult) -> None:
    processes = {process.pid for walk in result.walks for process in walk.processes}
    processes |= {process.pid for kill in result.kills for process in kill.processes}
    assert len(processes) > 30
    assert not any(Path(f"/proc/{pid}").exists() for pid in processes)


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        ("AFTER UPDATE OF status ON jobs BEGIN DELETE FROM note_events; END", "1 attempts and 0 history rows"),
        (
            "AFTER UPDATE OF attempts ON jobs WHEN NEW.attempts < 2 BEGIN UPDATE jobs SET attempts = 2; END",
            "2 attempts and 1 history rows; expected completed, 1 and 1",
        ),
        ("AFTER INSERT ON note_events BEGIN UPDATE note_events SET attempt = 9; END", "names attempt 9, not 1"),
        ("BEFORE UPDATE ON jobs BEGIN SELECT RAISE(IGNORE); END", "The worker"),
        ("BEFORE INSERT ON note_events BEGIN SELECT RAISE(ABORT, 'no'); END", "expected {'outcome': 'completed'"),
    ],
)
def test_a_service_that_breaks_its_word_is_caught(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path, trigger: str, said: str
) -> None:
    key, completion = walk_along(notes, driver, "pending", "completed")
    interfere(tmp_path, trigger)
    with pytest.raises(DriverError) as caught:
        driver.walk(completion, key)
    assert said in str(caught.value)


def test_a_note_that_is_not_stored_as_it_was_sent_is_caught(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path
) -> None:
    interfere(tmp_path, "AFTER INSERT ON notes BEGIN UPDATE notes SET text = 'x'; END")
    with pytest.raises(DriverError, match="is stored as"):
        walk_along(notes, driver, "pending", "completed")


def test_a_job_that_a_tour_leaves_pending_is_worked_off(notes: Lifecycle, driver: NotesDriver) -> None:
    left, _ = walk_along(notes, driver, "pending", "completed")
    driver.end(left)
    key, completion = walk_along(notes, driver, "pending", "completed")
    assert driver.walk(completion, key).key == key
    driver.end(key)
    driver.end(None)


def test_a_job_that_waits_for_its_retry_is_out_of_reach_of_the_next_tour(notes: Lifecycle, driver: NotesDriver) -> None:
    waiting, retry = walk_along(notes, driver, "pending", "retry_wait")
    driver.walk(retry, waiting)
    driver.end(waiting)
    with pytest.raises(DriverError, match="is not due"):
        driver.walk(transition_map(notes)["retry_wait", "completed"], waiting)


def test_a_job_that_fails_at_the_fourth_attempt_has_a_server_of_its_own(notes: Lifecycle, driver: NotesDriver) -> None:
    key, failure = walk_along(notes, driver, "pending", "retry_wait", "retry_wait", "retry_wait", "failed")
    assert driver.walk(failure, key).key == key


def test_a_server_that_cannot_start_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "notes.sqlite3").write_text("no database")
    driver = NotesDriver()
    with pytest.raises(DriverError, match=r"The server .* printed no line and ended with exit 2; its stderr: server: "):
        driver.start(tmp_path)
    driver.stop()
    assert (tmp_path / "notes.sqlite3").read_text() == "no database"


def test_a_driver_that_never_started_can_be_stopped_twice() -> None:
    driver = NotesDriver()
    driver.stop()
    driver.stop()
