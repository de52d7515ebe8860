"""Which events are illegal in which states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrowproof.model.illegal_events import illegal_events
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import derive_transitions


def test_an_event_is_illegal_where_no_arrow_path_that_leaves_the_state_has_it(
    job: dict[str, Any], parse: Callable[[Any], Lifecycle]
) -> None:
    for arrow in job["arrows"]:
        arrow["event"] = {"accept": "accept", "pick": "poll", "due": "poll", "exhaust": "give up"}.get(arrow["id"])
        arrow.update({key: value for key, value in arrow.items() if value is not None})
    job["arrows"] = [{key: value for key, value in arrow.items() if value is not None} for arrow in job["arrows"]]
    lifecycle = parse(job)
    found = illegal_events(lifecycle, derive_transitions(lifecycle))
    ended = [(state, event) for state in ("completed", "failed") for event in ("accept", "poll", "give up")]
    assert sorted(found) == sorted([("pending", "accept"), ("retry_wait", "accept"), *ended])


def test_a_model_without_events_has_no_illegal_ones(job: dict[str, Any], parse: Callable[[Any], Lifecycle]) -> None:
    for arrow in job["arrows"]:
        arrow.pop("event", None)
    lifecycle = parse(job)
    assert illegal_events(lifecycle, derive_transitions(lifecycle)) == ()
