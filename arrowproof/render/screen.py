"""The screen: the tightest one that a page must fit, in rem.

One rem grows with the smaller side of a screen, so that what fits at 1440 by 900 fits on every larger one.
"""

from __future__ import annotations

REM = 14.0
"""CSS px of one rem at 1440 by 900."""

SCREEN_WIDTH = 1440 / REM
SCREEN_HEIGHT = 900 / REM

MARGINS = 2 * 2.0
"""Of the page, left and right."""
EDGES = 1.15 + 1.3 + 1.07
"""Of the page, above and below, and the rule and the padding above the drawing."""
