"""The scripts that the fit check runs in a page: functions of :data:`arrowproof.render.fit.LIMITS`, in JavaScript."""

from __future__ import annotations

from importlib.resources import files


def _read(name: str) -> str:
    return files("arrowproof.render").joinpath(name).read_text(encoding="utf-8")


MEASURE = f"({_read('measure.js')})({_read('sight.js')})"
"""What stands where on the screen, for :func:`arrowproof.render.fit_measures.read_geometry`."""

CHOOSE = _read("choose.js")
"""What each choice makes of the page, for :func:`arrowproof.render.fit_choices.read_choices`."""
