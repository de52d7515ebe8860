"""The scenes of a page whose lifecycle is too large to be read as a whole.

It opens with an overview, in which each group is one box, or with the whole at small text when it has no groups, and
then a crowd of arrows with the same ends is one arrow. Where even so lines could not be told apart, the states stand in
parts, which are like groups but for their names. Labels that could not be read there are left out. Behind it
stand a scene for each group, with what its arrows lead to outside, one for each view, with nothing but what is in it,
and a focus view for each state. Every scene but an overview of very many states has text of full size. What is too
large for that is said by less: neighbours outside a group fold to their groups, and a group that still cannot be read
is a catalog of its states. Neighbours that are too many for one focus view stand on pages behind it. A view that cannot
be read has no scene; it is seen in the others, where what is not in it steps back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial

from arrowproof.model.lifecycle import Lifecycle, State
from arrowproof.model.record import record
from arrowproof.render.bundles import bundle_proof, lowest_gap
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.language import Language
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.bare import Bare, bare_drawing, has_specks
from arrowproof.render.layout.catalog import catalog_drawing
from arrowproof.render.layout.focus import focus_drawing
from arrowproof.render.layout.fold import (
    Fold,
    arrows_inside,
    fold_crowds,
    fold_groups,
    fold_neighbours,
    foldable_groups,
    inside_words,
    open_group,
)
from arrowproof.render.layout.forms import is_crowded, is_thicket
from arrowproof.render.layout.hub_pages import Hub, HubPage
from arrowproof.render.layout.parts import grouped_by, part_states
from arrowproof.render.layout.placements import MOST_SEARCHED
from arrowproof.render.names import distinct_names, group_names, state_name, view_names
from arrowproof.render.proof import Proof, rung_words
from arrowproof.render.quality import (
    MAX_SCALE,
    MAX_SCENES,
    READABLE_SCALE,
    SMALL_ARROWS,
    SMALL_STATES,
    TARGET_HEIGHT,
    TARGET_WIDTH,
    fit_scale,
    is_read,
)
from arrowproof.render.scene import Scene, framed, whole_scene
from arrowproof.render.standing import ArrowStanding
from arrowproof.render.views import view_part

_MOST = _MOST_BOXES, _MOST_ARROWS = 20, 34
"""A scene of a group or a view with more is not tried; it would be laid out for long, and could not be read."""
_MOST_LABELS = 300
"""The whole is not tried with more labels than this: no screen would show them large enough to be read."""
_MANY_GROUPS, _HURRIED = 12, (SMALL_STATES, SMALL_ARROWS)
"""On a page of more groups their scenes are searched only once, and with their neighbours as states only up to this."""

_LEAST_WIDTH, _LEAST_HEIGHT = TARGET_WIDTH / MAX_SCALE, TARGET_HEIGHT / MAX_SCALE
"""A small scene stands in this much of the plane, so that its text does not shout."""


MAX_VIEWS = 20
"""Views that have a scene of their own, the first ones in the file; each takes its time and its part of the page."""


def plan_scenes(
    lifecycle: Lifecycle, whole: Drawing | None, language: Language, proof: Proof | None = None
) -> tuple[Scene, ...]:
    """The scenes of a page, the one that it opens with first.

    Args:
        lifecycle: what is drawn; with a proof, the lifecycle that this draws. It has states.
        whole: the drawing of all of it, for a caller that has it; laid out here where no group folds.
        language: of the words that are drawn.
        proof: what each arrow shows.
    """
    plan = _Plan(lifecycle, language, proof)
    first = plan.overview() if plan.groups else plan.whole(whole)
    if first is None:
        plan = plan.parted()
        first = plan.overview()
    return (first, *plan.group_scenes(), *plan.view_scenes(), *plan.focus_scenes())


_BAR_SHARE = 0.06
"""Of the scale: what the bar above the drawing of a large model may take from it."""


@record
class _Plan:
    """What all scenes of a page are made of."""

    lifecycle: Lifecycle
    language: Language
    proof: Proof | None
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def parted(self) -> _Plan:
        """The same with parts in place of groups, by name."""
        parts = part_states(self.lifecycle)
        return replace(self, lifecycle=grouped_by(self.lifecycle, parts), parts=parts)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups that fold, none when folding would leave a single box."""
        groups = foldable_groups(self.lifecycle)
        others = [state for state in self.lifecycle.states if state.group not in groups]
        return groups if len(groups) + len(others) > 1 else ()

    @cached_property
    def group_names(self) -> Mapping[str, str]:
        """The groups as the document names them."""
        return group_names(self.lifecycle)

    @property
    def captions(self) -> Mapping[str, str]:
        return self.proof.captions if self.proof is not None else {}

    @cached_property
    def apart(self) -> frozenset[str]:
        """Sneak paths are never drawn together with other arrows, nor put away inside a group."""
        return frozenset(self.proof.sneak_paths) if self.proof is not None else frozenset()

    @cached_property
    def _ways(self) -> Sequence[tuple[Sequence[str], bool, tuple[int, int]]]:
        """The ways to draw a group: what is folded, whether that is searched only once, and the most that is tried."""
        if self.parts:
            return ((), True, _HURRIED), (self.groups, True, _MOST)
        if len(self.groups) <= _MANY_GROUPS:
            return ((), False, _MOST), (self.groups, False, _MOST)
        return ((), True, _HURRIED), (self.groups, True, _MOST), (self.groups, False, _MOST)

    def whole(self, drawing: Drawing | None) -> Scene | None:
        """The whole in this drawing, or with each crowd of arrows as one where the drawing is too small to read.

        None where its lines are so near to each other that they could not be told apart.
        """
        fold = Fold(self.lifecycle)
        if drawing is None and len(self.lifecycle.states) <= MOST_SEARCHED and is_thicket(self.lifecycle):
            return None
        scene = None
        if drawing is not None or len(self.lifecycle.states) <= MOST_SEARCHED:
            drawing = drawing or layout_lifecycle(self.lifecycle, self.captions)
            scene = replace(whole_scene(self.lifecycle, drawing), proof=self.proof, is_overview=True)
        if (scene is None or not is_read(scene.drawing)) and is_crowded(self.lifecycle):
            fold = fold_crowds(self.lifecycle, self.language, self.apart)
            if len(fold.lifecycle.arrows) <= _MOST_LABELS:
                folded = self._folded("overview", fold)
                if scene is None or fit_scale(folded.drawing.bounds) > fit_scale(scene.drawing.bounds):
                    scene = replace(folded, is_overview=_is_small(folded))
        if scene is None or has_specks(scene.drawing):
            bare = bare_drawing(fold.lifecycle, scene.drawing if scene else None)
            if bare is not None and not bare.is_apart:
                return None
            scene = self._bare(fold, scene, bare) or scene or self._folded("overview", fold)
        return replace(scene, title=self.language("scene.overview"))

    def overview(self) -> Scene:
        notes = {group: self._note(group) for group in self.groups}
        fold = fold_groups(self.lifecycle, notes, self.language, self.apart)
        scene = self._folded("overview", fold, is_hurried=bool(self.parts))
        if has_specks(scene.drawing):
            scene = self._bare(fold, scene, bare_drawing(fold.lifecycle, scene.drawing, has_notes=True)) or scene
        tones = {group: gap.rung.tone for group, gap in self.gaps.items()}
        return replace(scene, title=self.language("scene.overview"), is_overview=_is_small(scene), tones=tones)

    def _bare(self, fold: Fold, labelled: Scene | None, bare: Bare | None) -> Scene | None:
        """An overview without labels, None where there is no such drawing."""
        name = "overview" if labelled is None else labelled.name
        return None if bare is None else replace(self._scene(name, fold, bare.drawing), is_overview=True)

    def _note(self, group: str) -> str:
        words = [inside_words(self.lifecycle, group, self.language)]
        if group in self.gaps:
            words.append(rung_words(self.gaps[group], self.language))
        return self.language("proof.list").join(words)

    @cached_property
    def gaps(self) -> Mapping[str, ArrowStanding]:
        """What keeps a group from being quiet: the lowest of the arrows inside, where these do not all hold."""
        if self.proof is None:
            return {}
        gaps = {group: lowest_gap(self.proof, arrows_inside(self.lifecycle, group)) for group in self.groups}
        return {group: gap for group, gap in gaps.items() if gap is not None}

    def group_scenes(self) -> Iterator[Scene]:
        for number, group in enumerate(self.groups):
            scene = self._group_scene(f"g{number}", group)
            yield replace(scene, title=group, address=("group", self.group_names[group]))

    def _group_scene(self, name: str, group: str) -> Scene:
        """The group with its neighbours as states, or in their groups, or without arrows: the first that is read."""
        for folded, is_hurried, (most_boxes, most_arrows) in self._ways:
            fold = open_group(self.lifecycle, group, self.language, folded, self.apart)
            if len(fold.lifecycle.states) <= most_boxes and len(fold.lifecycle.arrows) <= most_arrows:
                scene = self._folded(name, fold, is_hurried, must_be_read=True)
                if is_read(scene.drawing):
                    inside = {state.id for state in self.lifecycle.states if state.group == group}
                    return replace(scene, quiet=frozenset(scene.lifecycle.states_by_id) - inside)
        states = tuple(state for state in self.lifecycle.states if state.group == group)
        part = replace(self.lifecycle, states=tuple(map(self._counted, states)), arrows=(), views=())
        drawing = catalog_drawing(part.states)
        return Scene(name, part, drawing, _frame(drawing))

    def view_scenes(self) -> Iterator[Scene]:
        names = view_names(self.lifecycle)
        free = MAX_SCENES - 1 - len(self.groups) - len(self.lifecycle.states)
        for number, view in enumerate(self.lifecycle.views[: max(0, min(MAX_VIEWS, free))]):
            part = view_part(view, self.lifecycle, self.apart)
            if len(part.states) <= _MOST_BOXES and len(part.arrows) <= _MOST_ARROWS:
                # Without lanes, as every part of the lifecycle is drawn.
                alone = tuple(replace(state, group=None) for state in part.states)
                scene = self._folded(f"v{number}", Fold(replace(part, states=alone)), must_be_read=True)
                if is_read(scene.drawing):
                    yield replace(scene, title=view.title, address=("view", names[view.id]))

    def focus_scenes(self) -> Iterator[Scene]:
        names = distinct_names(state.id for state in self.lifecycle.states)
        taken = {*self.group_names, *self.group_names.values()}
        for number, state in enumerate(self.lifecycle.states):
            scene, pages = self._focused(f"s{number}", state.id, taken)
            behind = [each for page in pages for each in page.all]
            taken |= {page.name for page in behind}
            for place, page in enumerate(page for page in behind if page.is_box):
                shown = self._focus_scene(f"s{number}p{place}", state.id, page.fold, page.pages)
                yield replace(shown, title=page.name, address=("group", page.name))
            yield replace(
                scene,
                title=state_name(state),
                address=("state", names[state.id]),
                parent=self.group_names[state.group] if state.group in self.groups else None,
            )

    def _focused(self, name: str, state_id: str, taken: Collection[str]) -> tuple[Scene, tuple[HubPage, ...]]:
        """The focus view of a state with everything at it, or its neighbours in their groups, or its pages."""
        scene = self._focus_scene(name, state_id, Fold(self.lifecycle))
        if not is_read(scene.drawing) and self.groups:
            fold = fold_neighbours(self.lifecycle, state_id, self.language, self.apart)
            scene = self._focus_scene(name, state_id, fold)
        if is_read(scene.drawing):
            return scene, ()
        draw = partial(self._focus_drawing, state_id)
        hub = Hub(self.lifecycle, state_id, self.language, draw, self.apart, taken)
        pages = hub.pages()
        return self._focus_scene(name, state_id, hub.fold(pages), pages), pages

    def _focus_drawing(self, state_id: str, fold: Fold) -> Drawing:
        proof = self._bundled(fold)
        return focus_drawing(fold.lifecycle, state_id, proof.captions if proof is not None else {})

    def _focus_scene(self, name: str, state_id: str, fold: Fold, pages: Sequence[HubPage] = ()) -> Scene:
        drawing = self._focus_drawing(state_id, fold)
        return Scene(
            name=name,
            lifecycle=fold.lifecycle,
            drawing=drawing,
            view=_frame(drawing),
            focus=state_id,
            groups=fold.groups,
            bundles=fold.bundles,
            pages={**{page.name: page.states for page in pages}, **self._parts_in(fold)},
            proof=self._bundled(fold),
        )

    def _folded(self, name: str, fold: Fold, is_hurried: bool = False, must_be_read: bool = False) -> Scene:
        proof = self._bundled(fold)
        captions = proof.captions if proof is not None else {}
        drawing = layout_lifecycle(fold.lifecycle, captions, is_hurried=is_hurried, must_be_read=must_be_read)
        return self._scene(name, fold, drawing)

    def _scene(self, name: str, fold: Fold, drawing: Drawing) -> Scene:
        return Scene(
            name=name,
            lifecycle=fold.lifecycle,
            drawing=drawing,
            view=_frame(drawing),
            groups=fold.groups,
            bundles=fold.bundles,
            pages=self._parts_in(fold),
            proof=self._bundled(fold),
        )

    def _parts_in(self, fold: Fold) -> Mapping[str, tuple[str, ...]]:
        """The states of the parts that are boxes of a fold; the lifecycle of the page does not know these groups."""
        return {name: self.parts[name] for name in fold.groups.values() if name in self.parts}

    def _bundled(self, fold: Fold) -> Proof | None:
        if self.proof is None or not fold.bundles:
            return self.proof
        return bundle_proof(self.proof, fold.bundles, self.language)

    def _counted(self, state: State) -> State:
        """The state with the numbers of its arrows in place of its note."""
        incoming = sum(arrow.target == state.id for arrow in self.lifecycle.arrows)
        outgoing = sum(arrow.source == state.id for arrow in self.lifecycle.arrows)
        return replace(state, note=self.language("scene.ends", incoming=incoming, outgoing=outgoing))


def _is_small(scene: Scene) -> bool:
    """Whether the text of an overview may be too small to read."""
    return fit_scale(scene.drawing.bounds) < READABLE_SCALE + _BAR_SHARE


def _frame(drawing: Drawing) -> Box:
    return framed(drawing.bounds, _LEAST_WIDTH, _LEAST_HEIGHT)
