"""The record, beside the frozen dataclass that it stands for."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import pytest

from arrowproof.model.record import record


@record
class Parcel:
    """A record with every kind of field that there is one of."""

    name: str
    weight: int = 3
    marks: tuple[str, ...] = field(default_factory=tuple)
    note: str = field(default="", compare=False, repr=False)

    @cached_property
    def title(self) -> str:
        return f"{self.name}, {self.weight} kg"


@record
class Letter:
    """A record of one field."""

    name: str


def twins(make: Callable[[Callable[[type], type]], type]) -> tuple[Any, Any]:
    """The same class as a record and as a frozen dataclass."""
    return make(record), make(dataclass(frozen=True))


def parcel(decorate: Callable[[type], type]) -> type:
    class Parcel:
        """A parcel."""

        name: str
        weight: int = 3
        marks: tuple[str, ...] = field(default_factory=tuple)
        note: str = field(default="", compare=False, repr=False)

    return decorate(Parcel)


def test_it_is_made_shown_and_taken_apart_like_a_frozen_dataclass() -> None:
    for given in (("a",), ("a", 4), ("a", 4, ("x",), "n")):
        ours, theirs = (made(*given) for made in twins(parcel))
        assert repr(ours) == repr(theirs)
        assert asdict(ours) == asdict(theirs)
        assert hash(ours) == hash(theirs)
        assert [each.name for each in fields(ours)] == [each.name for each in fields(theirs)]
        assert type(ours).__match_args__ == type(theirs).__match_args__


@pytest.mark.parametrize("given", [(), ("a", 1, (), "", 5)], ids=["too few", "too many"])
def test_a_wrong_call_is_answered_with_the_same_words(given: tuple[Any, ...]) -> None:
    said = []
    for made in twins(parcel):
        with pytest.raises(TypeError) as caught:
            made(*given)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_records_are_equal_by_the_fields_that_count_and_only_within_their_class() -> None:
    assert Parcel("a", note="x") == Parcel("a", note="y")
    assert Parcel("a") != Parcel("b")
    assert Parcel("a") != "a"
    other = parcel(record)
    assert Parcel("a") != other("a")
    assert len({Parcel("a", note="x"), Parcel("a", note="y"), Parcel("b")}) == 2
    assert hash(Letter("a")) == hash(("a",))


def test_nothing_is_assigned_to_or_removed_from_a_record() -> None:
    held = Parcel("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        held.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del held.name
    assert held.name == "a"


def test_a_change_makes_a_new_record_and_what_was_reckoned_stays_with_the_old_one() -> None:
    held = Parcel("a")
    assert held.title == "a, 3 kg"
    assert replace(held, weight=5).title == "a, 5 kg"
    assert held == Parcel("a")


def test_each_record_gets_a_default_of_its_own() -> None:
    @record
    class Box:
        """A box."""

        content: dict[str, int] = field(default_factory=dict)

    assert Box().content is not Box().content
    assert Box({"a": 1}).content == {"a": 1}


def test_it_is_copied_and_pickled() -> None:
    held = Parcel("a", marks=("x",))
    assert copy.deepcopy(held) == held
    assert pickle.loads(pickle.dumps(held)) == held


def test_a_record_of_another_one_has_its_fields_first() -> None:
    @record
    class Crate(Parcel):
        """A crate."""

        lid: bool = True

    assert repr(Crate("a", lid=False)).endswith("Crate(name='a', weight=3, marks=(), lid=False)")
    assert Crate("a") != Parcel("a")


def test_a_record_without_fields_is_equal_to_its_kind() -> None:
    @record
    class Nothing:
        """Nothing."""

    assert Nothing() == Nothing()
    assert repr(Nothing()).endswith("Nothing()")


def test_a_record_without_a_docstring_is_described_by_its_name_and_python_reads_no_signature_for_it() -> None:
    made = type("Parcel", (), {"__annotations__": {"name": "str"}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect, "signature", lambda _: pytest.fail("the signature was read"))
        assert record(made).__doc__ == "Parcel"


def test_a_record_that_holds_itself_is_shown() -> None:
    holder: list[Any] = []
    held = Letter(holder)  # type: ignore[arg-type]
    holder.append(held)
    assert repr(held) == "Letter(name=[...])"


def test_what_a_record_would_not_do_is_refused_where_the_class_is_made() -> None:
    class Checked:
        name: str

        def __post_init__(self) -> None: ...

    class Named:
        name: str = field(kw_only=True)

    class Reckoned:
        name: str = field(init=False)

    for cls in (Checked, Named, Reckoned):
        with pytest.raises(TypeError, match="is more than a record"):
            record(cls)
    with pytest.raises(ValueError, match="mutable default"):
        record(type("Shared", (), {"__annotations__": {"names": "list"}, "names": []}))
