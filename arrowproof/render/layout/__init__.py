"""The automatic layout: from a lifecycle to a drawing. Nobody writes a coordinate.

The way: sizes of boxes and labels (``graph``), rows of states (``placements``, searched by ``annealing`` for what
``estimate`` holds to be cheap), the ways of arrows through the rows (``grid``, ``order``), coordinates
(``coordinates``, ``channels``, ``compaction``, ``heights``), and the drawing (``assembly``). Some placements are
drawn, and the best is kept (``candidates``).

A drawing is a function of the lifecycle alone. How it changes little when the lifecycle does: the search starts from
the main path, cut into rows, with the other states in file order; its random numbers come from a fixed seed and not
from what the lifecycle says, so that another word in a label meets the same choices; ties go to the state and the
arrow that comes first in the file; and of drawings that are about as good the one that was found first is taken, not
the best by a hair. A new arrow or state can still lead to another placement, where another has become better.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.layout.candidates import best_drawing
from arrowproof.render.layout.forms import Form, closer_forms, first_form, is_crowded
from arrowproof.render.layout.lanes import add_lanes, has_lanes
from arrowproof.render.quality import LEAST_SCALE, READABLE_SCALE, count_crossings, fit_scale, is_read

__all__ = ["layout_lifecycle"]

_MUCH_SMALLER = 0.95
"""The share of its scale that a drawing whose text is small in any case may lose to lanes."""
_MORE_CROSSINGS = 2
"""Crossings that lanes may cost."""
_CLEARLY = 1.1
"""How much larger a drawing comes out in a closer form where that is taken although the other one can be read."""


def layout_lifecycle(
    lifecycle: Lifecycle,
    captions: Mapping[str, str] | None = None,
    numbers: Mapping[str, int] | None = None,
    *,
    is_hurried: bool = False,
    must_be_read: bool = False,
) -> Drawing:
    """The drawing of a lifecycle, in which nothing overlaps.

    Where its text comes out too small to read, it is drawn in the first closer form that can be read, or else in that
    which comes out largest.

    Args:
        lifecycle: any lifecycle whose arrows name states that it has.
        captions: a short text under the label of an arrow (its rung, for example), by arrow id.
        numbers: what may stand for labels, by arrow id, where a key is shown beside the drawing.
        is_hurried: whether it is one of very many drawings, and each form is searched only once.
        must_be_read: whether a drawing that is too small to read is of no use, however good it is otherwise.

    Returns:
        A drawing whose order of states and arrows is that of the lifecycle, the same for the same input.
    """
    if not lifecycle.states and not lifecycle.arrows:
        return Drawing(Box(0, 0, 0, 0), (), ())
    written = captions or {}
    chosen = first_form(lifecycle)
    forms = tuple(form for form in closer_forms(lifecycle, numbers) if form != chosen)
    drawn = partial(best_drawing, lifecycle, written, is_hurried=is_hurried, must_be_read=must_be_read)
    drawing = drawn(chosen, gives_way=bool(forms))
    for form in forms:
        is_large = fit_scale(drawing.bounds) >= LEAST_SCALE
        if is_large and (form.numbers is not None or not is_crowded(lifecycle)):
            break
        closer = drawn(form, gives_way=form is not forms[-1])
        if fit_scale(closer.bounds) > fit_scale(drawing.bounds) * (_CLEARLY if is_large else 1.0):
            drawing, chosen = closer, form
    if must_be_read and not is_read(drawing):
        return drawing
    # Lanes cost another search, which is made for the one form that is kept.
    return _with_lanes(drawing, lifecycle, written, chosen) if has_lanes(lifecycle) else drawing


def _with_lanes(drawing: Drawing, lifecycle: Lifecycle, captions: Mapping[str, str], form: Form) -> Drawing:
    """The drawing with lanes, or another one that keeps its groups together, where this one tears one apart.

    Without lanes where they would make text unreadable or much smaller than it is, or lines cross much more often.
    """
    laned = add_lanes(drawing, lifecycle)
    if not laned.lanes:
        laned = add_lanes(best_drawing(lifecycle, captions, form, without_lanes=drawing), lifecycle)
        if count_crossings(laned) > count_crossings(drawing) + _MORE_CROSSINGS:
            return drawing
    scale = fit_scale(drawing.bounds)
    least = next((least for least in (READABLE_SCALE, LEAST_SCALE) if scale >= least), _MUCH_SMALLER * scale)
    return laned if laned.lanes and fit_scale(laned.bounds) >= least else drawing
