"""The diagram of a report: the lifecycle as pages draw it, with the rung of every arrow and the sneak paths.

It is the drawing alone, without the page around it, and needs the page's ``drawing.css`` beside fonts and palette. A
lifecycle with more states than can be read in one drawing is left to ``arrowproof render``, whose page folds it.
"""

from __future__ import annotations

from markupsafe import Markup

from arrowproof.model.evidence import Evidence
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.render.assets import asset
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.proof import bring_proof
from arrowproof.render.svg import render_svg

STATES_DRAWN = 30
ARROWS_DRAWN = 60
"""A lifecycle of more states, or of more arrows with its sneak paths, is not drawn: little of it could be read."""

WIDTH_OF_REPORT = 1200.0
"""Units that a report is wide; a drawing that is wider is not made smaller, but scrolls within its frame."""

DRAWING_CSS = asset("drawing.css")


@record
class ReportDrawing:
    """A drawing, and whether it is wider than a report."""

    svg: Markup
    is_wide: bool


def draw_report(evidence: Evidence, lifecycle: Lifecycle) -> ReportDrawing | None:
    """The drawing of a lifecycle with its evidence; None where it is of another lifecycle, empty or too large.

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions.
    """
    if evidence.model_id != lifecycle.id or not lifecycle.states or len(lifecycle.states) > STATES_DRAWN:
        return None
    proof = bring_proof(lifecycle, evidence, "")
    if len(proof.lifecycle.arrows) > ARROWS_DRAWN:
        return None
    drawing = layout_lifecycle(proof.lifecycle, proof.captions)
    svg = render_svg(proof.lifecycle, drawing, None, proof)
    return ReportDrawing(
        _sized(svg, drawing.bounds.width, drawing.bounds.height), drawing.bounds.width > WIDTH_OF_REPORT
    )


def _sized(svg: Markup, width: float, height: float) -> Markup:
    """The drawing at its natural scale; a style may make it smaller."""
    return Markup(str(svg).replace("<svg ", f'<svg width="{width:.0f}" height="{height:.0f}" ', 1))
