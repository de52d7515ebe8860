"""The legend of a proof: the signs that its arrows bear, and what most of them share, said once.

It also says how high the legend of a page is, since the page plans every part of its screen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from arrowproof.render.arrow_svg import ARROW_UNITS, rung_sample, sneak_sample
from arrowproof.render.language import Language
from arrowproof.render.proof import Proof
from arrowproof.render.standing import Rung
from arrowproof.render.text import text_width

TEXT_SIZE = 0.86
ROW = 1.28
ROW_GAP = 0.4
"""Of the legend's text and rows, in rem; the stylesheet holds the same."""

_UNIT = 1.15 / 18
"""rem to the unit of a sample."""
_GAP, _SAMPLE_GAP = 1.2, 0.45
_SLACK = 1.03

KIND_UNITS, MARK_UNITS = 28, 18
"""Units of the samples of a kind of state and of a mark."""


@dataclass(frozen=True)
class LegendItem:
    """A sign and what it means. ``sample`` is empty and ``units`` 0 where words stand alone."""

    sample: Markup
    words: str
    units: int = ARROW_UNITS


def legend_of_proof(proof: Proof, language: Language) -> tuple[LegendItem, ...]:
    """What the arrows of a proof show, the lowest rung first; the usual one with its count, since it stands nowhere."""
    standing = proof.standing
    present = {each.rung for each in standing.arrows.values()}
    items = [LegendItem(rung_sample(rung), _words(rung, proof, language)) for rung in Rung if rung in present]
    if proof.sneak_paths:
        items.append(LegendItem(sneak_sample(), language("sneak.label")))
    if any(each.step for each in standing.arrows.values()):
        items.append(LegendItem(Markup(), language("legend.frequent"), 0))
    return tuple(items)


def _words(rung: Rung, proof: Proof, language: Language) -> str:
    words = language(f"rung.{rung}")
    if rung is not proof.standing.usual:
        return words
    total = len(proof.standing.arrows)
    return language.count("legend.usual", total, rung=words, usual=proof.standing.usual_count)


def item_width(units: int, words: str) -> float:
    """The width in rem of an item whose sample is so many units wide."""
    sample = units * _UNIT + _SAMPLE_GAP if units else 0.0
    return sample + text_width(words, TEXT_SIZE) * _SLACK


def legend_height(groups: Iterable[Iterable[float]], width: float) -> float:
    """The height in rem of groups of items of these widths: groups flow in rows, and one too wide flows by itself."""
    rows, free = 1, width
    for group in groups:
        items = list(group)
        whole = sum(items) + _GAP * len(items)
        if whole <= free:
            free -= whole + _GAP
            continue
        if free < width:
            rows += 1
        free = width
        for item in items:
            if item > free and free < width:
                rows, free = rows + 1, width
            free -= item + _GAP
    return rows * ROW + (rows - 1) * ROW_GAP
