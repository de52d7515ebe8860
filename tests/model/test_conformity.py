"""The quick yes: it is never said where jsonschema says no."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator

from arrowproof.model.conformity import surely_conforms
from arrowproof.model.schema import load_schema
from arrowproof.model.starter import starter_text

LIFECYCLE = load_schema("lifecycle")
STARTER = json.loads(starter_text())
FULL = STARTER | {
    "driver": "shop.proof:Driver",
    "views": [{"id": "v", "title": "V", "states": ["queued", "sent"], "arrows": ["claim"], "note": "n"}],
    "accepted_sneak_paths": [{"from": "sent", "to": "queued", "reason": "by hand"}, {"to": "dead", "reason": "import"}],
}
JUNK: list[Any] = [
    *(None, True, False, 0, 1, 1.0, -1, 1e300, 2.5),
    *("", " ", "x", "x\n", "a\x00", "a\x7f", "a:b", "a:b:c", "a:b\n", "y" * 301, "passing", "success"),
    *([], [[]], ["x"], ["x", "x"], [1, True], [{}], {}, {"from": "a"}, {"state": "s", "state_sql": "t"}),
]
NAMES = ["id", "kind", "value", "from", "to", "state", "state_sql", "watch", "key", "reason", "terminal", "lable"]


def containers(data: Any) -> Iterator[Any]:
    """Every object and array in ``data``."""
    if isinstance(data, dict | list):
        yield data
        for member in data.values() if isinstance(data, dict) else data:
            yield from containers(member)


@st.composite
def damaged_lifecycles(draw: st.DrawFn) -> Any:
    """A full lifecycle in which a few members were replaced, added or removed."""
    data = copy.deepcopy(FULL)
    for _ in range(draw(st.integers(0, 2))):
        container = draw(st.sampled_from(list(containers(data))))
        value = copy.deepcopy(draw(st.sampled_from(JUNK)))
        if isinstance(container, list):
            at = draw(st.integers(0, len(container)))
            container[at : at + 1] = [value]
        else:
            name = draw(st.sampled_from([*container, *NAMES]))
            if draw(st.booleans()):
                container.pop(name, None)
            else:
                container[name] = value
    return data


@given(damaged_lifecycles())
@settings(deadline=None, max_examples=200)
def test_a_quick_yes_is_a_yes_of_jsonschema(data: Any) -> None:
    if surely_conforms(data, LIFECYCLE):
        assert Draft202012Validator(LIFECYCLE).is_valid(data)


@given(damaged_lifecycles())
@settings(deadline=None, max_examples=100)
def test_doubt_is_rare_enough_that_only_odd_numbers_cause_it(data: Any) -> None:
    if Draft202012Validator(LIFECYCLE).is_valid(data):
        has_float = any(isinstance(state.get("value"), float) for state in data["states"])
        assert surely_conforms(data, LIFECYCLE) or has_float


def test_a_full_lifecycle_gets_the_quick_yes() -> None:
    assert surely_conforms(FULL, LIFECYCLE)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"format": "date"}, "2024-01-01"),
        ({"enum": [1]}, 1),
        ({"$ref": "https://elsewhere/schema"}, 1),
        ({"type": "integer"}, 1.0),
        ({"type": "array", "uniqueItems": True}, [1]),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1.0),  # jsonschema: both
    ],
)
def test_what_it_does_not_know_is_no_yes(schema: dict[str, Any], value: Any) -> None:
    assert not surely_conforms(value, schema)


@pytest.mark.parametrize("name", ["lifecycle", "evidence"])
def test_the_shipped_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(load_schema(name))
