"""``arrowproof render``: the page, and the drawing by itself."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from arrowproof.cli.output import (
    emit_json,
    json_option,
    language_option,
    model_argument,
    model_path,
    printable,
    working,
    write_file,
)
from arrowproof.cli.proof_file import evidence_option, read_proof, stale_sentences
from arrowproof.errors import HOLDS, InputError
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.mermaid import MOST_DRAWN, is_drawn, is_mermaid, write_mermaid
from arrowproof.model.record import record
from arrowproof.render.drawing import Drawing
from arrowproof.render.export import (
    PIXELS_PER_UNIT,
    Theme,
    export_png,
    export_svg,
    file_stem,
    is_exported_png,
    is_exported_svg,
    png_pixels,
)
from arrowproof.render.language import load_language
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.packing import MOST_BYTES, MOST_STATES
from arrowproof.render.page import GENERATOR, render_page
from arrowproof.render.proof import Proof, drawn_proof
from arrowproof.render.stage import set_stage
from arrowproof.render.svg import render_svg

STANDARD_OUTPUT = Path("-")
"""The name that means standard output; a file of this name is ``./-``."""


def is_page(head: bytes) -> bool:
    """Whether a file starts like a page that this command made."""
    return GENERATOR.encode() in head


@record
class Format:
    """What a lifecycle can be drawn as: its suffixes, the usual one first, and how a file of ours begins."""

    name: str
    suffixes: tuple[str, ...]
    is_ours: Callable[[bytes], bool]
    has_theme: bool = False


FORMATS = {
    made.name: made
    for made in (
        Format("html", (".html", ".htm"), is_page),
        Format("svg", (".svg",), is_exported_svg, has_theme=True),
        Format("png", (".png",), is_exported_png, has_theme=True),
        Format("mermaid", (".mmd", ".mermaid"), is_mermaid),
    )
}


@click.command()
@model_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The file; the model's id with the format's suffix when left out, standard output for `-`.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    help="What to write; when left out, what the suffix of the output says, and the page without one.",
)
@click.option(
    "--theme",
    type=click.Choice([theme.value for theme in Theme]),
    help="The theme of a picture. Without it an SVG follows its viewer, and a PNG is light.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there even if this command did not make it.")
@evidence_option
@language_option
@json_option
def command(
    model: str,
    output: Path | None,
    format_name: str | None,
    theme: str | None,
    force: bool,
    evidence: Path | None,
    lang: str,
    as_json: bool,
) -> int:
    """Draw the lifecycle file MODEL as one self-contained HTML page: no request, light and dark, fits the screen.

    Or only its drawing: as an SVG that follows the viewer's theme, as a PNG at two pixels to the unit (through
    Chromium), or as the text of a Mermaid state diagram.

    \b
    Example:
      arrowproof render lifecycle.json -o lifecycle.html
      arrowproof render lifecycle.json --evidence arrowproof-out/evidence.json
      arrowproof render lifecycle.json -o docs/lifecycle.svg
      arrowproof render lifecycle.json -o dark.png --theme dark
      arrowproof render lifecycle.json --format mermaid -o -
    """
    made = _chosen_format(format_name, output)
    _check_options(made, theme, evidence)
    if output == STANDARD_OUTPUT:
        _check_standard_output(made, as_json)
    lifecycle = load_lifecycle(model_path(model))
    proof = None if evidence is None else read_proof(evidence, lifecycle, lang)
    _check_output_is_no_input(output, (model_path(model), evidence))
    with working(f"drawing {lifecycle.id}"):
        content, drawing = _make(made, lifecycle, lang, Theme(theme) if theme else None, proof)
    stale = stale_sentences(proof)
    if stale:
        click.echo(printable(f"warning: {evidence} is stale. {' '.join(stale)}"), err=True)
    if output == STANDARD_OUTPUT:
        click.echo(content, nl=False)
        return HOLDS
    path = output or Path(f"{file_stem(lifecycle.id)}{made.suffixes[0]}")
    write_file(path, content, is_ours=made.is_ours, force=force)
    if as_json:
        _emit(made, path, content, drawing, None if proof is None else stale)
    else:
        click.echo(f"wrote {printable(str(path))} ({_size(content)}{_remark(made, lifecycle, content, drawing)})")
    return HOLDS


def _chosen_format(name: str | None, output: Path | None) -> Format:
    """The format that was asked for by its name or by the suffix of the output.

    Raises:
        InputError: the two say different things, or the suffix alone says nothing that is known.
    """
    suffix = output.suffix.lower() if output else ""
    by_suffix = next((made for made in FORMATS.values() if suffix in made.suffixes), None)
    if name is None and suffix and by_suffix is None:
        known = ", ".join(made.suffixes[0] for made in FORMATS.values())
        raise InputError(
            f"{output} is named like nothing that can be drawn. Name a file that ends in one of {known},"
            " or say what it is by --format"
        )
    if name is None:
        return by_suffix or FORMATS["html"]
    chosen = FORMATS[name]
    if by_suffix not in (None, chosen):
        raise InputError(
            f"--format says {name}, and {output} is named like {by_suffix.name}."
            f" Leave --format out, or name a file that ends in {chosen.suffixes[0]}"
        )
    return chosen


def _check_options(made: Format, theme: str | None, evidence: Path | None) -> None:
    if theme and not made.has_theme:
        raise InputError(
            f"--theme is for pictures, and this would be {made.name}."
            " Leave it out, or name a file that ends in .svg or .png"
        )
    if evidence is not None and made.name == "mermaid":
        raise InputError("a Mermaid text shows no evidence. Leave --evidence out, or choose html, svg or png")


def _check_output_is_no_input(output: Path | None, inputs: Sequence[Path | None]) -> None:
    """What a drawing is made of is never lost for it, by --force either."""
    for read in inputs:
        if output is not None and read is not None and _is_same_file(output, read):
            raise InputError(f"{output} is what the drawing is made of. Name another file for the drawing")


def _is_same_file(output: Path, read: Path) -> bool:
    """Whether both names mean one file; one that means none, or cannot be, is for the writing to complain of."""
    try:
        return output.samefile(read)
    except OSError:
        return False


def _check_standard_output(made: Format, as_json: bool) -> None:
    if as_json:
        raise InputError("--json and -o - both take standard output. Name a file for the page")
    if made.name == "png" and sys.stdout.isatty():
        raise InputError("a PNG is not for a terminal. Name a file, or lead standard output into one")


def _make(
    made: Format, lifecycle: Lifecycle, lang: str, theme: Theme | None, proof: Proof | None
) -> tuple[bytes, Drawing | None]:
    """What is written, and the drawing in it: of a page the one that it opens with, None where nothing is drawn."""
    language = load_language(lang)
    if made.name == "html":
        stage = set_stage(lifecycle, None, language, proof)
        return render_page(lifecycle, language=language, proof=proof, stage=stage).encode(), stage.scenes[0].drawing
    if made.name == "mermaid":
        return write_mermaid(lifecycle).encode(), None  # a text has no places
    proof = drawn_proof(proof)
    drawn, captions = (lifecycle, {}) if proof is None else (proof.lifecycle, proof.captions)
    drawing = layout_lifecycle(drawn, captions)
    svg = export_svg(render_svg(drawn, drawing, language, proof), theme)
    return export_png(svg) if made.name == "png" else svg.encode(), drawing


def _size(content: bytes) -> str:
    return f"{len(content)} bytes" if len(content) < 1000 else f"{len(content) / 1000:.0f} kB"


def _remark(made: Format, lifecycle: Lifecycle, content: bytes, drawing: Drawing | None) -> str:
    """The size of a PNG in pixels, and what it could not be given; what keeps a Mermaid text from being drawn; that a
    page is heavier than it is promised to be."""
    if made.name == "html" and len(lifecycle.states) <= MOST_STATES and len(content) >= MOST_BYTES:
        return f", {MOST_BYTES // 1000} kB or more, since the lifecycle has so much to say. Shorten some of its texts"
    if made.name == "mermaid" and not is_drawn(content.decode()):
        return f", more than the {MOST_DRAWN:,} characters that Mermaid draws unless its maxTextSize is raised"
    if made.name != "png" or drawing is None:
        return ""
    width, height = png_pixels(content)
    is_bounded = width < PIXELS_PER_UNIT * drawing.bounds.width
    bounded = f", too large for {PIXELS_PER_UNIT} to the unit" if is_bounded else ""
    return f", {width} x {height} pixels{bounded}"


def _emit(made: Format, path: Path, content: bytes, drawing: Drawing | None, stale: Sequence[str] | None) -> None:
    from arrowproof.render.quality import measure_drawing

    key = "page" if made.name == "html" else "file"
    said = {"kind": made.name, key: str(path), "sha256": hashlib.sha256(content).hexdigest()}
    evidence = {} if stale is None else {"stale": list(stale)}
    layout = {} if drawing is None else {"layout": asdict(measure_drawing(drawing))}
    emit_json("arrowproof.render/1", "written", {**said, **evidence, **layout})
