from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from arrowproof.render.arrangement import Arrangement
from arrowproof.render.column_heights import column_height, kept_rows
from arrowproof.render.concession import NONE, Concession
from arrowproof.render.content import Content
from arrowproof.render.density import DENSITIES
from arrowproof.render.drawing import Box
from arrowproof.render.language import load_language
from arrowproof.render.proof_column import proof_column
from arrowproof.render.ruler import Ruler
from arrowproof.render.transition_groups import Row
from tests.render.evidence_builder import build_evidence
from tests.render.proofs import notes, proof_of

COUNTED = Arrangement(28.0, DENSITIES[0], 1, False, False, False, False, NONE)
"""The transitions are counted and not listed, but for those that do not hold."""
SHORT = replace(COUNTED, concession=Concession(kept=4))
RULER = Ruler()


@cache
def content() -> Content:
    """None of its transitions holds."""
    lifecycle, _ = notes()
    column = proof_column(lifecycle, proof_of(lifecycle, build_evidence(lifecycle, default="missing")), load_language())
    rows = tuple(Row(row.address, row.source, row.target, "") for row in column.rows)
    return Content("notes", "Notes", "", (), rows, (), (), Box(0, 0, 400, 300), proof=column)


def kept() -> int:
    assert content().proof is not None
    return len(content().proof.kept)  # type: ignore[union-attr]


def test_all_transitions_that_do_not_hold_are_kept_where_nothing_is_conceded() -> None:
    assert kept() > 6
    assert kept_rows(content(), COUNTED, 0.0, RULER) == (kept(), 0.0)


@pytest.mark.parametrize("room", [-5.0, 0.0, 0.5])
def test_a_short_list_keeps_its_least_rows_where_there_is_no_room_for_another(room: float) -> None:
    assert kept_rows(content(), SHORT, room, RULER) == (4, 0.0)


def test_a_short_list_takes_as_many_more_rows_as_have_room_and_says_how_high_they_are() -> None:
    counts = []
    for room in (2.0, 4.0, 6.0, 9.0):
        count, height = kept_rows(content(), SHORT, room, RULER)
        assert height <= room
        one_more = kept_rows(content(), replace(SHORT, concession=Concession(kept=count + 1)), 0.0, RULER)
        assert one_more[0] == min(count + 1, kept())
        counts.append(count)
    assert counts == sorted(counts)
    assert 4 < counts[0] < counts[-1]


def test_rows_that_have_room_take_exactly_what_a_column_with_them_is_higher() -> None:
    count, height = kept_rows(content(), SHORT, 6.0, RULER)
    more = column_height(content(), replace(SHORT, concession=Concession(kept=count)), RULER)
    assert more - column_height(content(), SHORT, RULER) == pytest.approx(height)


def test_room_without_bound_keeps_every_row_and_a_list_or_a_page_without_evidence_none() -> None:
    assert kept_rows(content(), SHORT, 1000.0, RULER)[0] == kept()
    assert kept_rows(content(), replace(COUNTED, is_listed=True), 1000.0, RULER) == (0, 0.0)
    assert kept_rows(replace(content(), proof=None), COUNTED, 1000.0, RULER) == (0, 0.0)
