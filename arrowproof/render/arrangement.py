"""An arrangement: one of the ways in which the parts of a page can share its screen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from arrowproof.model.record import record
from arrowproof.render.concession import Concession, concessions
from arrowproof.render.content import Content
from arrowproof.render.density import DENSITIES, Density

COLUMN = 26.0
"""The width in rem at which the column reads well; a narrower one is for drawings that need the room."""
PROOF_COLUMN = 28.0
"""The same for a column with panels of a proof, whose statements should not break at every second word."""
_COLUMNS = (22.0, 24.0, COLUMN, PROOF_COLUMN, 31.0, 35.0, 40.0, 46.0)
COLUMN_PADDING = 2.1
"""What the text of a column has less than its width."""
_LEAST_LIST = 12.0
"""Columns of a list are not narrower."""
_FEW = 12
"""So many transitions are always listed in the plain form."""


@record
class Arrangement:
    """The width of the column (``aside``) and how closely it is set, the form of its list, and where the panels stand.

    The transitions stand in ``list_columns``, with the paths or the walks of each where it ``shows_paths``, or by
    their source, or not at all.
    """

    aside: float
    density: Density
    list_columns: int
    shows_paths: bool
    is_listed: bool
    is_grouped: bool
    panels_under: bool
    concession: Concession

    @property
    def width(self) -> float:
        """What the text of the column has of its width, in rem."""
        return self.aside - COLUMN_PADDING


def possible_concessions(content: Content) -> Iterator[Concession]:
    """What the column of this content can give up, nothing first."""
    proof = content.proof
    sizes = (0, 0, 0) if proof is None else (len(proof.reasons), len(proof.kept), len(proof.sneaks))
    return concessions(*sizes, has_panels=bool(content.panels), has_binding=bool(content.facts))


def arrangements(content: Content, concession: Concession) -> Iterator[Arrangement]:
    """Every arrangement under a concession, the calmest first."""
    under = (False, True) if content.panels and not concession.folds_panels else (False,)
    for density, form, is_under, aside in product(DENSITIES, _forms(content), under, _COLUMNS):
        if aside / form[0] >= _LEAST_LIST:
            yield Arrangement(aside, density, *form, is_under, concession)


def _forms(content: Content) -> list[tuple[int, bool, bool, bool]]:
    """The forms of the list: its columns, and whether it shows paths, is there at all, and is grouped."""
    if not content.can_list:
        return [(1, False, False, False)]
    forms = [(1, True, True, False)]
    if len(content.rows) > _FEW:
        # What a proof says of a transition stands where there is one column; arrow paths may be left out there too.
        without_paths = (2, 3) if content.proof is not None else (1, 2, 3)
        forms += [(count, False, True, False) for count in without_paths]
        forms += [(1, False, True, True), (1, False, False, False)]
    return forms
