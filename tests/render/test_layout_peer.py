"""Our drawings beside those of the best peer that was found, by the figures that bench/README.md tells of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.model.loader import load_lifecycle
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.quality import measure_drawing

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


@pytest.mark.parametrize(
    ("name", "crossings", "px"),
    [
        ("github-check-run", 0, 10.5),
        ("kubernetes-pod", 0, 9.1),
        ("oban-job", 1, 10.9),
        ("order", 2, 8.7),
        ("parcel", 1, 9.3),
        ("prefect-run", 0, 9.2),
        ("river-job", 1, 11.7),
        ("sidekiq-job", 0, 11.3),
        ("spark-application", 1, 10.4),
        ("temporal-workflow", 0, 15.1),
    ],
)
def test_no_drawing_of_the_peer_has_fewer_crossings_or_larger_text(name: str, crossings: int, px: float) -> None:
    """The fewest crossings and the largest text of all that it drew; it knows no lanes, so ours has none here."""
    lifecycle = load_lifecycle(GALLERY / f"{name}.lifecycle.json")
    alone = replace(lifecycle, states=tuple(replace(state, group=None) for state in lifecycle.states))
    quality = measure_drawing(layout_lifecycle(alone))
    assert quality.overlaps == ()
    assert quality.crossings <= crossings
    assert round(quality.label_px, 1) >= px
