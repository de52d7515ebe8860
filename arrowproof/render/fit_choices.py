"""The choices on a page with one drawing: which of them are looked at closely, and what must be true of each.

A reader chooses an arrow, a transition or a state, and the page marks it and may show more of it, such as the evidence.
All arrows and transitions are tried (``choose.js``); the few that ask most of the page are then looked at by the
address that a link would have (``#arrow=retry``), which the page's own script follows: the first as every screen is,
the others by places and sizes alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from arrowproof.render.fit_measures import Geometry
from arrowproof.render.fit_report import Check
from arrowproof.render.fit_rules import Failure


@dataclass(frozen=True)
class Choice:
    """One thing that was chosen: what kind it is (``arrow``, ``transition``, ``state``), and the address it came to.

    ``name`` is how many characters it is called by. ``beyond`` is by how many CSS px something did not fit meanwhile,
    and ``filled`` the height of all texts in the column, in CSS px.
    """

    kind: str
    address: str
    name: int
    beyond: float
    filled: float


def read_choices(tried: str) -> tuple[Choice, ...]:
    """The records for the JSON text that ``choose.js`` gave."""
    return tuple(Choice(**each) for each in json.loads(tried))


def hardest_choices(choices: Sequence[Choice]) -> tuple[str, ...]:
    """The addresses to look at: the arrow or transition that fits least or is tallest, the longest arrow, the state.

    Only the busiest state is tried. Where nothing opens, no arrow is taller than another, and the longest is looked at.
    """
    states = [each for each in choices if each.kind == "state"]
    arrows = [each for each in choices if each.kind == "arrow"]
    others = [each for each in choices if each.kind != "state"]
    hardest = [
        *sorted(others, key=lambda each: (-each.beyond, -each.filled, each.kind != "arrow", -each.name))[:1],
        *sorted(arrows, key=lambda each: -each.name)[:1],
        *states[:1],
    ]
    return tuple(dict.fromkeys(each.address for each in hardest))


def judge_choices(seen: Mapping[str, Geometry]) -> Iterator[Failure]:
    """What is chosen by its address is marked as chosen: else what was looked at was the page at rest."""
    for address, geometry in seen.items():
        if not geometry.chosen:
            yield Failure("drawing", f"#{address}", "marks nothing as chosen")


def told_once(address: str, check: Check, at_rest: Check) -> Check:
    """The check of a choice without the failures that the same screen has when nothing is chosen."""
    known = {(each.rule, f"#{address}, {each.place}", each.message) for each in at_rest.failures}
    new = (each for each in check.failures if (each.rule, each.place, each.message) not in known)
    return replace(check, failures=tuple(new))
