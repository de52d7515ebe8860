"""Transitions: what a database can witness of a lifecycle.

A transition is a walk along arrows from one stored state (or creation) to the next stored state (or removal), through
passing states only. Its identity is the pair (source, target); it lists every arrow path that makes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from arrowproof.model.lifecycle import Lifecycle

CREATED = "created"
REMOVED = "removed"


@dataclass(frozen=True, order=False)
class Transition:
    """A pair of stored state ids; ``source`` None is creation, ``target`` None is removal.

    ``paths`` holds each sequence of arrow ids that makes the transition, in file order.
    """

    source: str | None
    target: str | None
    paths: tuple[tuple[str, ...], ...] = ()

    @property
    def pair(self) -> tuple[str | None, str | None]:
        """The transition's identity."""
        return (self.source, self.target)

    @property
    def name(self) -> str:
        """How people read it: ``pending -> completed``, ``created -> pending``."""
        return transition_name(self.source, self.target)


def transition_name(source: str | None, target: str | None) -> str:
    """The readable name of a pair of state ids."""
    return f"{CREATED if source is None else source} -> {REMOVED if target is None else target}"


def derive_transitions(lifecycle: Lifecycle) -> tuple[Transition, ...]:
    """Every transition of a lifecycle, in the order of its first arrow path in the file.

    Raises:
        ModelError: passing states form a cycle, so that the walks through them never end.
    """
    raise NotImplementedError
