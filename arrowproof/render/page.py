"""The page: a lifecycle as one self-contained HTML file.

The file asks for nothing: fonts, style and script stand in it, and its Content-Security-Policy lets exactly that one
style and that one script run, by their SHA-256. Every value goes through Jinja's autoescape. The same lifecycle gives
the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from arrowproof import __version__
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, State
from arrowproof.model.transitions import CREATED, REMOVED, Transition, derive_transitions
from arrowproof.render.drawing import Drawing
from arrowproof.render.fonts import font_faces_css
from arrowproof.render.palette import palette_css
from arrowproof.render.sheet import UNIT, Content, Row, Sheet, plan_sheet
from arrowproof.render.svg import MARGIN, endpoint_name, kind_sample, mark_sample, render_svg
from arrowproof.render.text import clean_text

TEMPLATES = Path(__file__).parent / "templates"

HASH_LENGTH = 8
"""Characters of the model's SHA-256 that a page shows: enough to tell two versions of one file apart."""

GENERATOR = '<meta name="generator" content="Arrowproof '
"""Stands in the first 4096 bytes of every page, so that a page can be told from a file that must not be replaced."""

MAX_PATHS = 3
"""Arrow paths of one transition that the list shows; the others are counted."""

FAVICON = "data:image/svg+xml," + quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 8h8" stroke="#1f4fd0" stroke-width="2.4"/>'
    '<path d="M15 8 8.5 4v8z" fill="#1f4fd0"/></svg>',
    safe="/=:,'",
)


@dataclass(frozen=True)
class _Count:
    number: int
    caption: str

    @property
    def spoken(self) -> str:
        return f"{self.number} {self.caption}"


@dataclass(frozen=True)
class _Listed:
    """A transition as the list shows it; ``arrows`` are the numbers of all arrows that it walks over."""

    source: str
    target: str
    paths: tuple[str, ...]
    arrows: str


@dataclass(frozen=True)
class _Fact:
    name: str
    value: str


@dataclass(frozen=True)
class _Sample:
    name: str
    sample: Markup


@dataclass(frozen=True)
class _ArrowRow:
    id: str
    source: str
    target: str
    label: str


def render_page(lifecycle: Lifecycle, drawing: Drawing | None = None) -> str:
    """The page of a lifecycle as HTML text, to be written as UTF-8.

    Args:
        lifecycle: a lifecycle without lint errors.
        drawing: its drawing, for a caller that has one already; laid out here when left out.

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions to list.
    """
    if drawing is None:
        from arrowproof.render.layout import layout_lifecycle  # who brings a drawing need not load Graphviz

        drawing = layout_lifecycle(lifecycle)
    transitions = derive_transitions(lifecycle)
    listed = tuple(_listed(transition, lifecycle) for transition in transitions)
    counts = _counts(lifecycle, transitions)
    facts = _facts(lifecycle)
    content = Content(
        id=clean_text(lifecycle.id),
        title=clean_text(lifecycle.title),
        summary=clean_text(lifecycle.summary),
        captions=tuple(count.caption for count in counts),
        rows=tuple(Row(f"{row.source} → {row.target}", row.paths) for row in listed),
        facts=tuple((fact.name, fact.value) for fact in facts),
        panels=lifecycle.panels,
        bounds=drawing.bounds,
    )
    sheet = plan_sheet(content)
    styles = Markup("\n".join((font_faces_css(), palette_css(), _sheet_css(sheet, drawing), _asset("page.css"))))
    script = Markup(_asset("page.js"))
    return _template().render(
        policy=content_security_policy(styles, script),
        version=__version__,
        favicon=FAVICON,
        styles=styles,
        script=script,
        sheet=sheet,
        id=content.id,
        title=content.title,
        summary=content.summary,
        model_hash=lifecycle.origin.sha256[:HASH_LENGTH],
        counts=counts,
        drawing=render_svg(lifecycle, drawing),
        marks=_marks(lifecycle),
        syntax=_syntax(lifecycle.arrows),
        kinds=_kinds(lifecycle.states),
        heading=f"{_counted(len(transitions), 'transition')} over {_counted(len(lifecycle.arrows), 'arrow')}",
        transitions=listed,
        binding=facts,
        panels=lifecycle.panels,
        arrows=tuple(_arrow_row(arrow, lifecycle) for arrow in lifecycle.arrows),
    )


def content_security_policy(style: str, script: str) -> str:
    """The policy under which only this style and this script run and nothing is fetched."""
    return (
        f"default-src 'none'; style-src {_source_hash(style)}; script-src {_source_hash(script)}; "
        "font-src data:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


@cache
def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters["clean"] = clean_text
    return environment


def _template() -> Template:
    return _environment().get_template("page.html.j2")


def _sheet_css(sheet: Sheet, drawing: Drawing) -> str:
    width = drawing.bounds.width + 2 * MARGIN
    height = drawing.bounds.height + 2 * MARGIN
    return (
        f":root{{--width:{width:.1f};--height:{height:.1f};--ratio:{width / height:.4f};--unit:{UNIT}rem;"
        f"--aside:{sheet.aside:.1f}rem;--fixed:{sheet.fixed:.2f}rem;--columns:{sheet.list_columns};"
        f"--rows:{sheet.list_rows};--panel-columns:{sheet.panel_columns}}}\n"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _counts(lifecycle: Lifecycle, transitions: Sequence[Transition]) -> tuple[_Count, ...]:
    passing = len(lifecycle.states) - len(lifecycle.stored_states)
    states = _counted(len(lifecycle.states), "state").split()[1]
    return (
        _Count(len(lifecycle.states), f"{states}, {passing} passing" if passing else states),
        _Count(len(lifecycle.arrows), _counted(len(lifecycle.arrows), "arrow").split()[1]),
        _Count(len(transitions), _counted(len(transitions), "transition").split()[1]),
    )


def _listed(transition: Transition, lifecycle: Lifecycle) -> _Listed:
    numbers = {arrow.id: number for number, arrow in enumerate(lifecycle.arrows)}
    over = sorted({numbers[arrow] for path in transition.paths for arrow in path})
    return _Listed(
        source=_end(transition.source, CREATED),
        target=_end(transition.target, REMOVED),
        paths=_shown_paths(transition.paths),
        arrows=" ".join(map(str, over)),
    )


def _end(state_id: str | None, without: str) -> str:
    return without if state_id is None else clean_text(state_id) or '""'


def _shown_paths(paths: Sequence[Sequence[str]]) -> tuple[str, ...]:
    shown = [", ".join(clean_text(arrow) for arrow in path) for path in paths[:MAX_PATHS]]
    hidden = len(paths) - len(shown)
    return (*shown, f"{hidden} more") if hidden else tuple(shown)


def _facts(lifecycle: Lifecycle) -> tuple[_Fact, ...]:
    binding = lifecycle.binding
    if binding is None:
        return ()
    facts = [_Fact("table", binding.table), _Fact("key", ", ".join(binding.key)), _state_fact(binding)]
    if binding.watch:
        facts.append(_Fact("watched", ", ".join(binding.watch)))
    values = [f"{state.id} = {_value(state)}" for state in lifecycle.stored_states if state.value != state.id]
    if values:
        facts.append(_Fact("values", ", ".join(values)))
    return tuple(_Fact(fact.name, clean_text(fact.value)) for fact in facts)


def _state_fact(binding: Binding) -> _Fact:
    return _Fact("state", binding.state if binding.state is not None else binding.state_sql or "")


def _value(state: State) -> str:
    return "null" if state.value is None else str(state.value)


def _marks(lifecycle: Lifecycle) -> tuple[_Sample, ...]:
    marks = []
    if any(arrow.source is None for arrow in lifecycle.arrows):
        marks.append(_Sample(CREATED, mark_sample("start")))
    if any(arrow.target is None for arrow in lifecycle.arrows):
        marks.append(_Sample(REMOVED, mark_sample("removed")))
    return tuple(marks)


def _syntax(arrows: Sequence[Arrow]) -> str:
    """How a label reads, with the parts that occur; nothing when labels are events alone."""
    guard = any(arrow.guard for arrow in arrows)
    effect = any(arrow.effect for arrow in arrows)
    if not (guard or effect):
        return ""
    parts = (
        "event" if any(arrow.event for arrow in arrows) else "",
        "[guard]" if guard else "",
        "/ effect" if effect else "",
    )
    return " ".join(part for part in parts if part)


def _kinds(states: Sequence[State]) -> tuple[_Sample, ...]:
    present = {state.kind for state in states}
    return tuple(_Sample(str(kind), kind_sample(kind)) for kind in Kind if kind in present)


def _arrow_row(arrow: Arrow, lifecycle: Lifecycle) -> _ArrowRow:
    return _ArrowRow(
        id=clean_text(arrow.id),
        source=endpoint_name(arrow.source, lifecycle, CREATED),
        target=endpoint_name(arrow.target, lifecycle, REMOVED),
        label=clean_text(arrow.label),
    )
