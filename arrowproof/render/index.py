"""The index: the states of a large lifecycle as links to their focus views, beside the overview.

It stands by group, or by kind where there are no groups; where an overview has parts in their place, by these. Lengths
are rem; the stylesheet (``column.css``) holds the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from arrowproof.model.lifecycle import Kind, State
from arrowproof.model.record import record
from arrowproof.render.language import Language
from arrowproof.render.names import group_names
from arrowproof.render.ruler import SLACK, Ruler
from arrowproof.render.stage import Stage
from arrowproof.render.text import clean_text, text_width

NAME = 6.4
"""The width of the name of a row that has links."""

_HEAD = 1.45 + 0.25
"""The heading with the gap below it."""
_SIZE, _LINE = 0.9, 1.3
_GAP = 1.0
"""Between two columns of links."""
_RULE = 0.07
_CLOSE = 0.1
"""The padding of rows that are set closer."""


@record
class Link:
    """A name and the fragment of the page's address that shows what it names."""

    name: str
    fragment: str


@record
class IndexRow:
    """A group, a part or a kind: its name, the fragment of its own scene if it has one, and its states.

    ``count`` says in words how many there are. A state that stands by itself among parts has no links but its own, and
    its count is that of its arrows.
    """

    name: str
    fragment: str | None
    count: str
    links: tuple[Link, ...]


@record
class Index:
    """The rows, each with padding ``row``. Their links stand in ``columns``; without columns each counts its states."""

    rows: tuple[IndexRow, ...] = ()
    columns: int = 0
    row: float = 0.0


def index_states(stage: Stage, language: Language) -> Index:
    """The index of a page of several scenes, empty on any other page."""
    shown = {
        scene.focus: Link(clean_text(scene.title), scene.fragment or "")
        for scene in stage.scenes
        if scene.focus is not None and scene.hub is None
    }
    opened = {scene.address: scene.fragment for scene in stage.scenes if scene.address is not None}
    if stage.scenes[0].pages:
        return Index(tuple(_rows_of_parts(stage, shown, language)))
    names = group_names(stage.lifecycle)
    rows = []
    for name, group, states in _parts(stage.lifecycle.states, language):
        links = tuple(shown[state.id] for state in states if state.id in shown)
        fragment = opened.get(("group", names[group])) if group is not None else None
        if links:
            rows.append(IndexRow(name, fragment, language.count("count.states", len(states)), links))
    return Index(tuple(rows))


def _rows_of_parts(stage: Stage, shown: Mapping[str, Link], language: Language) -> Iterator[IndexRow]:
    """The parts of an overview and the states that stand there by themselves, in the order of the file."""
    parts = stage.scenes[0].pages
    opened = {scene.title: scene.fragment for scene in stage.scenes if scene.title in parts}
    name_of = {state: name for name, states in parts.items() for state in states}
    named = set()
    for state in stage.lifecycle.states:
        name = name_of.get(state.id)
        if name is None:
            arrows = sum(state.id in (arrow.source, arrow.target) for arrow in stage.lifecycle.arrows)
            link = shown[state.id]
            yield IndexRow(link.name, link.fragment, language.count("count.arrows", arrows), ())
        elif name not in named:
            named.add(name)
            count = language.count("count.states", len(parts[name]))
            yield IndexRow(name, opened.get(name), count, tuple(shown[each] for each in parts[name]))


def _parts(states: Sequence[State], language: Language) -> Iterator[tuple[str, str | None, Sequence[State]]]:
    """The parts in which states stand: name, group if it is one, and its states in file order."""
    groups = dict.fromkeys(state.group for state in states if state.group is not None)
    if not groups:
        for kind in Kind:
            yield language(f"kind.{kind}"), None, [state for state in states if state.kind is kind]
        return
    for group in groups:
        yield clean_text(group), group, [state for state in states if state.group == group]
    yield language("index.others"), None, [state for state in states if state.group is None]


def fit_index(index: Index, width: float, height: float, row: float, ruler: Ruler) -> Index:
    """The index as it fits: with its links, else with the scenes of its groups alone, each set closer before it goes.

    Args:
        index: with all its rows.
        width: of the column.
        height: that is left in the column.
        row: the padding of a row that is not set closer.
        ruler: what measures the names.
    """
    widest = max((text_width(link.name, _SIZE) for each in index.rows for link in each.links), default=0.0)
    columns = 2 if widest <= (width - NAME - _GAP) / 2 * SLACK else 1
    scenes = tuple(each for each in index.rows if each.fragment is not None)
    for (rows, count), padding in product(((index.rows, columns), (scenes, 0)), (row, min(row, _CLOSE))):
        planned = Index(rows, count, padding)
        if rows and index_height(planned, width, ruler) <= height:
            return planned
    return Index()


def index_height(index: Index, width: float, ruler: Ruler) -> float:
    """The height of an index in a column of this width."""
    return _HEAD + sum(_row_height(each, index.columns, width, ruler) + 2 * index.row + _RULE for each in index.rows)


def _row_height(row: IndexRow, columns: int, width: float, ruler: Ruler) -> float:
    if not columns:
        return _LINE * ruler.lines(row.name, width - _GAP - text_width(row.count, _SIZE) / SLACK, _SIZE, 500)
    name = ruler.lines(row.name, NAME - _GAP, _SIZE)
    room = width - NAME
    each = (room - _GAP * (columns - 1)) / columns
    lines = [max(1, ruler.lines(link.name, each, _SIZE)) for link in row.links]
    tallest = (max(lines[start : start + columns]) for start in range(0, len(lines), columns))
    return _LINE * max(name, sum(tallest))
