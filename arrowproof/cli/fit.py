"""``arrowproof fit``: does the page fit the screen?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arrowproof.cli.output import emit_json_text, json_option, printable, progress_bar
from arrowproof.errors import DOES_NOT_HOLD, HOLDS

if TYPE_CHECKING:
    from arrowproof.render.fit_report import PageFit
    from arrowproof.render.fit_rules import Failure

PLACES_SHOWN = 5
"""Places of one rule that are printed; the receipt has them all."""


@click.command()
@click.argument("pages", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="OUT.html...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("arrowproof-out/fit"),
    show_default=True,
    help="Where the screenshots, the contact sheet and the receipt go.",
)
@json_option
def command(pages: tuple[Path, ...], out: Path, as_json: bool) -> int:
    """Open each page in Chromium at four sizes, light and dark: 8 checks and 8 screenshots a page.

    A page fits when nothing scrolls, no text is clipped, too small or too faint, no label overlaps anything, no
    request leaves the page and the console is quiet, also while an arrow or a state is chosen. A large model's page
    opens with an overview, whose text may be small; it fits when every scene behind it does.

    \b
    Example:
      arrowproof fit lifecycle.html
    """
    from arrowproof.render.fit import check_pages

    with progress_bar() as progress:
        report = check_pages(pages, out, progress)
    if as_json:
        emit_json_text(report.receipt.read_text(encoding="utf-8"))
        return HOLDS if report.fits else DOES_NOT_HOLD
    for page in report.pages:
        held = sum(check.fits for check in page.checks)
        verdict = "fits" if page.fits else "does not fit"
        click.echo(printable(f"{page.page} {verdict}: {held} of {len(page.checks)} checks hold"))
        for line in (*_overview_lines(page), *_failure_lines(page)):
            click.echo(printable(f"  {line}"))
    click.echo(f"receipt {printable(str(report.receipt))}")
    return HOLDS if report.fits else DOES_NOT_HOLD


def _overview_lines(page: PageFit) -> Iterator[str]:
    """How small the text of an overview is, how many of the scenes behind it hold, and how many choices do not."""
    if page.overview:
        sizes = [f"{_sizes(smallest)} at {size}" for size, smallest in page.overview.items()]
        yield f"it opens with an overview, whose smallest text has {', '.join(sizes)}"
        if all(smallest["label"] is None for smallest in page.overview.values()):
            yield "its arrows have no labels there; those are in the scenes behind it"
    if page.scenes:
        held = sum(scene.check.fits for scene in page.scenes)
        yield f"{held} of its {len(page.scenes)} scenes hold at {page.scenes[0].check.size}"
    if lacking := [choice for choice in page.choices if not choice.check.fits]:
        yield f"{len(lacking)} of {len(page.choices)} choices do not hold at {lacking[0].check.size}"


def _sizes(smallest: dict[str, float | None]) -> str:
    names = {"state": "states", "label": "arrows"}
    return " and ".join(f"{px:g} px ({names[owner]})" for owner, px in smallest.items() if px is not None)


def _failure_lines(page: PageFit) -> Iterator[str]:
    """Each fault once, with the first screen that shows it; at most ``PLACES_SHOWN`` of a rule."""
    rules: dict[str, dict[str, list[Failure]]] = {}
    for failure in page.all_failures:
        rules.setdefault(failure.rule, {}).setdefault(failure.place, []).append(failure)
    for rule, places in rules.items():
        for first, *others in list(places.values())[:PLACES_SHOWN]:
            yield f"{first}{f' (and in {len(others)} more of the checks)' if others else ''}"
        if len(places) > PLACES_SHOWN:
            yield f"{rule}: and {len(places) - PLACES_SHOWN} more places, in the receipt"
