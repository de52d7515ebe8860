"""The legend: the signs that occur in the drawings of a page, and what most arrows of a proof share, said once.

It also says how high it is, since the page plans every part of its screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from arrowproof.model.record import record
from arrowproof.model.rung import Rung
from arrowproof.render.arrow_svg import ARROW_UNITS, rung_class, rung_sample, sneak_sample
from arrowproof.render.language import Language
from arrowproof.render.outline import Outline
from arrowproof.render.proof import Proof
from arrowproof.render.stage import Stage
from arrowproof.render.svg import KIND_UNITS, MARK_UNITS, folded_sample, kind_sample, mark_sample, quiet_sample
from arrowproof.render.text import text_width

TEXT_SIZE = 0.86
ROW = 1.28
ROW_GAP = 0.4
"""Of the legend's text, its rows with a little to spare, and the gap between these, in rem."""

_UNIT = 1.15 / 18
"""rem to the unit of a sample."""
_GAP, _SAMPLE_GAP = 1.2, 0.45
_SLACK = 1.03


@record
class LegendItem:
    """A sign and what it means. ``sample`` is empty and ``units`` 0 where words stand alone.

    ``shown_by`` selects what of a scene bears the sign; the item stands where there is any of it.
    """

    sample: Markup
    words: str
    units: int = ARROW_UNITS
    shown_by: str = ""


LegendGroup = tuple[LegendItem, ...]
LegendParts = tuple[tuple[LegendGroup, ...], ...]
"""The legend: what the arrows show, what else is said of them in groups, and the kinds of states, if there are any."""


def legend_of_page(outline: Outline, stage: Stage, proof: Proof | None, language: Language) -> LegendParts:
    """The signs of all scenes of a page."""
    marks = tuple(LegendItem(mark_sample(mark), name, MARK_UNITS, f".mark.{mark}") for mark, name in outline.marks)
    proven = () if proof is None else legend_of_proof(proof, language)
    syntax = (LegendItem(Markup(), outline.syntax, 0),) if outline.syntax else ()
    kinds = [
        LegendItem(kind_sample(kind), name, KIND_UNITS, f".state.{kind}:not(.quiet)") for kind, name in outline.kinds
    ]
    if any(scene.groups for scene in stage.scenes):
        kinds.append(LegendItem(folded_sample(), language("scene.group"), KIND_UNITS, ".folded"))
    if any(scene.quiet for scene in stage.scenes):
        kinds.append(LegendItem(quiet_sample(), language("legend.outside"), KIND_UNITS, ".quiet:not(.folded)"))
    parts = ((proven,), (marks, syntax), (tuple(kinds),))
    full = (tuple(group for group in part if group) for part in parts)
    return tuple(part for part in full if part)


def legend_of_proof(proof: Proof, language: Language) -> tuple[LegendItem, ...]:
    """What the arrows of a proof show, the lowest rung first; the usual one with its count, since it stands nowhere."""
    standing = proof.standing
    present = {each.rung for each in standing.arrows.values()}
    items = [
        LegendItem(rung_sample(rung), _words(rung, proof, language), shown_by=f".arrow.{rung_class(rung)}")
        for rung in Rung
        if rung in present
    ]
    if proof.sneak_paths:
        items.append(LegendItem(sneak_sample(), _sneak_words(proof, language), shown_by=".sneak"))
    if any(each.step for each in standing.arrows.values()):
        items.append(LegendItem(Markup(), language("legend.frequent"), 0))
    return tuple(items)


def _words(rung: Rung, proof: Proof, language: Language) -> str:
    words = language(f"rung.{rung}")
    if rung is not proof.standing.usual:
        return words
    usual = proof.standing.usual_count
    key = "legend.all" if usual == len(proof.standing.arrows) else "legend.usual"
    return language.count(key, usual, rung=words)


def _sneak_words(proof: Proof, language: Language) -> str:
    """What the lines of sneak paths say, and of many what most of them are, since it stands nowhere else."""
    words = language("sneak.label")
    if not proof.shared:
        return words
    shared = language("sneak.shared", what=words, fate=proof.shared)
    others = sum(proof.captions[arrow] == proof.shared for arrow in proof.sneak_paths)
    return shared if others == len(proof.sneak_paths) else language.count("legend.usual", others, rung=shared)


def item_width(units: int, words: str) -> float:
    """The width in rem of an item whose sample is so many units wide."""
    sample = units * _UNIT + _SAMPLE_GAP if units else 0.0
    return sample + text_width(words, TEXT_SIZE) * _SLACK


def legend_widths(parts: LegendParts) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """The widths in rem of the items of a legend, by part and group."""
    return tuple(tuple(tuple(item_width(item.units, item.words) for item in group) for group in part) for part in parts)


def legend_height(parts: Sequence[Sequence[Sequence[float]]], width: float) -> float:
    """The height in rem of a legend with items of these widths: parts share a row, or flow each by itself."""
    rows, free = 0, 0.0
    for part in parts:
        items = [item for group in part for item in group]
        if _length(items) > free:
            rows += _rows(items, width)
            free = width
        free -= _length(items) + _GAP
    rows = max(rows, 1)
    return rows * ROW + (rows - 1) * ROW_GAP


def _length(items: Sequence[float]) -> float:
    return sum(items) + _GAP * (len(items) - 1)


def _rows(items: Sequence[float], width: float) -> int:
    """The rows of a part, whose items flow like words, over the ends of its groups."""
    rows, free = 1, width
    for item in items:
        if item > free and free < width:
            rows, free = rows + 1, width
        free -= item + _GAP
    return rows
