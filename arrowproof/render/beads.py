"""Beads: the sign of each rung, as it stands on an arrow and beside the words of a panel.

A bead is a ring that fills by quarters: written, walked, survived, guarded. What is missing is a ring with a cross,
what did not survive one with an exclamation mark, what was not asked for a small dotted ring, and a sneak path a
lozenge. All of it takes the colour that stands around it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from markupsafe import Markup

from arrowproof.render.svg_element import element

RADIUS = 6.0
_DOTTED = 3.2

_QUARTERS: Mapping[str, str] = {
    "written": "M0 0V-4.1A4.1 4.1 0 0 1 4.1 0Z",
    "not_written": "M0 0H4.1A4.1 4.1 0 0 1 0 4.1Z",
    "walked": "M0 0V-4.1A4.1 4.1 0 0 1 0 4.1Z",
    "survived": "M0 0V-4.1A4.1 4.1 0 1 1-4.1 0Z",
    "guarded": "M-6 0A6 6 0 1 1 6 0A6 6 0 1 1-6 0Z",
}
_STROKES: Mapping[str, str] = {
    "missing": "M-2.2-2.2L2.2 2.2M2.2-2.2L-2.2 2.2",
    "not_survived": "M0-3.2V.6M0 3V3.1",
}
_LOZENGE = "M0-7L7 0L0 7L-7 0Z"
_VERDICTS: Mapping[str, str] = {
    "holds": "M-3.4.2L-1 2.6L3.6-2.4",
    "gap": "M-3.4 0H3.4",
    "wrong": "M-2.7-2.7L2.7 2.7M2.7-2.7L-2.7 2.7",
}

BEADS = (*_QUARTERS, *_STROKES, "none", "sneak")
"""Every sign that there is."""


def bead_symbols(signs: Collection[str]) -> Markup:
    """These beads as symbols of one hidden ``svg``, named ``bead-SIGN``, to be used by reference."""
    symbols = [
        element("symbol", {"id": f"bead-{sign}", "viewBox": "-7.5 -7.5 15 15"}, *bead_shapes(sign))
        for sign in BEADS
        if sign in signs
    ]
    return element("svg", {"hidden": "", "aria-hidden": "true"}, *symbols)


def bead_shapes(sign: str) -> tuple[Markup, ...]:
    """The shapes of one of :data:`BEADS` around (0, 0), at most 7 in every direction."""
    ring = {"stroke": "currentColor", "stroke-width": 1.5}
    hollow = {"fill": "none", **ring}
    if sign == "sneak":
        return (element("path", {"d": _LOZENGE, "fill": "currentColor"}),)
    if sign == "none":
        return (element("circle", {"r": _DOTTED, **hollow, "stroke-dasharray": "1.5 1.85"}),)
    circle = element("circle", {"r": RADIUS, **hollow})
    if sign in _STROKES:
        return (circle, element("path", {"d": _STROKES[sign], **hollow, "stroke-linecap": "round"}))
    return (circle, element("path", {"d": _QUARTERS[sign], "fill": "currentColor"}))


def styled_bead(sign: str) -> tuple[Markup, ...]:
    """The same shapes for a drawing, in which there are many: the stylesheet (``drawing.css``) gives them their looks.

    Behind a bead is paper, so that no line shows through its ring.
    """
    ring = element("circle", {"r": RADIUS})
    ground = element("circle", {"class": "ground", "r": RADIUS})
    if sign == "sneak":
        return (ground, element("path", {"d": _LOZENGE}))
    if sign == "none":
        return (ground, element("circle", {"class": "dotted", "r": _DOTTED}))
    if sign in _STROKES:
        return (ring, element("path", {"class": "thin", "d": _STROKES[sign]}))
    return (ring, element("path", {"d": _QUARTERS[sign]}))


def verdict_sign(tone: str) -> Markup:
    """The sign of a verdict: a disc with a check (``holds``), a bar (``gap``) or a cross (``wrong``)."""
    disc = element("circle", {"r": 8, "fill": "currentColor"})
    mark = element("path", {"d": _VERDICTS[tone]})
    return element("svg", {"class": "verdict-sign", "viewBox": "-8 -8 16 16", "aria-hidden": "true"}, disc, mark)
