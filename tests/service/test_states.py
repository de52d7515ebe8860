"""The states that the code names are those that the lifecycle file draws."""

from __future__ import annotations

import json
from pathlib import Path

from arrowproof.service import states


def test_the_states_are_those_of_the_lifecycle_file():
    file = Path(states.__file__).with_name("notes-job.lifecycle.json")
    drawn = {state["id"]: state["kind"] for state in json.loads(file.read_text())["states"]}
    assert set(states.STATES) == {state for state, kind in drawn.items() if kind != "passing"}
    assert set(states.WAITING) == {state for state, kind in drawn.items() if kind == "waiting"}
    assert not set(states.WAITING) & set(states.FINISHED)
