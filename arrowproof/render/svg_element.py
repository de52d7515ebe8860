"""SVG elements: the one way in which text becomes markup.

Every element is made by :func:`element`, which escapes; nothing else joins text into markup.
"""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

from arrowproof.render.drawing import TextLine
from arrowproof.render.text import is_covered


def element(name: str, attributes: Mapping[str, object] | None = None, *children: str | Markup) -> Markup:
    """One element. Attribute values and children that are not Markup are escaped; None leaves an attribute out."""
    written = "".join(
        f' {key}="{escape(format_number(value) if isinstance(value, float) else value)}"'
        for key, value in (attributes or {}).items()
        if value is not None
    )
    if not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{Markup('').join(children)}</{name}>")


def sample(width: int, *children: Markup, kind: str | None = None) -> Markup:
    """A small picture for the legend, 18 high, with the class of what it shows."""
    inner = element("g", {"class": kind}, *children)
    return element("svg", {"class": "sample", "viewBox": f"0 0 {width} 18", "aria-hidden": "true"}, inner)


def text_element(line: TextLine, face: str, css: str | None = None) -> Markup:
    """A line of text. Where a font of the reader's machine draws it, it is held to the width that was reserved."""
    attributes: dict[str, object] = {
        "class": css,
        "x": line.x,
        "y": line.baseline,
        "text-anchor": "middle" if line.anchor == "middle" else None,
    }
    if line.width > 0 and not is_covered(line.text, face):
        attributes |= {"textLength": line.width, "lengthAdjust": "spacingAndGlyphs"}
    return element("text", attributes, line.text)


def format_number(value: float) -> str:
    """At most one decimal and never ``-0``: enough for a screen, and the same on every machine."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
