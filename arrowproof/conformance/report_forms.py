"""The forms of a report: which file each is, and how it is made of one proof.

``prove`` writes them all; ``report`` makes one of them again from an evidence file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from arrowproof.conformance.comparison import Comparison
from arrowproof.conformance.report_html import report_html
from arrowproof.conformance.report_json import report_json
from arrowproof.conformance.report_junit import report_junit
from arrowproof.conformance.report_markdown import report_markdown
from arrowproof.conformance.report_text import report_text
from arrowproof.model.evidence import Evidence
from arrowproof.model.lifecycle import Lifecycle


class Maker(Protocol):
    """Makes a report of one proof; ``stale`` says in what its evidence is not of today, one sentence each."""

    def __call__(
        self, evidence: Evidence, lifecycle: Lifecycle, comparison: Comparison | None, stale: Sequence[str] = (), /
    ) -> str:
        """The report as text."""


REPORT_FILE = "report.json"
PAGE_FILE = "report.html"
MARKDOWN_FILE = "report.md"
JUNIT_FILE = "junit.xml"


FORMS: Mapping[str, Maker] = {
    "text": lambda evidence, lifecycle, comparison, stale=(): (
        report_text(evidence, lifecycle, comparison, stale).plain + "\n"
    ),
    "md": report_markdown,
    "html": report_html,
    "junit": lambda evidence, _, comparison, stale=(): report_junit(evidence, comparison, stale),
    "json": report_json,
}
"""Each form by the word for it on the command line."""

FILES: Mapping[str, str] = {
    REPORT_FILE: "json",
    PAGE_FILE: "html",
    MARKDOWN_FILE: "md",
    JUNIT_FILE: "junit",
}
"""The files that a proof writes beside its evidence, and the form of each."""
