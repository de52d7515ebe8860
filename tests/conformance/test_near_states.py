from __future__ import annotations

import pytest

from arrowproof.conformance.near_states import near_state, no_state_text
from arrowproof.model.lifecycle import Kind, State

STATES = [State(each, Kind.NEUTRAL, each, each) for each in ("authorized", "captured", "void", "3")]
STATES.append(State("none", Kind.NEUTRAL, "None", None))


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("captrued", "captured"),
        ("Captured", "captured"),
        ("authorised", "authorized"),
        ("captured ", "captured"),
        ("captured", None),
        ("paused", None),
        ("", None),
        ("4", None),
        ("captured" * 100_000, None),
    ],
)
def test_a_misspelt_value_is_near_the_state_that_was_meant(text: str, near: str | None) -> None:
    assert near_state(STATES, text) == near


def test_what_is_near_no_state_is_only_called_so() -> None:
    assert no_state_text(STATES, "paused") == "no state has the value paused"
    assert no_state_text(STATES, "void\x1b") == "no state has the value void<U+001B>; did you mean void?"
