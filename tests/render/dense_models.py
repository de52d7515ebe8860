"""Lifecycles of very many states without groups, of several shapes, the same each time."""

from __future__ import annotations

from random import Random

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State

SHAPES = ("chain", "hub", "mesh")
KINDS = (Kind.WAITING, Kind.ACTIVE, Kind.NEUTRAL)


def dense(shape: str, count: int) -> Lifecycle:
    """So many states with two arrows each: a line with leaps, a few hubs, or no order at all."""
    random = Random(f"{shape} {count}")
    hubs = [0, count // 3, 2 * count // 3]
    ends = {(n, n + 1): None for n in range(count - 1)}
    while len(ends) < 2 * count:
        source = random.randrange(count)
        leap = {"chain": source + random.choice((-3, -2, 2, 3)), "hub": random.choice(hubs)}
        target = leap.get(shape, random.randrange(count))
        if source != target and 0 <= target < count:
            ends[source, target] = None
    states = tuple(State(f"s{n}", KINDS[n % 3], f"Stage {n}", f"s{n}", note="waits") for n in range(count))
    arrows = tuple(
        Arrow(f"a{number}", f"s{source}", f"s{target}", f"event {number}", guard=f"tries < {number}")
        for number, (source, target) in enumerate(ends)
    )
    return Lifecycle("dense", "Dense", states, (Arrow("new", None, "s0", "created"), *arrows))
