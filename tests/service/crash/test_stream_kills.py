"""Workers are killed at random over a stream of jobs, while requests go on; no job is lost, doubled or stuck."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import ExitStack, closing

import pytest

from tests.service.conftest import Server, wait_until
from tests.service.crash.ground import Ground, ground
from tests.service.crash.nursery import Nursery
from tests.service.crash.stream import FAILS_ONCE, Requests, add_backlog, check_all_completed
from tests.service.crash.workshop import StoredJob
from tests.service.engines import ENGINES, open_begun

SETTINGS = {"sqlite": "sqlite wal", "postgresql": "postgresql"}
ROUNDS, MOST_ROUNDS = 50, 150
ENOUGH = 10
"""Kills in an attempt that are wanted: a hundred kills come to 10 to 25, and where chance has it otherwise to more."""
WITHOUT_LIMIT = ("--max-crashes", "1000000")
STEADY = ("--forever", "--poll-interval", "0.02", "--retry-delay", "0")


def interrupted_attempts(place: Ground) -> int:
    """How many attempts are on record as begun and not committed: with no worker alive, those that a kill ended."""
    waiting = set(place.sql("SELECT id, attempts FROM jobs WHERE status IN ('pending', 'retry_wait')"))
    with closing(open_begun(place.engine)) as begun:
        return len(waiting & set(begun._record.oldest(1_000_000)))


def drain(place: Ground, nursery: Nursery, *arguments: str) -> None:
    """Let a worker run until nothing waits any more."""
    pid = nursery.start("--db", place.engine.db, *STEADY, *arguments)
    # Where nothing waits it might be told to end before it can hear that.
    wait_until(lambda: "started" in nursery.stderr, "a worker at work")
    wait_until(lambda: not place.sql("SELECT 1 FROM jobs WHERE status IN ('pending', 'retry_wait')"), "the last job")
    os.kill(pid, signal.SIGTERM)
    assert nursery.wait() == 0, nursery.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine_name", ENGINES)
def test_no_job_is_lost_or_doubled_by_a_hundred_kills_while_requests_go_on(
    tmp_path, request, random, found, engine_name
):
    with ExitStack() as stack:
        place = stack.enter_context(ground(SETTINGS[engine_name], tmp_path, request))
        place.engine.fault("INSERT ON note_events", when=FAILS_ONCE)
        keys = add_backlog(place, 1000)
        nurseries = [stack.enter_context(closing(Nursery(tmp_path))) for _ in range(2)]
        server = Server(["--db", place.engine.db], tmp_path)
        stack.callback(server.process.wait)
        stack.callback(server.kill)
        stack.callback(server.client.close)
        requests = Requests(server.ready["ready"], random)
        requests.start()
        stack.callback(requests.end)
        interrupted = rounds = 0
        while rounds < ROUNDS or (interrupted <= ENOUGH and rounds < MOST_ROUNDS):
            interrupted += kill_both(place, nurseries, random)
            rounds += 1
        requests.end()
        drain(place, nurseries[0], *WITHOUT_LIMIT)
        keys |= requests.told.keys()
        check_all_completed(place, keys)
        assert place.is_sound()
        found(
            f"{2 * rounds} kills, {interrupted} of them in an attempt, over {len(keys)} jobs; meanwhile "
            f"{len(requests.told)} notes and {requests.replays} replays; none lost, doubled or stuck"
        )
    assert interrupted > ENOUGH


def kill_both(place: Ground, nurseries: list[Nursery], random) -> int:
    """Two workers at work, killed one after the other at moments of chance; how many attempts that interrupted."""
    pids = [nursery.start("--db", place.engine.db, *STEADY, *WITHOUT_LIMIT) for nursery in nurseries]
    for nursery in nurseries:
        wait_until(lambda nursery=nursery: "started" in nursery.stderr, "workers at work")
    for pid, nursery in zip(pids, nurseries, strict=True):
        threading.Event().wait(random.uniform(0, 0.04))
        os.kill(pid, signal.SIGKILL)
        assert nursery.wait() == -signal.SIGKILL, nursery.stderr
    return interrupted_attempts(place)


@pytest.mark.parametrize("engine_name", ENGINES)
def test_a_job_that_is_there_at_three_kills_in_a_row_is_set_aside_and_holds_nobody_up(
    tmp_path, request, found, engine_name
):
    with ground(SETTINGS[engine_name], tmp_path, request) as place, closing(Nursery(tmp_path)) as nursery:
        keys = [f"key {number}" for number in range(10)]
        for key in keys:
            place.accept(key)
        signalled = tmp_path / "after-history.held"
        for _ in range(12):
            with place.outlived():
                pid = nursery.start("--db", place.engine.db, *STEADY, hold=f"after-history:{tmp_path}")
                wait_until(signalled.exists, signalled.name)
                os.kill(pid, signal.SIGKILL)
                assert nursery.wait() == -signal.SIGKILL
            signalled.unlink()
        drain(place, nursery)
        stored = place.stored()
        set_aside = {key for key in keys if stored[key] == StoredJob("failed", 0, 0, 0)}
        completed = {key for key in keys if stored[key] == StoredJob("completed", 1, 1, 0)}
        found(f"12 kills over 10 jobs: {len(set_aside)} set aside, {len(completed)} completed")
        assert (set_aside, completed) == (set(keys[:4]), set(keys[4:]))
        assert {error for (error,) in place.sql("SELECT last_error FROM jobs WHERE status = 'failed'")} == {
            "set aside: 3 attempts in a row killed their worker or its connection"
        }
