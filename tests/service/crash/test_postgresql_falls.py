"""PostgreSQL falls, whole or one connection of it, again and again in the middle of work; nothing told is lost."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from random import Random
from typing import Any

import psycopg
import pytest

from tests.service.conftest import Server, wait_until
from tests.service.crash.ground import Ground
from tests.service.crash.nursery import Nursery
from tests.service.crash.stream import Requests, add_backlog
from tests.service.engines import PostgresEngine, PostgresServer, postgres_server

FALLS = 20
MOST_ATTEMPTS = 50
STEADY = ("--forever", "--poll-interval", "0.02", "--retry-delay", "0")
COMPLETED = "SELECT count(*) FROM jobs WHERE status = 'completed'"
IN_TRANSACTION = """
SELECT pid FROM pg_stat_activity WHERE application_name = 'arrowproof-notes' AND xact_start IS NOT NULL
"""


@pytest.fixture(scope="module")
def server():
    with postgres_server() as server:
        yield server


def stop_at_once(server: PostgresServer, _: Random) -> None:
    """As a power cut of its machine, but for what the system still writes."""
    server.stop()
    server.start()


def end_a_connection(server: PostgresServer, random: Random) -> None:
    """One that has a transaction in hand, be it a worker's or the server's."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", [one_at_work(connection, random)])


def kill_a_backend(server: PostgresServer, random: Random) -> None:
    """PostgreSQL ends all connections then, and recovers from its log."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        os.kill(one_at_work(connection, random), signal.SIGKILL)
        wait_until(lambda: not answers(connection), "the end of all connections")
    wait_until(lambda: accepts(server), "the recovery")


def one_at_work(connection: psycopg.Connection[tuple[Any, ...]], random: Random) -> int:
    pids: list[int] = []
    wait_until(lambda: pids.extend(pid for (pid,) in connection.execute(IN_TRANSACTION)) or pids, "a transaction")
    return random.choice(pids)


def answers(connection: psycopg.Connection[tuple[Any, ...]]) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def accepts(server: PostgresServer) -> bool:
    try:
        psycopg.connect(server.url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.timeout(300)
@pytest.mark.parametrize("fall", [stop_at_once, end_a_connection, kill_a_backend])
def test_however_it_falls_all_that_was_told_is_there_and_everyone_goes_on_by_themselves(
    tmp_path, server, random, found, fall: Callable[[PostgresServer, Random], None]
):
    with ExitStack() as stack:
        engine = PostgresEngine(server.url)
        stack.callback(engine.remove)
        place = stack.enter_context(closing(Ground("postgresql", tmp_path, engine, observes=False)))
        keys = add_backlog(place, 1000, MOST_ATTEMPTS)
        nurseries = [stack.enter_context(closing(Nursery(tmp_path))) for _ in range(2)]
        api = Server(["--db", engine.db, "--max-attempts", str(MOST_ATTEMPTS)], tmp_path)
        stack.callback(api.kill)
        stack.callback(api.client.close)
        pids = [nursery.start("--db", engine.db, *STEADY) for nursery in nurseries]
        requests = Requests(api.ready["ready"], random)
        requests.start()
        stack.callback(requests.end)
        for _ in range(FALLS):
            fall_in_the_middle(place, requests, lambda: fall(server, random), random)
        requests.end()
        wait_until(
            lambda: not place.sql("SELECT 1 FROM jobs WHERE status IN ('pending', 'retry_wait')"), "the last job"
        )
        for pid, nursery in zip(pids, nurseries, strict=True):
            os.kill(pid, signal.SIGTERM)
            assert nursery.wait() == 0, nursery.stderr
        stored = place.stored()
        counted = sum(job.errors for job in stored.values())
        found(
            f"{FALLS} times over {len(stored)} jobs: {len(requests.told)} notes told, asked again "
            f"{requests.asked_again} times, {counted} attempts counted as failed; none lost, doubled or stuck"
        )
        assert stored.keys() == keys | requests.told.keys()
        ends = {(job.status, job.history, job.attempts - job.errors) for job in stored.values()}
        assert ends == {("completed", 1, 1)}


def fall_in_the_middle(place: Ground, requests: Requests, fall: Callable[[], None], random: Random) -> None:
    """Wait until everyone is at work again, and a moment of chance; then let it fall."""
    told = len(requests.told)
    ((completed,),) = place.sql(COMPLETED)
    wait_until(lambda: len(requests.told) > told or not requests.is_alive(), "an answered request")
    wait_until(lambda: place.sql(COMPLETED) != [(completed,)], "a completed job")
    threading.Event().wait(random.uniform(0, 0.05))
    fall()
