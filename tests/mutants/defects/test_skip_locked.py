"""``LIMIT 1 … SKIP LOCKED`` in an IN, which PostgreSQL may run once for each row: one claim takes several runs.

By their states the two statements are the same, and no scan can tell them apart; the journal of a drive can. Which plan
the server takes depends on its statistics, and so this one is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
import pytest

from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.own_database import own_database
from arrowproof.errors import DOES_NOT_HOLD, HOLDS
from arrowproof.model.evidence import Process, Row, Side
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.tours import Plan, plan_tours
from arrowproof.model.transitions import Transition
from tests.mutants.trial import Judgement, check_plan, check_sql_of

SCHEMA = "CREATE TABLE runs (id integer PRIMARY KEY, state text NOT NULL);"
ADD = "INSERT INTO runs (id, state) VALUES ({}, 'queued');"
OLDEST = "(SELECT id FROM runs WHERE state = 'queued' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)"
WRONG = f"UPDATE runs SET state = 'running' WHERE id IN {OLDEST} AND state = 'queued' RETURNING id;"
RIGHT = f"UPDATE runs SET state = 'running' WHERE id = {OLDEST} AND state = 'queued' RETURNING id;"
PLAN = ("hashjoin", "mergejoin", "hashagg", "sort", "material", "seqscan", "bitmapscan")
"""What the planner may not use, so that the sub-select stands inside of a loop over the runs, by their ids."""


class QueueDriver:
    """Adds a run and claims the oldest one, while others are in the queue behind it."""

    def __init__(self, claim: str) -> None:
        self._claim = claim
        self._connection: psycopg.Connection | None = None

    def start(self, folder: Path) -> Path:
        raise DriverError(f"There is no queue in {folder}.")

    def start_on(self, url: str, folder: Path) -> None:
        assert not any(folder.iterdir())
        self._connection = psycopg.connect(url, autocommit=True)
        for statement in (SCHEMA, *map(ADD.format, (7, 8, 9)), *(f"SET enable_{each} = off" for each in PLAN)):
            self._connection.execute(statement)

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def begin(self, tour: Sequence[Transition]) -> None:
        assert tour

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        assert self._connection is not None
        self._connection.execute(self._claim if transition.source else ADD.format(1))
        return Walked(key or (("id", 1),), (Process("queue", 0, "running"),))

    def end(self, key: Row | None) -> None:
        assert key is not None

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        raise NotImplementedError

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        raise NotImplementedError


@pytest.fixture
def database(postgresql: str) -> Iterator[str]:
    with own_database(postgresql) as url:
        yield url


def write(folder: Path, claim: str) -> Path:
    (folder / "runs.sql").write_text("\n".join((SCHEMA, ADD.format(":id"), claim)), encoding="utf-8")
    model = {
        "format": "arrowproof.lifecycle/1",
        "id": "queue",
        "title": "Queue",
        "dialect": "postgresql",
        "binding": {"table": "runs", "key": ["id"], "state": "state"},
        "states": [
            {"id": "queued", "kind": "waiting", "label": "Queued"},
            {"id": "running", "kind": "active", "label": "Running", "terminal": True},
        ],
        "arrows": [{"id": "add", "to": "queued"}, {"id": "claim", "from": "queued", "to": "running"}],
        "sources": ["*.sql"],
    }
    file = folder / "queue.lifecycle.json"
    file.write_text(json.dumps(model), encoding="utf-8")
    return file


def drive_of(folder: Path, database: str, claim: str) -> Judgement:
    lifecycle = load_lifecycle(write(folder, claim))
    (_, claimed) = plan_tours(lifecycle).tours
    return check_plan(lifecycle, QueueDriver(claim), folder / "run", Plan((claimed,)), database=database)


@pytest.mark.parametrize("claim", [WRONG, RIGHT], ids=["in", "equals"])
def test_no_statement_of_a_claim_gives_it_away(tmp_path: Path, claim: str) -> None:
    judgement = check_sql_of(write(tmp_path, claim))
    assert (judgement.status, judgement.reasons) == (HOLDS, ())


def test_a_claim_that_takes_more_than_its_run_is_red_in_a_drive(tmp_path: Path, database: str) -> None:
    judgement = drive_of(tmp_path, database, WRONG)
    assert judgement.status == DOES_NOT_HOLD
    wanted = "asked of one row (id=1); also came queued -> running (id=7), then queued -> running (id=8)"
    assert any(wanted in reason for reason in judgement.reasons), judgement


def test_a_claim_whose_sub_select_runs_once_is_green(tmp_path: Path, database: str) -> None:
    judgement = drive_of(tmp_path, database, RIGHT)
    assert (judgement.status, judgement.reasons) == (HOLDS, ())
