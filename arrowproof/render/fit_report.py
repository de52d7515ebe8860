"""What a fit check came to, and its receipt. Format ``arrowproof.fit/3``.

The receipt is one JSON object: ``format``, ``verdict`` (``fits`` or ``does not fit``), ``chromium`` (its version),
``rules`` (the names that failures can bear), and ``pages``. A page has ``page`` (as it was named), ``sha256`` of its
bytes, ``fits``, ``contact_sheet``, ``failures`` of the page as a whole, and ``checks``; a check has ``size``,
``theme``, ``screenshot``, ``measures`` and ``failures``. Pictures are named relative to the receipt. ``scenes`` are the
checks of the other drawings of a page that has several, each with the ``fragment`` of the address that shows it and
without a screenshot. ``choices`` are, in the same form, checks of a page with one drawing on which something is chosen,
with the failures that the page does not have at rest; all but the first are without contrasts. ``overview`` is null, or
says of a page that opens with an overview how small its text truly is: the smallest of states and of arrow labels in
CSS px, by size, null where there is none.

History: 3, choices; 2, scenes and overviews; 1, the first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arrowproof.model.record import record
from arrowproof.model.whole_file import write_whole
from arrowproof.render.fit_rules import Failure

FIT_FORMAT = "arrowproof.fit/3"
RECEIPT = "fit.json"

RULE_NAMES = (
    "drawing",
    "limits",
    "hidden",
    "scroll",
    "text-clipped",
    "label-overlap",
    "arrow-through-box",
    "text-size",
    "contrast",
    "theme",
    "request",
    "console-error",
)
"""The stable names of all rules."""


@record
class Measures:
    """The numbers of one check: font sizes in CSS px, contrast ratios, the page's extent; None where there are none."""

    smallest_state_text: float | None
    smallest_label: float | None
    smallest_other_text: float | None
    lowest_text_contrast: float | None
    lowest_line_contrast: float | None
    scroll_width: float
    scroll_height: float
    states: int
    arrows: int
    texts: int
    overview: bool = False


@record
class Check:
    """One page on one screen in one theme. ``measures`` is None when the page could not be measured."""

    size: str
    theme: str
    screenshot: str | None
    measures: Measures | None
    failures: tuple[Failure, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it was measured and nothing failed."""
        return self.measures is not None and not self.failures


@record
class SceneFit:
    """What a fragment of a page's address shows, in one check: another drawing, or the same one with a choice."""

    fragment: str
    check: Check


@record
class PageFit:
    """One page in all checks. ``failures`` are those of the page as a whole: requests, console errors, a hang."""

    page: str
    sha256: str
    checks: tuple[Check, ...]
    contact_sheet: str | None
    failures: tuple[Failure, ...] = ()
    scenes: tuple[SceneFit, ...] = ()
    choices: tuple[SceneFit, ...] = ()

    @property
    def all_checks(self) -> tuple[Check, ...]:
        """The checks of the page as it opens, and those of its scenes and of choices."""
        return (*self.checks, *(each.check for each in (*self.scenes, *self.choices)))

    @property
    def fits(self) -> bool:
        """Whether there were checks, and all of them and the page itself hold."""
        return bool(self.checks) and all(check.fits for check in self.all_checks) and not self.failures

    @property
    def all_failures(self) -> tuple[Failure, ...]:
        """The failures of the page and of every check, in that order."""
        return (*self.failures, *(failure for check in self.all_checks for failure in check.failures))

    @property
    def overview(self) -> dict[str, dict[str, float | None]] | None:
        """Smallest text of states and of arrow labels in CSS px by size, when the page opens with an overview."""
        shown = [(check.size, check.measures) for check in self.checks if check.measures and check.measures.overview]
        return {size: {"state": of.smallest_state_text, "label": of.smallest_label} for size, of in shown} or None


@record
class FitReport:
    """The fit check of one or more pages. ``receipt`` is the file it was written to."""

    chromium: str
    pages: tuple[PageFit, ...]
    receipt: Path

    @property
    def fits(self) -> bool:
        """Whether every page fits, and there was one."""
        return bool(self.pages) and all(page.fits for page in self.pages)

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return "fits" if self.fits else "does not fit"

    def as_json(self) -> dict[str, Any]:
        """The report as the object of the receipt."""
        return {
            "format": FIT_FORMAT,
            "verdict": self.verdict,
            "chromium": self.chromium,
            "rules": list(RULE_NAMES),
            "pages": [_page_json(page) for page in self.pages],
        }

    def write(self) -> None:
        """Write the receipt."""
        text = json.dumps(self.as_json(), indent=2, ensure_ascii=False)
        write_whole(self.receipt, text + "\n")


def _page_json(page: PageFit) -> dict[str, Any]:
    return {
        "page": page.page,
        "sha256": page.sha256,
        "fits": page.fits,
        "contact_sheet": page.contact_sheet,
        "failures": _failures_json(page.failures),
        "overview": page.overview,
        "checks": [_check_json(check) for check in page.checks],
        "scenes": _scenes_json(page.scenes),
        "choices": _scenes_json(page.choices),
    }


def _scenes_json(scenes: Sequence[SceneFit]) -> list[dict[str, Any]]:
    return [{"fragment": each.fragment, **_check_json(each.check)} for each in scenes]


def _check_json(check: Check) -> dict[str, Any]:
    return {
        "size": check.size,
        "theme": check.theme,
        "screenshot": check.screenshot,
        "measures": asdict(check.measures) if check.measures else None,
        "failures": _failures_json(check.failures),
    }


def _failures_json(failures: Sequence[Failure]) -> list[dict[str, str]]:
    """Failures without size and theme, which stand on the check that holds them."""
    return [{"rule": failure.rule, "place": failure.place, "message": failure.message} for failure in failures]
