"""The page: a lifecycle as one self-contained HTML file.

The file asks for nothing: fonts, style and script stand in it, and its Content-Security-Policy lets exactly that one
style and that one script run, by their SHA-256. Every value goes through Jinja's autoescape. The same lifecycle gives
the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from arrowproof import __version__
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.mermaid import write_mermaid
from arrowproof.model.record import record
from arrowproof.render.assets import TEMPLATES, asset
from arrowproof.render.bar import Bar
from arrowproof.render.beads import bead_symbols, verdict_sign
from arrowproof.render.content import Content
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.export import STYLE_MARKERS, drawing_css, file_stem
from arrowproof.render.fonts import font_faces_css
from arrowproof.render.index import index_states
from arrowproof.render.key import key_of_stage
from arrowproof.render.key_picture import key_picture
from arrowproof.render.language import Language, load_language
from arrowproof.render.legend import LegendParts, legend_of_page, legend_widths
from arrowproof.render.lettering import Lettering, letter_page, letter_proof
from arrowproof.render.outline import Outline, outline_lifecycle
from arrowproof.render.packing import Packing, is_light, pack, possible_loads
from arrowproof.render.panel_heights import panels_are_tall
from arrowproof.render.policy import source_hash
from arrowproof.render.proof import Proof, drawn_proof
from arrowproof.render.ruler import are_tall
from arrowproof.render.scene import MARGIN
from arrowproof.render.sheet import UNIT, Sheet, plan_sheet
from arrowproof.render.stage import Stage, set_stage
from arrowproof.render.svg import render_scene
from arrowproof.render.template_bytecode import KeptBytecode
from arrowproof.render.transition_groups import Row, arrow_leads, by_source, list_is_tall
from arrowproof.render.views import noted_views

if TYPE_CHECKING:
    from arrowproof.render.proof_column import ProofColumn
    from arrowproof.render.proof_header import ProofHeader

DRAWING = "drawing.css"
"""The part that a picture of the drawing takes along, with the fonts and the palette."""

STYLES = (
    "sheet.css",
    "header.css",
    DRAWING,
    "column.css",
    "proof.css",
    "key.css",
    "controls.css",
    "tools.css",
    "export.css",
    "media.css",
)
SCRIPTS = (
    "base.js",
    "unpack.js",
    "theme.js",
    "address.js",
    "known.js",
    "menu.js",
    "export.js",
    "png.js",
    "scenes.js",
    "agree.js",
    "places.js",
    "index.js",
    "choice.js",
    "proof.js",
    "key.js",
    "room.js",
    "views.js",
    "keys.js",
    "zoom.js",
    "search.js",
    "link.js",
    "start.js",
)
"""The parts of the one style and the one script, in the order in which they stand."""

GENERATOR = '<meta name="generator" content="Arrowproof '
"""Stands in the first 4096 bytes of every page, so that a page can be told from a file that must not be replaced."""

FAVICON = "data:image/svg+xml," + quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 8h8" stroke="#1f4fd0" stroke-width="2.4"/>'
    '<path d="M15 8 8.5 4v8z" fill="#1f4fd0"/></svg>',
    safe="/=:,'",
)


def render_page(
    lifecycle: Lifecycle,
    drawing: Drawing | None = None,
    language: Language | None = None,
    proof: Proof | None = None,
    stage: Stage | None = None,
) -> str:
    """The page of a lifecycle as HTML text, to be written as UTF-8.

    Args:
        lifecycle: a lifecycle without lint errors.
        drawing: its drawing, or that of the proof's lifecycle with the proof's captions, for a caller that has one
            already; laid out here when left out.
        language: of the interface texts; English when left out.
        proof: the proof of the lifecycle, to be shown on it; of one that is of another lifecycle only the band
            that says so.
        stage: its scenes, for a caller that has set them already; the drawing is not asked for then.

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions to list.
    """
    language = language or load_language()
    parts = plan_page(lifecycle, drawing, language, proof, stage)
    outline, stage, sheet = parts.outline, parts.stage, parts.sheet
    shown = _shown(parts, language)
    data = cache(partial(_data_blocks, lifecycle, stage, parts.column, sheet, language))
    idle = _idle_parts(outline, stage, parts.proof, sheet)
    styles = _styles(lifecycle, parts, idle, language)
    for packing, most_whole in possible_loads(len(lifecycle.states)):
        script = _script(idle if packing is not Packing.NOTHING else {*idle, "unpack.js"})
        page = _template().render(
            **shown,
            policy=content_security_policy(styles, script),
            styles=styles,
            script=script,
            data=data(most_whole),
            packing=packing,
        )
        if is_light(page):
            break
    return page


def _shown(parts: PageParts, language: Language) -> dict[str, object]:
    """What the template is given of a page, however it is packed."""
    stage = parts.stage
    first, *others = (
        render_scene(scene, stage.lifecycle, language, is_hidden=number > 0)
        for number, scene in enumerate(stage.scenes)
    )
    return {
        "version": __version__,
        "favicon": FAVICON,
        "sheet": parts.sheet,
        "outline": parts.outline,
        "text": language,
        "proof": parts.column,
        "bead_symbols": partial(bead_symbols, _signs(parts.column, parts.sheet)),
        "proof_header": parts.header,
        "legend": parts.legend,
        "stage": stage,
        "first_scene": first,
        "hidden_scenes": Markup("").join(others),
        "pack": pack,
        "by_source": by_source,
        "arrow_leads": arrow_leads,
        "list_is_tall": list_is_tall,
        "are_tall": are_tall,
        "panels_are_tall": panels_are_tall,
        "key_picture": partial(key_picture, bounds=stage.scenes[0].drawing.bounds),
        "verdict_sign": verdict_sign,
    }


@record
class PageParts:
    """What a page is made of, with its ``sheet``: the plan of all that shares its screen."""

    outline: Outline
    stage: Stage
    legend: LegendParts
    sheet: Sheet
    proof: Proof | None
    header: ProofHeader | None
    column: ProofColumn | None


def plan_page(
    lifecycle: Lifecycle, drawing: Drawing | None, language: Language, proof: Proof | None, stage: Stage | None = None
) -> PageParts:
    """The parts of a page and their plan; for the arguments see :func:`render_page`."""
    header, column = _shown_proof(lifecycle, proof, language)
    proof = drawn_proof(proof)
    outline = outline_lifecycle(lifecycle, language, proof)
    stage = stage or set_stage(lifecycle, drawing, language, proof)
    outline = replace(outline, views=tuple(noted_views(outline.views, stage.scenes, language)))
    legend = legend_of_page(outline, stage, proof, language)
    key = key_of_stage(stage, outline.arrows, proof, language)
    sheet = plan_sheet(replace(_content(outline, stage, language, header, legend), proof=column, key=key))
    return PageParts(outline, stage, legend, sheet, proof, header, column)


def _styles(lifecycle: Lifecycle, parts: PageParts, idle: set[str], language: Language) -> Markup:
    """The one style of a page, without what it has no use for."""
    lettering = letter_page(parts.outline, lifecycle, language)
    if parts.header is not None:
        lettering = letter_proof(lettering, parts.proof, parts.header, parts.column, parts.sheet.panels)
    measures = (_sheet_css(parts.sheet, parts.stage.frame), _key_css(parts.sheet))
    return Markup("".join((*measures, *_plain_styles(lettering, idle))))


def _shown_proof(
    lifecycle: Lifecycle, proof: Proof | None, language: Language
) -> tuple[ProofHeader | None, ProofColumn | None]:
    """What a proof brings to the header and the column; most pages have none, and do not pay for it.

    One of another lifecycle is shown in no column.
    """
    if proof is None:
        return None, None
    from arrowproof.render.proof_column import proof_column
    from arrowproof.render.proof_header import head_proof

    header = head_proof(proof, language)
    return header, None if proof.is_foreign else proof_column(lifecycle, proof, language)


def _data_blocks(
    lifecycle: Lifecycle,
    stage: Stage,
    column: ProofColumn | None,
    sheet: Sheet,
    language: Language,
    most_whole: int | None,
) -> dict[str, Markup]:
    """What the script reads, by the id of its element; without what this page has none of.

    Of a value that is cut in its table, at most ``most_whole`` characters are kept, and all where it is None.
    """
    blocks: dict[str, object] = {
        "texts": language.script_texts,
        "names": stage.names,
        "export-data": {"name": file_stem(lifecycle.id), "mermaid": write_mermaid(lifecycle)},
    }
    if column is not None:
        from arrowproof.render.proof_data import proof_data, said_once

        blocks["proofs"] = said_once(proof_data(column.heads, sheet.panels, most_whole))
    return {name: _data_block(value) for name, value in blocks.items() if value is not None}


def _idle_parts(outline: Outline, stage: Stage, proof: Proof | None, sheet: Sheet) -> set[str]:
    """The parts of the style and the script that have nothing to do on this page."""
    idle = {"proof.css", "proof.js"} if proof is None else set()
    if stage.names is None:
        idle |= {"tools.css", "keys.js", "zoom.js", "search.js"}
    if len(stage.scenes) == 1:
        idle.add("places.js")
    if not sheet.index.rows:
        idle.add("index.js")
    if not sheet.key.rows:
        idle |= {"key.css", "key.js"}
    if sheet.lists_transitions and not sheet.key.left_out:
        idle.add("room.js")
    return idle if outline.views else {*idle, "views.js"}


def _script(idle: set[str]) -> Markup:
    """The one script, in a function scope of its own."""
    parts = Markup("").join(Markup(asset(name)) for name in SCRIPTS if name not in idle)
    return Markup('(() => {\n"use strict";\n%s})();\n') % parts


def _signs(column: ProofColumn | None, sheet: Sheet) -> set[str]:
    """The beads that the list, the key and the panels of a proof refer to."""
    rungs = {rung.sign for panel in sheet.panels for rung in panel.rungs} | {row.sign for row in sheet.key.rows}
    return rungs if column is None else rungs | {row.sign for row in (*column.sneaks, *column.rows)}


def _plain_styles(lettering: Lettering, idle: set[str]) -> Iterator[str]:
    """The parts of the style that no measure of this page goes into, with the fonts that its texts need."""
    yield f"{font_faces_css({'mono': lettering.mono})}\n"
    for name in STYLES:
        if name == DRAWING:
            yield f"{STYLE_MARKERS[0]}\n{drawing_css(lettering.sans)}{STYLE_MARKERS[1]}\n"
        elif name not in idle:
            yield asset(name)


def content_security_policy(style: str, script: str) -> str:
    """The policy under which only this style and this script run and nothing is fetched."""
    return (
        f"default-src 'none'; style-src {source_hash(style)}; script-src {source_hash(script)}; "
        "font-src data:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _data_block(value: object) -> Markup:
    """JSON for a ``script`` element of data, in which nothing can end the element."""
    return Markup(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c"))


@cache
def _environment() -> Environment:
    loader = FileSystemLoader(TEMPLATES)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, bytecode_cache=KeptBytecode())


def _template() -> Template:
    return _environment().get_template("page.html.j2")


def _sheet_css(sheet: Sheet, frame: Box) -> str:
    width = frame.width + 2 * MARGIN
    height = frame.height + 2 * MARGIN
    return (
        f":root{{--width:{width:.1f};--height:{height:.1f};--ratio:{width / height:.4f};--unit:{UNIT}rem;"
        f"--aside:{sheet.aside:.1f}rem;--widest:{sheet.widest:.1f}rem;--bar:{sheet.bar:.2f}rem;"
        f"--fixed:{sheet.fixed:.2f}rem;--columns:{sheet.list_columns};"
        f"--rows:{sheet.list_rows};--panel-columns:{sheet.panel_columns};--index:{sheet.index.columns};--index-row:{sheet.index.row}rem;--source:{sheet.source_width:.2f}rem}}\n"
    )


def _key_css(sheet: Sheet) -> str:
    key = sheet.key
    return f":root{{--key:{key.columns};--key-row:{key.row}rem;--key-whole:{key.whole}}}\n" if key.rows else ""


def _content(
    outline: Outline, stage: Stage, language: Language, header: ProofHeader | None, legend: LegendParts
) -> Content:
    """What of an outline and of a proof takes room that a sheet has to plan for."""
    either = f" {language('transitions.or')} "
    content = Content(
        id=outline.id,
        title=outline.title,
        summary=outline.summary,
        captions=tuple(count.caption for count in outline.counts),
        rows=tuple(Row(row.address, row.source, row.target, either.join(row.paths)) for row in outline.transitions),
        facts=tuple((fact.name, fact.value) for fact in outline.facts),
        panels=outline.panels,
        bounds=stage.frame,
        bar=Bar(
            places=stage.places,
            views=(language("views.whole"), *(view.title for view in outline.views)) if outline.views else (),
            notes=tuple(view.note for view in outline.views),
        ),
        legend=legend_widths(legend),
        index=index_states(stage, language),
    )
    if header is None:
        return content
    content = replace(
        content,
        origin=tuple(fact.spoken for fact in header.origin),
        stale=(language("stale.heading"), *header.stale) if header.stale else (),
    )
    if not header.verdict:
        return content
    return replace(
        content,
        captions=tuple(figure.caption for figure in header.figures),
        numbers=tuple(figure.number for figure in header.figures),
        verdict=(
            f"{header.verdict} {language('verdict.stale')}" if header.stale else header.verdict,
            header.transitions,
        ),
    )
