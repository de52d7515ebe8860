"""Lifecycles of many states around a few hubs, which most arrows begin or end at, the same each time."""

from __future__ import annotations

from random import Random

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State

_KINDS = (Kind.WAITING, Kind.ACTIVE, Kind.NEUTRAL)
_GROUP = 12
"""States to a group, in file order."""


def hubs(count: int, states: int, arrows: int, *, has_groups: bool = False, seed: int = 0) -> Lifecycle:
    """So many hubs with about as many arrows each, every arrow between a hub and another state or between two hubs.

    Where these ends are used up, arrows share them, told apart by their events.
    """
    random = Random(f"{count} {states} {arrows} {seed}")
    centers = [states * hub // count for hub in range(count)]
    # A line through all of them keeps every state in reach.
    ends = [(n, n + 1) for n in range(states - 1)] if arrows >= 2 * states else []
    while len(ends) < arrows:
        hub, other = centers[len(ends) % count], random.randrange(states)
        if hub != other:
            ends.append((hub, other) if random.random() < 0.6 else (other, hub))
    made = tuple(
        State(f"s{n}", _KINDS[n % 3], f"Stage {n}", f"s{n}", group=f"Part {n // _GROUP}" if has_groups else None)
        for n in range(states)
    )
    lines = tuple(
        Arrow(f"a{number}", f"s{source}", f"s{target}", f"event {number}")
        for number, (source, target) in enumerate(ends)
    )
    return Lifecycle("hubs", f"{count} hubs", made, (Arrow("new", None, "s0", "created"), *lines))
