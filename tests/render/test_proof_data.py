from __future__ import annotations

import json

import pytest

from arrowproof.render.language import load_language
from arrowproof.render.proof_column import proof_column
from arrowproof.render.proof_data import proof_data, said_once
from arrowproof.render.proof_panel import LIMITS
from tests.render.proofs import PROOFS, proof_of, whole_panels


def plain_data(name: str) -> dict[str, object]:
    lifecycle, evidence = PROOFS[name]()
    column = proof_column(lifecycle, proof_of(lifecycle, evidence), load_language())
    return json.loads(json.dumps(proof_data(column.heads, [make(LIMITS[0]) for make in column.panels])))


@pytest.mark.parametrize("name", PROOFS)
def test_what_is_said_once_is_the_same_to_a_reader_and_never_longer(name: str) -> None:
    data = plain_data(name)
    short = json.loads(json.dumps(said_once(data)))
    assert whole_panels(short) == data["panels"]
    assert short["heads"] == data["heads"]
    assert len(json.dumps(short)) <= len(json.dumps(data)) + len('"same": [], ')


def test_no_list_is_kept_that_stands_there_once_or_for_which_a_reference_is_longer() -> None:
    once, twice = ["a line that stands there once"], ["a line that stands there twice"]
    data = {"heads": {}, "panels": [{"k": [once, twice, []]}, {"k": [twice, []]}]}
    assert said_once(data) == {
        "heads": {},
        "panels": [{"k": [once, -1, []]}, {"k": [-1, []]}],
        "same": [twice],
    }


def test_a_text_is_kept_once_where_it_stands_often_enough_for_that_to_be_shorter() -> None:
    often, short = "the restart left the row where it was", "draft"
    data = {"heads": {}, "panels": [{"p": often, "t": short}, {"p": often, "t": short}]}
    assert said_once(data) == {
        "heads": {},
        "panels": [{"p": -1, "t": short}, {"p": -1, "t": short}],
        "same": [often],
    }
