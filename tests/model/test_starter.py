"""The starter: what `arrowproof init` writes is a lifecycle without a single complaint."""

from __future__ import annotations

from arrowproof.model.lifecycle import Kind
from arrowproof.model.linter import lint
from arrowproof.model.loader import parse_lifecycle
from arrowproof.model.starter import starter_text
from arrowproof.model.transitions import derive_transitions


def test_the_starter_passes_strict_lint() -> None:
    assert lint(parse_lifecycle(starter_text().encode(), source="starter")) == ()


def test_the_starter_shows_every_kind_a_binding_and_a_bounded_retry_loop() -> None:
    lifecycle = parse_lifecycle(starter_text().encode(), source="starter")
    assert {state.kind for state in lifecycle.states} == set(Kind) - {Kind.NEUTRAL}
    assert lifecycle.binding is not None
    names = {transition.name for transition in derive_transitions(lifecycle)}
    assert {"created -> queued", "sending -> backoff", "backoff -> sending", "sending -> sent"} <= names
