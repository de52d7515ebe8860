"""Pages for the fit check: one that fits, changed in one place, and what the check says of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arrowproof.render.fit import SCREENS, check_pages

BROKEN = Path(__file__).parent / "broken"


SMALLEST = SCREENS[:2]


def failures_of(pages: Iterable[str], folder: Path) -> dict[str, list[str]]:
    """What the check says of each page on the smallest screen, by the page's text; all of them in one browser."""
    paths = {content: folder / f"page-{number}.html" for number, content in enumerate(dict.fromkeys(pages))}
    for content, path in paths.items():
        path.write_text(content, encoding="utf-8")
    report = check_pages(list(paths.values()), folder / "out", screens=SMALLEST[:1])
    found = ([str(failure) for failure in page.all_failures] for page in report.pages)
    return dict(zip(paths, found, strict=True))


def good_with(old: str, new: str) -> str:
    content = (BROKEN / "good.html").read_text(encoding="utf-8")
    assert old in content
    return content.replace(old, new, 1)
