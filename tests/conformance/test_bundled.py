"""The bundled notes service, driven: the whole lifecycle by real HTTP and real workers, and what must go red."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from arrowproof.conformance.bundled import NotesDriver
from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.rows import open_database
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


def walk_along(
    notes: Lifecycle, driver: NotesDriver, *states: str | None, path: tuple[str, ...] | None = None
) -> tuple[Row | None, Transition]:
    """Bring a new job along these states; give its key and the transition that comes next, not yet walked."""
    transitions = transition_map(notes)
    pairs: list[Pair] = list(zip((None, *states), states, strict=False))
    steps = [transitions[pair] for pair in pairs]
    if path is not None:
        steps[-1] = replace(steps[-1], paths=(path,))
    driver.begin(steps)
    key: Row | None = None
    for step in steps[:-1]:
        key = driver.walk(step, key).key
    return key, steps[-1]


def attempts(row: Row | None) -> int:
    return int(str(dict(row or ())["attempts"]))


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
        ("retention", Side.BEFORE, "after-state"),
        ("retention", Side.AFTER, "after-commit"),
    }


def test_each_attempt_is_counted_in_the_rows_before_and_after_and_nothing_else_is(result: DriveResult) -> None:
    for walk in result.walks:
        if walk.before is not None and walk.after is not None:
            counted = walk.path[-1] in ("succeed", "retry", "exhaust")
            assert attempts(walk.after) == attempts(walk.before) + counted
    failed = [dict(walk.after or ()) for walk in result.walks if walk.path[-1] == "exhaust"]
    assert {(row["attempts"], row["max_attempts"]) for row in failed} == {(1, 1), (3, 3)}


def test_a_job_is_set_aside_by_a_worker_after_three_that_were_killed(result: DriveResult) -> None:
    walks = [walk for walk in result.walks if walk.path[-1] == "set_aside"]
    assert [(walk.source, attempts(walk.after)) for walk in walks] == [("retry_wait", 4), ("pending", 1)]
    # The one that sets the second aside is killed as well, right after its commit.
    for walk, ended in zip(walks, ("exit 0", "SIGKILL"), strict=True):
        assert [(process.role, process.ended) for process in walk.processes] == [
            *[("worker", "SIGKILL")] * 3,
            ("worker", ended),
        ]


def test_what_a_tour_leaves_is_finished_in_the_end_or_waits_for_long(result: DriveResult) -> None:
    last = {row.key: row.new_state for row in result.journal}
    assert set(last.values()) == {None, "completed", "failed", "cancelled", "retry_wait"}
    removed = [row for row in result.journal if row.new_state is None]
    # Walked, killed on both sides, and two at once.
    assert len(removed) == 3 + 3 * 2 + 2


def test_no_process_is_left(result: DriveResult) -> None:
    processes = {process.pid for walk in result.walks for process in walk.processes}
    processes |= {process.pid for kill in result.kills for process in kill.processes}
    assert len(processes) > 30
    assert not any(Path(f"/proc/{pid}").exists() for pid in processes)


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        ("AFTER UPDATE OF status ON jobs BEGIN DELETE FROM note_events; END", "name the attempts [], not [1]"),
        (
            "AFTER UPDATE OF attempts ON jobs WHEN NEW.attempts < 2 BEGIN UPDATE jobs SET attempts = 2; END",
            "has attempts 2 and not 1",
        ),
        ("AFTER INSERT ON note_events BEGIN UPDATE note_events SET attempt = 9; END", "name the attempts [9], not [1]"),
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


@pytest.mark.parametrize(
    ("states", "trigger", "said"),
    [
        (
            ("pending", "failed", "pending"),
            "AFTER UPDATE OF status ON jobs BEGIN UPDATE jobs SET max_attempts = 1; END",
            "has max_attempts 1 and not 4",
        ),
        (
            ("pending", "failed", "pending"),
            "AFTER UPDATE OF status ON jobs BEGIN DELETE FROM attempt_errors; END",
            "has errors () and not (1,)",
        ),
        (
            ("pending", "retry_wait"),
            "AFTER UPDATE OF status ON jobs BEGIN UPDATE jobs SET last_error = 'no connection'; END",
            "has last_error 'no connection' and not",
        ),
        (
            ("pending", "cancelled"),
            "AFTER UPDATE OF status ON jobs BEGIN UPDATE jobs SET attempts = 1; END",
            "has attempts 1 and not 0",
        ),
        (("pending", "cancelled"), "BEFORE UPDATE ON jobs BEGIN SELECT RAISE(IGNORE); END", "answered 409"),
        (
            ("pending", "cancelled"),
            "AFTER UPDATE OF status ON jobs BEGIN UPDATE jobs SET finished_at = '2026-11-29T15:09:02.118Z'; END",
            "has finished_at 2026-11-29T15:09:02.118Z, which is to be within what was done to it",
        ),
        (
            ("pending", "cancelled", None),
            "AFTER DELETE ON jobs BEGIN INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)"
            " VALUES ('', 'key', 'text', 'digest', '2026-11-29T15:09:02.118Z'); END",
            "was removed, and of others",
        ),
        (
            ("pending", "failed", None),
            "BEFORE DELETE ON notes BEGIN SELECT RAISE(IGNORE); END",
            "was removed and left a note behind",
        ),
        (
            ("pending", "completed", None),
            "BEFORE DELETE ON jobs BEGIN SELECT RAISE(IGNORE); END",
            "The retention",
        ),
    ],
)
def test_a_service_that_breaks_its_word_to_a_client_or_in_a_removal_is_caught(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path, states: tuple[str | None, ...], trigger: str, said: str
) -> None:
    key, last = walk_along(notes, driver, *states)
    interfere(tmp_path, trigger)
    with pytest.raises(DriverError) as caught:
        driver.walk(last, key)
    assert said in str(caught.value)


@pytest.mark.parametrize("side", list(Side))
def test_an_attempt_whose_worker_was_killed_may_not_be_counted_as_one_that_lost_its_connection(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path, side: Side
) -> None:
    key, retry = walk_along(notes, driver, "pending", "retry_wait")
    interfere(tmp_path, "AFTER UPDATE OF status ON jobs BEGIN UPDATE jobs SET last_error = 'no connection'; END")
    killed = driver.kill(retry, key, side)
    with pytest.raises(DriverError, match="has last_error 'no connection' and not"):
        driver.recover(retry, killed, side)


def test_a_job_that_is_counted_when_it_is_set_aside_is_caught(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path
) -> None:
    key, failure = walk_along(notes, driver, "pending", "failed", path=("pick", "set_aside"))
    interfere(tmp_path, "AFTER UPDATE OF status ON jobs BEGIN UPDATE jobs SET attempts = 1; END")
    with pytest.raises(DriverError, match="has attempts 1 and not 0"):
        driver.walk(failure, key)


def test_a_job_that_was_set_aside_is_completed_when_the_tour_ends(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path
) -> None:
    key, failure = walk_along(notes, driver, "pending", "failed", path=("pick", "set_aside"))
    assert driver.walk(failure, key).path == ("pick", "set_aside")
    driver.end(key)
    with open_database(tmp_path / "notes.sqlite3") as connection:
        assert list(connection.execute("SELECT status, attempts FROM jobs")) == [("completed", 1)]


def test_the_first_removed_job_makes_way_for_two_at_once_and_each_later_one_frees_its_key(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path
) -> None:
    for left in ([], [(5, "cancelled")]):
        key, removal = walk_along(notes, driver, "pending", "cancelled", None)
        driver.walk(removal, key)
        driver.end(key)
        with open_database(tmp_path / "notes.sqlite3") as connection:
            assert list(connection.execute("SELECT id, status FROM jobs")) == left


def test_the_first_job_that_waits_for_a_retry_is_completed_by_its_last_attempt(
    notes: Lifecycle, driver: NotesDriver, tmp_path: Path
) -> None:
    for _ in range(2):
        key, retry = walk_along(notes, driver, "pending", "retry_wait")
        driver.walk(retry, key)
        driver.end(key)
    with open_database(tmp_path / "notes.sqlite3") as connection:
        found = list(connection.execute("SELECT status, attempts FROM jobs ORDER BY id"))
    assert found == [("completed", 3), ("retry_wait", 1)]


def test_an_id_that_is_given_again_is_caught(notes: Lifecycle, driver: NotesDriver, tmp_path: Path) -> None:
    key, removal = walk_along(notes, driver, "pending", "cancelled", None)
    driver.walk(removal, key)
    with open_database(tmp_path / "notes.sqlite3") as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'jobs'")
    with pytest.raises(DriverError, match="ids that were used"):
        driver.end(key)


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
    for _ in range(2):
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
