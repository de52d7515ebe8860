"""The palette: the colours of every page as named tokens, once for light and once for dark.

Colour means "look here"; what holds stays quiet. Text tokens keep at least 4.5:1 and line tokens at least 3:1 against
every surface that they stand on; the tests compute it.

No meaning rests on colour alone: kinds differ by their sign and border, what is chosen by a wider line and a frame
around its label, rungs by bead, line and head. ``proof``, ``gap`` and ``wrong`` stay apart for readers without red,
green or blue cones too; kinds need not, since green and red-brown come close there and the signs tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "paper": "#fcfcfb",
    "sunk": "#f4f5f5",
    "ink": "#14171a",
    "ink2": "#454c55",
    "ink3": "#5f6771",
    "rule": "#dfe2e5",
    "line": "#5a636d",
    "chosen": "#1f4fd0",
    "chosen-tint": "#eaf0fd",
    "proof": "#0a6a4c",
    "gap": "#8f5f00",
    "wrong": "#ae1035",
    "neutral": "#5a636d",
    "neutral-tint": "#fcfcfb",
    "waiting": "#646c76",
    "waiting-tint": "#f5f6f7",
    "active": "#3c659f",
    "active-tint": "#eef3fa",
    "success": "#2a7553",
    "success-tint": "#eaf4ee",
    "failure": "#96493e",
    "failure-tint": "#f9efec",
}
"""Colours on light paper. ``*-tint`` is a surface; ``rule`` is decoration; everything else is text or line."""

DARK: Mapping[str, str] = {
    "paper": "#101214",
    "sunk": "#181b1f",
    "ink": "#eceef0",
    "ink2": "#b8bfc7",
    "ink3": "#8f98a3",
    "rule": "#2a2f35",
    "line": "#939da8",
    "chosen": "#8db0ff",
    "chosen-tint": "#17233f",
    "proof": "#4cc79d",
    "gap": "#e8b548",
    "wrong": "#ff8379",
    "neutral": "#939da8",
    "neutral-tint": "#101214",
    "waiting": "#939da8",
    "waiting-tint": "#191d21",
    "active": "#7ba3dc",
    "active-tint": "#15202e",
    "success": "#5fb88d",
    "success-tint": "#12251c",
    "failure": "#d58f84",
    "failure-tint": "#291a17",
}
"""The same tokens on dark paper."""

FORCED: Mapping[str, str] = {
    token: "Canvas" if token in ("paper", "sunk") or token.endswith("-tint") else "CanvasText" for token in LIGHT
} | {"chosen": "LinkText", "rule": "GrayText"}
"""The same tokens where the reader's own colours are forced; an SVG does not follow them by itself."""


def palette_css() -> str:
    """The custom properties of both themes as CSS.

    Paper and print are light. On a screen the reader's preference decides, unless ``data-theme`` on the root element
    says otherwise.
    """
    dark = _declarations(DARK, "dark")
    return (
        f":root{{{_declarations(LIGHT, 'light')}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"@media (forced-colors:active){{:root:root{{{_declarations(FORCED, 'light dark')}}}}}\n"
    )


def _declarations(tokens: Mapping[str, str], scheme: str) -> str:
    properties = "".join(f"--{token}:{value};" for token, value in tokens.items())
    return f"color-scheme:{scheme};{properties}"
