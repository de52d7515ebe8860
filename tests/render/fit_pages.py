"""Pages for the fit check: one that fits, changed in one place, and what the check says of it."""

from __future__ import annotations

from pathlib import Path

from arrowproof.render.fit import SCREENS, check_pages

BROKEN = Path(__file__).parent / "broken"


SMALLEST = SCREENS[:2]


def failures_of(content: str, folder: Path, deadline: float = 60) -> list[str]:
    page = folder / "page.html"
    page.write_text(content, encoding="utf-8")
    report = check_pages([page], folder / "out", screens=SMALLEST[:1], deadline=deadline)
    return [str(failure) for failure in report.pages[0].all_failures]


def good_with(old: str, new: str) -> str:
    content = (BROKEN / "good.html").read_text(encoding="utf-8")
    assert old in content
    return content.replace(old, new, 1)
