"""Densities: how closely the column of a page is set, in rem; the stylesheet (``column.css``) holds the same."""

from __future__ import annotations

from arrowproof.model.record import record


@record
class Density:
    """How closely the column is set: the gap between its parts and the padding of a row, in rem, and what it costs."""

    name: str
    gap: float
    row: float
    cost: float


DENSITIES = (
    Density("airy", 1.9, 0.3, 0.0),
    Density("plain", 1.4, 0.12, 0.04),
    Density("dense", 0.9, 0.0, 0.1),
)
"""From calm to close."""
