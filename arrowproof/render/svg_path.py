"""SVG paths: path data in few characters, since the lines of a drawing are much of what a page weighs.

Points are rounded as every number in a drawing is. What is written is what is nearest in characters to that: lines
along an axis by one number, curves by their distance from where the last point was rounded to, so that nothing drifts.
"""

from __future__ import annotations

from arrowproof.render.drawing import Point
from arrowproof.render.svg_element import format_number


class SvgPath:
    """Path data that grows from its first point."""

    def __init__(self, start: Point) -> None:
        self._at = _rounded(start)
        self._data = [f"M{_numbers(*self._at)}"]

    def __str__(self) -> str:
        return "".join(self._data)

    def line(self, end: Point) -> None:
        """A straight line to a point, and nothing where the path is already there."""
        x, y = _rounded(end)
        if (x, y) == self._at:
            return
        if y == self._at[1]:
            self._data.append(f"H{_numbers(x)}")
        elif x == self._at[0]:
            self._data.append(f"V{_numbers(y)}")
        else:
            self._data.append(f"L{_numbers(x, y)}")
        self._at = (x, y)

    def curve(self, control: Point, end: Point) -> None:
        """A quadratic curve to a point."""
        (x, y), last = self._at, _rounded(end)
        control = _rounded(control)
        self._data.append(f"q{_numbers(control[0] - x, control[1] - y, last[0] - x, last[1] - y)}")
        self._at = last


def path_data(start: Point, *points: Point) -> str:
    """A polyline as path data."""
    path = SvgPath(start)
    for point in points:
        path.line(point)
    return str(path)


def _rounded(point: Point) -> Point:
    return (round(point[0], 1), round(point[1], 1))


def _numbers(*numbers: float) -> str:
    """Numbers one after the other: a minus sign parts them as well as a space does."""
    return " ".join(map(format_number, numbers)).replace(" -", "-")
