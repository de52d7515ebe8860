"""Candidates: whole drawings of one lifecycle, of which the one that reads best is taken."""

from __future__ import annotations

from arrowproof.render.drawing import Drawing
from arrowproof.render.layout.assembly import Assembly
from arrowproof.render.layout.channels import assign_slots
from arrowproof.render.layout.coordinates import Pin, assign_columns
from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.grid import Placement, build_grid
from arrowproof.render.layout.heights import assign_lines
from arrowproof.render.layout.order import order_elements
from arrowproof.render.quality import TARGET_HEIGHT, TARGET_WIDTH


def draw(graph: Graph, placement: Placement) -> Drawing:
    """The drawing of a graph whose nodes are placed in rows.

    Two legs that no order of slots keeps apart get columns of their own, and the columns are assigned anew. Every such
    rule goes from left to right as the columns stand, so the rules never contradict each other, and the loop ends: there
    are only so many pairs of legs.
    """
    grid = build_grid(graph, placement)
    order = order_elements(grid)
    separations: list[tuple[Pin, Pin]] = []
    while True:
        columns = assign_columns(grid, order, separations)
        channels = assign_slots(grid, columns)
        clashes = [clash for channel in channels for clash in channel.clashes]
        if not clashes:
            break
        separations += clashes
    lines = assign_lines(grid, channels, TARGET_HEIGHT * columns.width / TARGET_WIDTH)
    return Assembly(grid, columns, lines).drawing()
