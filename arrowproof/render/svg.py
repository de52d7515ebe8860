"""The SVG of a lifecycle: what a drawing looks like, and how it reads to a screen reader.

Colours and type come from the stylesheet around it, so that both themes share one drawing. Elements are told apart by
``data-state``, ``data-arrow`` (with ``data-from`` and ``data-to``) and ``data-mark``, and numbered by ``data-key``:
``a`` or ``s`` and the place in the file. The box of a folded group has a ``data-group``, and it and a bundle of arrows
the keys of what they stand for in ``data-keys``. An id of a lifecycle can be any string, so it is never a DOM id.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from arrowproof.model.lifecycle import Kind, Lifecycle, State
from arrowproof.render.arrow_svg import arrow_group, cord_group, rounded_path
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Lane, Mark, Point, StateBox
from arrowproof.render.language import Language, load_language
from arrowproof.render.names import arrow_names, distinct_names, group_names, state_name
from arrowproof.render.proof import Proof
from arrowproof.render.scene import Scene, whole_scene
from arrowproof.render.svg_element import element, format_number, sample, text_element
from arrowproof.render.text import clean_text

BOX_RADIUS = 6.0
INNER_INSET = 3.5
KIND_UNITS, MARK_UNITS = 28, 18
"""Units of the width of a state's and of a mark's sample in the legend."""

SHEET = 3.5
"""How much is seen of each sheet under the box of a folded group."""

ICONS: Mapping[Kind, str] = {
    Kind.WAITING: "M-3.6-4.6H3.6M-3.6 4.6H3.6M-2.8-4.6C-2.8-1.4 2.8 1.4 2.8 4.6M2.8-4.6C2.8-1.4-2.8 1.4-2.8 4.6",
    Kind.ACTIVE: "M-2.6-3.8L3.6 0L-2.6 3.8Z",
    Kind.SUCCESS: "M-4.2.4L-1.2 3.4L4.4-3.2",
    Kind.FAILURE: "M-3.4-3.4L3.4 3.4M3.4-3.4L-3.4 3.4",
    Kind.NEUTRAL: "M0-3.6L3.6 0L0 3.6L-3.6 0Z",
}
"""The sign of each kind around (0, 0): an hourglass, a play sign, a check, a cross, a lozenge. Passing is a pill."""

_SAMPLE_BOX = Box(0.8, 0.8, 26.4, 16.4)

STACK = "M-4.2-3.4H4.2M-4.2 0H4.2M-4.2 3.4H4.2"
"""The sign of a folded group: three sheets."""


def render_svg(
    lifecycle: Lifecycle, drawing: Drawing, language: Language | None = None, proof: Proof | None = None
) -> Markup:
    """The drawing of a whole lifecycle as one ``svg`` element, without a stylesheet, its descriptions in a language.

    With a proof the lifecycle is the one that it draws, and each arrow shows where it stands.
    """
    return render_scene(replace(whole_scene(lifecycle, drawing), proof=proof), lifecycle, language)


def render_scene(
    scene: Scene,
    lifecycle: Lifecycle,
    language: Language | None = None,
    is_hidden: bool = False,
) -> Markup:
    """One scene of a lifecycle's page as an ``svg`` element.

    Arrows come first, in file order, then boxes, so that a line never covers a box; a line that crosses an earlier one
    leaves a gap in it.
    """
    language = language or load_language()
    keys = _Keys(scene, lifecycle)
    view = scene.view
    title = language("drawing.title", title=clean_text(lifecycle.title))
    return element(
        "svg",
        {
            "class": "drawing",
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": " ".join(map(format_number, (view.x, view.y, view.width, view.height))),
            "role": "group",
            "data-scene": scene.name,
            "data-fragment": scene.fragment,
            "data-title": clean_text(scene.title) or None,
            "data-parent": scene.parent,
            "data-hub": None if scene.hub is None else keys.names[scene.hub],
            "aria-labelledby": f"{scene.name}-title",
            "aria-describedby": f"{scene.name}-desc",
            "hidden": "hidden" if is_hidden else None,
        },
        element(
            "title", {"id": f"{scene.name}-title"}, f"{title}: {clean_text(scene.title)}" if scene.title else title
        ),
        element("desc", {"id": f"{scene.name}-desc"}, _description(scene, language)),
        *map(_lane, scene.drawing.lanes),
        *_arrows(scene, keys, language),
        *(_mark(mark, keys.arrows_of(mark.arrow)) for mark in scene.drawing.marks),
        *(
            _state(box, scene, keys, language)
            for box in sorted(scene.drawing.states, key=lambda box: keys.states_of(box.id)[0])
        ),
    )


class _Keys:
    """The places in the file of what a scene shows, and the names of states, groups and arrows in the document."""

    def __init__(self, scene: Scene, lifecycle: Lifecycle) -> None:
        self._scene = scene
        self._arrows = {arrow.id: number for number, arrow in enumerate(lifecycle.arrows)}
        self._states = {state.id: number for number, state in enumerate(lifecycle.states)}
        self._members: dict[str, list[int]] = {}
        for number, state in enumerate(lifecycle.states):
            self._members.setdefault(state.group or "", []).append(number)
        self._arrow_names = arrow_names(lifecycle)
        self.names = distinct_names([*self._states, *scene.groups])
        self.groups = group_names(lifecycle)

    def arrows_of(self, arrow_id: str) -> Sequence[int]:
        """The numbers of the arrows that a drawn one stands for."""
        return [self._arrows[each] for each in self._scene.bundles.get(arrow_id, (arrow_id,))]

    def arrow_name(self, arrow_id: str) -> str:
        """The name of a drawn arrow in the document."""
        return self._arrow_names.get(arrow_id) or clean_text(arrow_id)

    def states_of(self, state_id: str) -> Sequence[int]:
        """The numbers of the states that a box stands for."""
        group = self._scene.groups.get(state_id)
        if group is None:
            return [self._states[state_id]]
        page = self._scene.pages.get(group)
        return self._members[group] if page is None else [self._states[state] for state in page]


def kind_sample(kind: Kind) -> Markup:
    """A small box of this kind for the legend."""
    return sample(KIND_UNITS, *_box(State("", kind, "", ""), _SAMPLE_BOX, (14.0, 9.0)), kind=f"state {kind}")


def folded_sample() -> Markup:
    """A small box of a folded group for the legend."""
    return sample(KIND_UNITS, *_stack(_SAMPLE_BOX, None), kind="state folded")


def quiet_sample() -> Markup:
    """A small box of a state outside the group that is shown, for the legend."""
    return sample(KIND_UNITS, *_box(State("", Kind.NEUTRAL, "", ""), _SAMPLE_BOX, None), kind="state quiet")


def mark_sample(mark: str) -> Markup:
    """A small start or removal mark for the legend."""
    return sample(MARK_UNITS, _mark(Mark("", mark, (9.0, 9.0), 6.0)))


def _description(scene: Scene, language: Language) -> str:
    drawn = language(
        "drawing.description",
        states=language.count("count.states", len(scene.drawing.states) - len(scene.groups)),
        arrows=language.count("count.arrows", len(scene.drawing.arrows)),
    )
    return language("drawing.bare", drawn=drawn) if scene.is_bare else drawn


def _arrows(scene: Scene, keys: _Keys, language: Language) -> Iterable[Markup]:
    """All arrows in file order, those of a cord together in the place of the first one."""
    cords: dict[str, list[ArrowPath]] = {}
    for path in sorted(scene.drawing.arrows, key=lambda path: keys.arrows_of(path.id)[0]):
        cords.setdefault(path.cord or path.id, []).append(path)
    for paths in cords.values():
        groups = [
            arrow_group(
                keys.arrows_of(path.id),
                keys.arrow_name(path.id),
                path,
                scene.lifecycle,
                keys.names,
                language,
                scene.proof,
            )
            for path in paths
        ]
        if paths[0].cord is None:
            yield from groups
        else:
            yield cord_group(groups, paths[0], [path.id for path in paths], scene.proof)


def _lane(lane: Lane) -> Markup:
    outline = element("path", {"d": f"{rounded_path((*lane.outline, lane.outline[0]))}Z"})
    return element("g", {"class": "lane"}, outline, *(text_element(line, "sans") for line in lane.name))


def _mark(mark: Mark, arrows: Sequence[int] = ()) -> Markup:
    """A mark with the numbers of the arrows that begin or end there."""
    x, y = mark.center
    keys = " ".join(f"a{number}" for number in arrows) or None
    circle: dict[str, object] = {"cx": x, "cy": y, "r": mark.radius}
    if mark.kind == "start":
        return element("g", {"class": "mark start", "data-mark": "start", "data-keys": keys}, element("circle", circle))
    arm = mark.radius * math.sqrt(0.5)
    cross = f"M{format_number(x - arm)} {format_number(y - arm)}L{format_number(x + arm)} {format_number(y + arm)}"
    cross += f"M{format_number(x + arm)} {format_number(y - arm)}L{format_number(x - arm)} {format_number(y + arm)}"
    circle["r"] = mark.radius - 0.8
    return element(
        "g",
        {"class": "mark removed", "data-mark": "removed", "data-keys": keys},
        element("circle", circle),
        element("path", {"d": cross}),
    )


def _state(drawn: StateBox, scene: Scene, keys: _Keys, language: Language) -> Markup:
    state = scene.lifecycle.states_by_id[drawn.id]
    group = scene.groups.get(drawn.id)
    kind = language(f"kind.{state.kind}") if group is None else language("scene.group")
    spoken = (state_name(state), kind, *(clean_text(line) for line in (state.note or "").rsplit("\n", 1)))
    numbers = keys.states_of(drawn.id)
    place = " focus" if drawn.id == scene.focus else " quiet" if drawn.id in scene.quiet else ""
    return element(
        "g",
        {
            "class": f"state {state.kind if group is None else _folded_classes(group, scene)}{place}",
            "data-key": f"s{numbers[0]}" if group is None else None,
            "data-keys": None if group is None else " ".join(f"s{number}" for number in numbers),
            "data-state": keys.names[drawn.id],
            "data-group": None if group is None else keys.groups.get(group, group),
            "role": "img",
            "aria-label": language("proof.list").join(part for part in spoken if part),
        },
        *(_box(state, drawn.box, drawn.icon) if group is None else _stack(drawn.box, drawn.icon)),
        *(text_element(line, "sans", "name") for line in drawn.label),
        *(text_element(line, "sans", "note") for line in drawn.note),
    )


def _folded_classes(group: str, scene: Scene) -> str:
    return f"folded {scene.tones.get(group, '')}".rstrip()


def _box(state: State, box: Box, icon: Point | None) -> Iterable[Markup]:
    kind = state.kind
    radius = box.height / 2 if kind is Kind.PASSING else min(BOX_RADIUS, box.height / 4)
    yield element("rect", {"class": "box", **_rect(box), "rx": radius})
    if state.terminal or kind in (Kind.SUCCESS, Kind.FAILURE):
        inset = min(INNER_INSET, box.height / 6)
        inner = Box(box.x + inset, box.y + inset, box.width - 2 * inset, box.height - 2 * inset)
        yield element("rect", {"class": "inner", **_rect(inner), "rx": max(radius - 2.5, 1.0)})
    if icon is not None and kind in ICONS:
        yield _icon(ICONS[kind], icon)


def _stack(box: Box, icon: Point | None) -> Iterable[Markup]:
    """The box of a folded group: a sheet on top of two others, whose lower edges are seen."""
    yield element("rect", {"class": "box", **_rect(box), "rx": BOX_RADIUS})
    for place in (1, 2):
        y = format_number(box.bottom - place * SHEET)
        yield element("path", {"class": "sheet", "d": f"M{format_number(box.x)} {y}H{format_number(box.right)}"})
    if icon is not None:
        yield _icon(STACK, icon)


def _icon(shape: str, place: Point) -> Markup:
    x, y = place
    return element(
        "path", {"class": "icon", "d": shape, "transform": f"translate({format_number(x)} {format_number(y)})"}
    )


def _rect(box: Box) -> dict[str, object]:
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
