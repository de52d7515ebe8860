"""Two workers of the leased queue that have found the same task: one gets it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.examples.copies import EXAMPLES


@pytest.fixture
def agent() -> Any:
    spec = importlib.util.spec_from_file_location("lease_service_here", EXAMPLES / "lease" / "lease_service.py")
    assert spec is not None
    assert spec.loader is not None
    service = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(service)
    return service.Agent


@pytest.mark.parametrize("now", [0, 30])
def test_of_two_workers_that_found_the_same_task_one_gets_it(agent: Any, tmp_path: Path, now: int) -> None:
    ann, bob, eve = (agent(str(tmp_path / "tasks.sqlite3"), name) for name in ("ann", "bob", "eve"))
    ann.answer(0, "add", "q", "9", "payload")
    if now:
        assert eve.answer(0, "claim", "q") == "claimed 1"
    change = ann.change

    def change_late(*statement: object) -> object:
        ann.change = change
        assert bob.answer(now, "claim", "q") == "claimed 1"
        return change(*statement)

    ann.change = change_late
    assert ann.answer(now, "claim", "q") == "nothing"
    assert [each.answer(now, "finish") for each in (ann, eve, bob)] == ["lost", "lost", "done"]
