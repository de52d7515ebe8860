from __future__ import annotations

import pytest

from arrowproof.render.bar import Bar, bar_height
from arrowproof.render.ruler import Ruler


def height(width: float = 70, **parts: tuple[str, ...]) -> float:
    return bar_height(Bar(**parts), width, Ruler())


def test_without_places_and_views_there_is_no_bar() -> None:
    assert height() == 0


def test_the_row_of_places_is_as_high_as_its_buttons_while_the_text_fits() -> None:
    assert height(places=("Overview", "Overview › Payment › authorized")) == pytest.approx(1.66 + 0.9)


def test_a_long_place_takes_more_lines() -> None:
    assert height(places=("Overview › " + "a long name of a state " * 12,)) > 1.66 + 0.9


def test_views_stand_in_a_row_of_their_own_below_the_places() -> None:
    both = height(places=("Overview",), views=("Whole", "Retries"))
    assert both == pytest.approx(height(views=("Whole", "Retries")) + 1.66 + 0.4)


def test_many_views_wrap_into_rows() -> None:
    assert height(views=tuple(f"View number {number}" for number in range(20))) > 2 * 1.66


def test_a_long_note_takes_more_height_than_the_buttons() -> None:
    assert height(views=("Whole",), notes=("word " * 60,)) > height(views=("Whole",), notes=("word",))
