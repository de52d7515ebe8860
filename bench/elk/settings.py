"""Tuning: the settings of ELK layered that are tried on a graph, and the search among them.

The search is a random start and then changes of one to three settings of the best found so far, for three goals in
turn: large text, few crossings, and both. Its random numbers have a fixed seed, so that a run can be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from arrowproof.render.layout.sizes import LabelLimits

LIMITS = {
    "136/180": LabelLimits(136, 180),
    "130/140": LabelLimits(130, 140),
    "104/104": LabelLimits(104, 104),
    "82/82": LabelLimits(82, 82),
}
"""The ways to wrap labels that our own layout tries too."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "labels": tuple(LIMITS),
    "inline": ("true", "false"),
    "elk.direction": ("RIGHT", "DOWN"),
    "elk.layered.nodePlacement.strategy": ("NETWORK_SIMPLEX", "BRANDES_KOEPF", "LINEAR_SEGMENTS"),
    "elk.layered.nodePlacement.bk.fixedAlignment": ("NONE", "BALANCED"),
    "elk.layered.nodePlacement.favorStraightEdges": ("true", "false"),
    "elk.layered.layering.strategy": (
        "NETWORK_SIMPLEX",
        "LONGEST_PATH",
        "LONGEST_PATH_SOURCE",
        "COFFMAN_GRAHAM",
        "MIN_WIDTH",
        "STRETCH_WIDTH",
    ),
    "elk.layered.layering.coffmanGraham.layerBound": ("2", "3", "4", "5"),
    "elk.layered.layering.nodePromotion.strategy": ("NONE", "NIKOLOV", "DUMMYNODE_PERCENTAGE"),
    "elk.layered.cycleBreaking.strategy": ("GREEDY", "DEPTH_FIRST", "MODEL_ORDER", "GREEDY_MODEL_ORDER"),
    "elk.layered.considerModelOrder.strategy": ("NONE", "NODES_AND_EDGES", "PREFER_EDGES"),
    "elk.layered.crossingMinimization.greedySwitch.type": ("TWO_SIDED", "ONE_SIDED", "OFF"),
    "elk.layered.edgeLabels.centerLabelPlacementStrategy": (
        "MEDIAN_LAYER",
        "SPACE_EFFICIENT_LAYER",
        "WIDEST_LAYER",
        "TAIL_LAYER",
        "HEAD_LAYER",
    ),
    "elk.layered.edgeLabels.sideSelection": ("SMART_DOWN", "SMART_UP", "ALWAYS_DOWN", "DIRECTION_DOWN"),
    "elk.layered.wrapping.strategy": ("OFF", "OFF", "MULTI_EDGE", "SINGLE_EDGE"),
    "elk.layered.wrapping.additionalEdgeSpacing": ("10", "20"),
    "elk.aspectRatio": ("1.2", "1.53", "1.9"),
    "elk.layered.compaction.postCompaction.strategy": ("NONE", "NONE", "EDGE_LENGTH", "LEFT_RIGHT_CONSTRAINT_LOCKING"),
    "elk.layered.feedbackEdges": ("false", "true"),
    "elk.layered.thoroughness": ("7", "7", "30", "100"),
    "elk.randomSeed": tuple(str(seed) for seed in range(1, 25)),
}
"""All settings and their values. The first two are no options of ELK: they say what graph it is given."""

FIXED = {
    "elk.algorithm": "layered",
    "elk.edgeRouting": "ORTHOGONAL",
    "elk.padding": "[top=0,left=0,bottom=0,right=0]",
    "elk.layered.unnecessaryBendpoints": "false",
}

DISTANCES = {
    # what our own layout keeps, and less between a label and its line
    "even": {
        "elk.spacing.nodeNode": "30",
        "elk.layered.spacing.nodeNodeBetweenLayers": "30",
        "elk.spacing.edgeNode": "14",
        "elk.layered.spacing.edgeNodeBetweenLayers": "22",
        "elk.spacing.edgeEdge": "12",
        "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
        "elk.spacing.edgeLabel": "4",
        "elk.spacing.portPort": "16",
    },
    # closer than we draw: lines, heads and labels nearly touch
    "tight": {
        "elk.spacing.nodeNode": "14",
        "elk.layered.spacing.nodeNodeBetweenLayers": "14",
        "elk.spacing.edgeNode": "8",
        "elk.layered.spacing.edgeNodeBetweenLayers": "10",
        "elk.spacing.edgeEdge": "8",
        "elk.layered.spacing.edgeEdgeBetweenLayers": "8",
        "elk.spacing.edgeLabel": "1",
        "elk.spacing.portPort": "11",
    },
}

Settings = Mapping[str, str]


@dataclass(frozen=True)
class Run:
    """One drawing of ELK, as measured in the figure, and the settings that made it."""

    settings: Settings
    crossings: int
    label_px: float
    bends: int
    overlaps: int


Try = Callable[[Settings], Run | None]
"""Lays out and measures; None when ELK gave up."""


def elk_options(settings: Settings, distances: str) -> dict[str, str]:
    """The options that ELK is given for some settings."""
    chosen = {name: value for name, value in settings.items() if name.startswith("elk.")}
    return {**FIXED, **DISTANCES[distances], **chosen}


def by_text(run: Run) -> tuple[float, ...]:
    """Large text first, then few crossings."""
    return (round(run.label_px, 1), -run.crossings, -run.bends)


def by_crossings(run: Run) -> tuple[float, ...]:
    """Few crossings first, then large text."""
    return (-run.crossings, round(run.label_px, 1), -run.bends)


def by_both(run: Run) -> tuple[float, ...]:
    """Half a px of text for a crossing."""
    return (round(run.label_px - 0.5 * run.crossings, 2), -run.bends)


GOALS = (by_text, by_crossings, by_both)


def search(attempt: Try, runs: int, seed: int = 1) -> list[Run]:
    """All drawings without an overlap that a search of so many runs found."""
    chance = random.Random(seed)
    found: list[Run] = []
    seen: set[tuple[str, ...]] = set()
    for number in range(runs):
        settings = _drawn(chance) if number < runs // 3 or not found else _changed(chance, found, number)
        key = tuple(settings.values())
        if key in seen:
            continue
        seen.add(key)
        run = attempt(settings)
        if run is not None and not run.overlaps:
            found.append(run)
    return found


def front(runs: Iterable[Run]) -> list[Run]:
    """The runs that no other beats in text and crossings at once, fewest crossings first."""
    kept: list[Run] = []
    for run in sorted(runs, key=by_crossings, reverse=True):
        if not kept or round(run.label_px, 1) > round(kept[-1].label_px, 1):
            kept.append(run)
    return kept


def _drawn(chance: random.Random) -> dict[str, str]:
    return {name: chance.choice(values) for name, values in CHOICES.items()}


def _changed(chance: random.Random, found: list[Run], number: int) -> dict[str, str]:
    """One of the five best for a goal with one to three settings changed."""
    best = sorted(found, key=GOALS[number % len(GOALS)], reverse=True)[:5]
    settings = dict(chance.choice(best).settings)
    for name in chance.sample(sorted(CHOICES), chance.choice((1, 1, 2, 3))):
        settings[name] = chance.choice(CHOICES[name])
    return settings
