"""The masthead: how high all above the drawing and the column is, and how large the title in it.

All lengths are rem. The numbers are those of ``sheet.css`` and ``header.css``.
"""

from __future__ import annotations

from arrowproof.model.record import record
from arrowproof.render.content import Content
from arrowproof.render.ruler import SLACK, Ruler
from arrowproof.render.screen import MARGINS, SCREEN_WIDTH
from arrowproof.render.text import tallness, text_width

_TITLE_SIZES = (2.05, 1.6, 1.22)
_TITLE_LINES = (1.15, 1.4, 1.85)
"""To the size of the title, by how tall the letters of title and summary are."""
_SUMMARY_LINES = (1.4, 1.4, 1.85)
_RUN_LINE = 1.25
_BELOW_RUN_LINE = 0.6 + 0.1
_PADDING = 0.75 + 0.95
_COUNTS = 3.4
"""The least height beside the title: a count and its caption."""
_CONTROLS = 37.0
"""Of the run line, what the buttons and the gaps take besides the name of the model and the origin of a proof."""


@record
class Masthead:
    """The step of the title's size, 0 for the largest, and the height of all of it."""

    title_step: int
    height: float


def masthead(content: Content, ruler: Ruler) -> Masthead:
    """The masthead of a page, with the largest title that stands on one line."""
    width = SCREEN_WIDTH - MARGINS - 2.5 - _figures(content)
    lines = [ruler.lines(content.title, width, size, 600) for size in _TITLE_SIZES]
    step = next((number for number, count in enumerate(lines) if count == 1), len(lines) - 1)
    steps = max(tallness(content.title), tallness(content.summary))
    names = lines[step] * _TITLE_SIZES[step] * _TITLE_LINES[steps]
    if content.summary:
        names += 0.15 + _SUMMARY_LINES[steps] * ruler.lines(content.summary, width, 1.0)
    origin = sum(text_width(text, 0.86) / SLACK + 1.15 for text in content.origin)
    run = _RUN_LINE * ruler.lines(content.id, SCREEN_WIDTH - MARGINS - _CONTROLS - origin, 0.83, face="mono")
    return Masthead(step, run + _BELOW_RUN_LINE + _PADDING + max(_COUNTS, names) + _stale(content, ruler))


def _figures(content: Content) -> float:
    """The width of the counts at the right of the title, with the verdict before them."""
    sizes = [text_width(caption, 0.86) for caption in content.captions]
    if content.verdict is None:
        return sum(max(size, 2.5) + 2.5 for size in sizes)
    word, share = content.verdict
    verdict = max(text_width(word, 1.72, 600) + 1.9, text_width(share, 0.96, 600))
    numbers = [text_width(number, 1.22, 600) for number in content.numbers]
    return verdict + 1.25 + sum(max(pair) + 2.5 for pair in zip(sizes, numbers, strict=True))


def _stale(content: Content, ruler: Ruler) -> float:
    """The height of the band that says that a proof is stale, with the gap below it."""
    if not content.stale:
        return 0.0
    return 1.4 * ruler.lines(" ".join(content.stale), SCREEN_WIDTH - MARGINS - 2.0, 1.0, 600) + 0.9 + 0.8
