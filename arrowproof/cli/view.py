"""``arrowproof view``: the page in the browser, redrawn at every save."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arrowproof.cli.output import language_option, model_argument, model_path, printable
from arrowproof.cli.proof_file import evidence_option, read_proof
from arrowproof.errors import HOLDS, InputError

if TYPE_CHECKING:
    from arrowproof.render.preview import View


@click.command()
@model_argument
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port on 127.0.0.1; a free one by default.")
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@evidence_option
@language_option
def command(model: str, port: int, no_open: bool, evidence: Path | None, lang: str) -> int:
    """Serve MODEL, drawn, or an HTML page on loopback, and show it anew at every save. Ctrl-C ends it.

    While the model is broken, the last good page stays with the error above it. Evidence is watched, too.

    \b
    Example:
      arrowproof view lifecycle.json
    """
    from arrowproof.render.language import load_language
    from arrowproof.render.preview import View, serve

    path = model_path(model)
    is_page = path.suffix.lower() in {".html", ".htm"}
    if is_page and evidence is not None:
        raise InputError(f"{path} is drawn already. Leave --evidence out, or name the lifecycle file")

    def render() -> View:
        return View(_page(path)) if is_page else _drawn(path, evidence, lang)

    beside = () if evidence is None else (evidence,)
    serve(
        path,
        render,
        beside=beside,
        port=port,
        open_browser=not no_open,
        language=load_language(lang),
        announce=_announce,
        complain=_complain,
        drawing=_drawing,
        drawn=_drawn_in,
    )
    return HOLDS


def _announce(address: str) -> None:
    click.echo(f"serving {address}\nCtrl-C ends it")


def _complain(error: str) -> None:
    click.echo(f"error: {printable(error)}", err=True)


def _drawing() -> None:
    click.echo("drawing…", err=True)


def _drawn_in(seconds: float) -> None:
    click.echo(f"drawn in {seconds:.1f} s", err=True)


def _page(path: Path) -> str:
    from arrowproof.render.fit_sources import MAX_PAGE_BYTES

    try:
        with path.open("rb") as file:
            content = file.read(MAX_PAGE_BYTES + 1)
        if len(content) > MAX_PAGE_BYTES:
            raise InputError(f"{path} is larger than {MAX_PAGE_BYTES // 2**20} MiB, the most that is shown")
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a page: {error}") from error


def _drawn(path: Path, evidence: Path | None, lang: str) -> View:
    from arrowproof.model.linter import lint
    from arrowproof.model.loader import load_lifecycle
    from arrowproof.render.language import load_language
    from arrowproof.render.page import render_page
    from arrowproof.render.preview import View

    lifecycle = load_lifecycle(path)
    warnings = tuple(f"{path}:{problem}" for problem in lint(lifecycle))  # its errors were refused
    proof = None if evidence is None else read_proof(evidence, lifecycle, lang)
    return View(render_page(lifecycle, language=load_language(lang), proof=proof), warnings=warnings)
