"""The floor under `fit`: Playwright opens a page in the same Chromium and takes eight screenshots, and checks nothing.

.venv/bin/python bench/bare_screenshots.py PAGE.html
"""

from __future__ import annotations

import sys
from pathlib import Path

from arrowproof.render.chromium import open_browser

SIZES = ((1440, 900), (1600, 1000), (1920, 1080), (2048, 1320))


def main() -> None:
    with open_browser() as browser:
        page = browser.new_page()
        page.goto(Path(sys.argv[1]).resolve().as_uri())
        for width, height in SIZES:
            for theme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": height})
                page.emulate_media(color_scheme=theme)
                page.screenshot(path=f"bare.{width}x{height}.{theme}.png")


if __name__ == "__main__":
    main()
