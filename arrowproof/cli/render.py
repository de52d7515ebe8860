"""``arrowproof render``: the page."""

from __future__ import annotations

import hashlib
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
    write_file,
)
from arrowproof.errors import HOLDS, InputError
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import load_language
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.page import GENERATOR, render_page

STANDARD_OUTPUT = Path("-")
"""The name that means standard output; a file of this name is ``./-``."""


def is_page(head: bytes) -> bool:
    """Whether a file starts like a page that this command made."""
    return GENERATOR.encode() in head


@click.command(short_help="draw the page: one file, no request, light and dark")
@model_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The page; the model's id with .html when left out, standard output for `-`.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there even if it is no page of ours.")
@language_option
@json_option
def command(model: str, output: Path | None, force: bool, lang: str, as_json: bool) -> int:
    """Draw the lifecycle file MODEL as one self-contained HTML page: no request, light and dark, fits the screen.

    \b
    Example:
      arrowproof render lifecycle.json -o lifecycle.html
    """
    if as_json and output == STANDARD_OUTPUT:
        raise InputError("--json and -o - both take standard output. Name a file for the page")
    lifecycle = load_lifecycle(model_path(model))
    drawing = layout_lifecycle(lifecycle)
    page = render_page(lifecycle, drawing, load_language(lang))
    if output == STANDARD_OUTPUT:
        click.echo(page.encode(), nl=False)
        return HOLDS
    path = output or Path(f"{_file_name(lifecycle.id)}.html")
    write_file(path, page, is_ours=is_page, force=force)
    if as_json:
        from arrowproof.render.quality import measure_drawing

        sha256 = hashlib.sha256(page.encode()).hexdigest()
        quality = asdict(measure_drawing(drawing))
        emit_json("arrowproof.render/1", "written", {"page": str(path), "sha256": sha256, "layout": quality})
    else:
        click.echo(f"wrote {printable(str(path))} ({len(page.encode()) / 1000:.0f} kB)")
    return HOLDS


def _file_name(model_id: str) -> str:
    """The model's id as a plain file name, short enough for every file system."""
    kept = "".join(char if char.isalnum() or char in "-_." else "-" for char in model_id)
    return kept.strip(".-")[:80].encode()[:200].decode(errors="ignore") or "lifecycle"
