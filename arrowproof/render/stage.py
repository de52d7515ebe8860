"""The stage: all scenes of one page, with what the rest of the page needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.finder import find_names
from arrowproof.render.language import Language
from arrowproof.render.proof import Proof, drawn_proof
from arrowproof.render.quality import MANY_STATES
from arrowproof.render.scene import MARGIN, Scene, is_read_whole, is_small, whole_scene
from arrowproof.render.text import clean_text


@record
class Stage:
    """The scenes of a page, the one that it opens with first.

    ``frame`` is what the drawings take of the plane at most. ``names`` is what can be searched, None on the page of a
    small model, and ``places`` are the texts that may say where the reader is, none on such a page.
    """

    lifecycle: Lifecycle
    scenes: tuple[Scene, ...]
    frame: Box
    names: Mapping[str, list[list[str]]] | None
    places: tuple[str, ...]


def set_stage(lifecycle: Lifecycle, drawing: Drawing | None, language: Language, proof: Proof | None = None) -> Stage:
    """The stage of a page.

    Args:
        lifecycle: the model.
        drawing: the whole, or that of the proof's lifecycle with its captions, for a caller that has it already.
        language: of the words that are drawn.
        proof: the proof of the lifecycle, to be shown on it unless it is of another.
    """
    proof = drawn_proof(proof)
    drawn = lifecycle if proof is None else proof.lifecycle
    scenes = _scenes(lifecycle, drawing, language, proof)
    # An overview of small text takes what room there is.
    views = [scene.view for scene in scenes if not scene.is_overview]
    width, height = max(view.width for view in views), max(view.height for view in views)
    names = find_names(drawn, scenes, language)
    places = _places(scenes, language) if names is not None else ()
    return Stage(drawn, scenes, Box(0, 0, width - 2 * MARGIN, height - 2 * MARGIN), names, places)


def _scenes(model: Lifecycle, drawing: Drawing | None, language: Language, proof: Proof | None) -> tuple[Scene, ...]:
    lifecycle = model if proof is None else proof.lifecycle
    if drawing is None and (len(lifecycle.states) <= MANY_STATES or is_small(model)):
        # Who brings a drawing need not load Graphviz.
        from arrowproof.render.layout import layout_lifecycle
        from arrowproof.render.layout.forms import is_thicket

        written, captions = (lifecycle, {}) if proof is None else proof.beside_legend
        # A sneak path needs no number: it says itself what it is, and its ends are listed beside the drawing.
        numbers = {arrow.id: place for place, arrow in enumerate(model.arrows, 1)} if is_small(model) else None
        if is_small(model) or not is_thicket(lifecycle):
            drawing = layout_lifecycle(written, captions, numbers)
    if drawing is not None and (is_read_whole(model, drawing) or not lifecycle.states):
        return (replace(whole_scene(lifecycle, drawing), proof=proof),)
    from arrowproof.render.scenes import plan_scenes  # most models are read as a whole, and need not pay for this

    return plan_scenes(lifecycle, drawing, language, proof)


def _places(scenes: Sequence[Scene], language: Language) -> tuple[str, ...]:
    first = clean_text(scenes[0].title) or language("views.whole")
    # The pages of a hub have its focus too, and are not what is called by its name.
    titles = {scene.focus: clean_text(scene.title) for scene in scenes if scene.focus is not None and scene.hub is None}
    places: list[tuple[str | None, ...]] = [(first,)]
    for scene in scenes[1:]:
        above = scene.parent if scene.hub is None else titles[scene.hub]
        places.append((first, above, clean_text(scene.title)))
    for view in scenes:
        if view.address is not None and view.address[0] == "view":
            places += [(first, clean_text(view.title), titles[state.id]) for state in view.lifecycle.states]
    return tuple(" › ".join(filter(None, place)) for place in places)
