"""The choices on a page with one drawing: which of them are looked at closely, and what must be true of each.

A reader chooses an arrow, a transition or a state, and the page marks it and may show more of it, such as the evidence.
All arrows and transitions are tried (``choose.js``); the few that ask most of the page are then looked at by the
address that a link would have (``#arrow=retry``), which the page's own script follows: the first as every screen is,
the others by places and sizes alone. The colours that a choice brings are judged of all that are tried, as styles have
them: a contrast depends on the kind of a thing, and not on where it stands.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from arrowproof.model.record import record
from arrowproof.render.fit_measures import Colour, Geometry
from arrowproof.render.fit_pixels import LINE_CONTRAST_MIN, RGB, TEXT_CONTRAST_MIN, contrast_on
from arrowproof.render.fit_report import Check
from arrowproof.render.fit_rules import Failure


@record
class Ink:
    """A text or a line in a colour that a choice brings, and the plain colour behind it."""

    place: str
    is_text: bool
    ink: Colour
    ground: RGB


@record
class Choice:
    """One thing that was chosen: what kind it is (``arrow``, ``transition``, ``state``), and the address it came to.

    ``name`` is how many characters it is called by. ``beyond`` is by how many CSS px something did not fit meanwhile,
    and ``filled`` the height of all texts in the column, in CSS px. ``inks`` are the colours that it is the first to
    show.
    """

    kind: str
    address: str
    name: int
    beyond: float
    filled: float
    inks: tuple[Ink, ...] = ()


def read_choices(tried: str) -> tuple[Choice, ...]:
    """The records for the JSON text that ``choose.js`` gave."""
    return tuple(Choice(**{**each, "inks": tuple(map(_ink, each["inks"]))}) for each in json.loads(tried))


def _ink(item: Mapping[str, Any]) -> Ink:
    red, green, blue, alpha = item["ink"]
    return Ink(item["place"], item["is_text"], (red, green, blue, alpha), tuple(item["ground"]))


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


def judge_inks(choices: Sequence[Choice], pictured: Collection[str]) -> Iterator[Failure]:
    """What a choice brings has the contrast that everything must have; ``pictured`` choices are judged by pixels."""
    for choice in choices:
        for each in choice.inks if choice.address not in pictured else ():
            found = contrast_on(each.ground, each.ink)
            least = TEXT_CONTRAST_MIN if each.is_text else LINE_CONTRAST_MIN
            if found.ratio < least:
                place = f"#{choice.address}, {each.place}"
                yield Failure("contrast", place, f"has contrast {found}, must be at least {least}:1")


def told_once(address: str, check: Check, at_rest: Check) -> Check:
    """The check of a choice without the failures that the same screen has when nothing is chosen."""
    known = {(each.rule, f"#{address}, {each.place}", each.message) for each in at_rest.failures}
    new = (each for each in check.failures if (each.rule, each.place, each.message) not in known)
    return replace(check, failures=tuple(new))
