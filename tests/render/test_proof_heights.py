from __future__ import annotations

import pytest

from arrowproof.render.language import load_language
from arrowproof.render.proof_column import ProofColumn, proof_column
from arrowproof.render.proof_heights import sneak_columns, sneaks_height
from arrowproof.render.ruler import Ruler
from tests.render.extremes import chain, with_sneak_paths
from tests.render.proofs import proof_of


def column_of(sneak_paths: int) -> ProofColumn:
    model = chain()
    return proof_column(model, proof_of(model, with_sneak_paths(model, sneak_paths, 2)), load_language())


@pytest.mark.parametrize(
    ("sneak_paths", "width", "columns"), [(6, 40.0, 1), (7, 40.0, 2), (12, 40.0, 2), (12, 14.0, 1)]
)
def test_many_sneak_paths_stand_in_two_columns_where_each_fits_on_a_line_there(
    sneak_paths: int, width: float, columns: int
) -> None:
    assert sneak_columns(column_of(sneak_paths), width, Ruler()) == columns


def test_two_columns_of_sneak_paths_take_half_of_the_height() -> None:
    one, two = (sneaks_height(column_of(12), width, 0.1, 12, Ruler()) for width in (14.0, 40.0))
    assert two == pytest.approx(one / 2)
