"""Near states: which state a value that no state has was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from arrowproof.conformance.display import VALUE_LIMIT, one_line
from arrowproof.model.lifecycle import State


def near_state(states: Iterable[State], text: str) -> str | None:
    """The value of the state that ``text`` resembles, None when it resembles none, or is one."""
    values = [str(state.value) for state in states if state.value is not None]
    if text in values or len(text) > VALUE_LIMIT:
        return None
    folded = {value.casefold(): value for value in reversed(values)}
    close = get_close_matches(text.casefold(), folded, n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def no_state_text(states: Iterable[State], text: str) -> str:
    """That no state has a value, and which state may have been meant."""
    near = near_state(states, text)
    meant = f"; did you mean {one_line(near, VALUE_LIMIT)}?" if near is not None else ""
    return f"no state has the value {one_line(text, VALUE_LIMIT)}{meant}"
