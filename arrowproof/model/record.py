"""The record: a frozen dataclass in everything that its users see, and made in a fifth of the time.

``dataclass(frozen=True)`` compiles six methods for each class out of text, 0.5 ms a class; the modules that draw one
page have more than eighty, which was a quarter of what ``render`` took altogether. A record compiles its ``__init__``
alone. The other methods are the same for all records but for the names of the fields, and need no text: equality and
hash by the fields that count, a ``repr`` like a dataclass's, and no assignment. ``replace``, ``asdict``, ``fields`` and
``match`` know it for the dataclass that it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, NoReturn, TypeVar, dataclass_transform

Made = TypeVar("Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Made]) -> type[Made]:
    """Make a class a record of its annotated names, in their order; defaults are as in a dataclass.

    Raises:
        TypeError: it has a ``__post_init__``, or fields that its ``__init__`` would not take by place: neither is read.
    """
    if not cls.__doc__:
        # A dataclass without a docstring gets its signature for one, by Python's tokenizer: 3 ms for the first of them.
        cls.__doc__ = cls.__name__
    dataclass(init=False, repr=False, eq=False)(cls)
    shown = fields(cls)  # type: ignore[arg-type]  # the decorator has made it one, which no type can say
    if hasattr(cls, "__post_init__") or any(each.kw_only or not each.init for each in shown):
        raise TypeError(f"{cls.__qualname__} is more than a record. Make it a dataclass")
    values = _values(tuple(each.name for each in shown if each.compare))
    methods: dict[str, Callable[..., Any]] = {
        "__init__": _init(cls.__qualname__, shown),
        "__eq__": lambda self, other: values(self) == values(other) if type(other) is type(self) else NotImplemented,
        "__hash__": lambda self: hash(values(self)),
        "__repr__": _repr(tuple(each.name for each in shown if each.repr)),
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_removal,
    }
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


def _values(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """What a record holds under these names; ``attrgetter`` gives a tuple for two names and more."""
    return attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)


def _init(record_name: str, shown: tuple[Field[Any], ...]) -> Callable[..., None]:
    """``__init__``, compiled from text: nothing else makes one as fast as one that is written by hand."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_MISSING": MISSING}
    taken, lines = ["self"], []
    for each in shown:
        value = each.name
        if each.default_factory is not MISSING:
            known[f"_made_{each.name}"] = each.default_factory
            taken.append(f"{each.name}=_MISSING")
            value = f"_made_{each.name}() if {each.name} is _MISSING else {each.name}"
        elif each.default is not MISSING:
            known[f"_default_{each.name}"] = each.default
            taken.append(f"{each.name}=_default_{each.name}")
        else:
            taken.append(each.name)
        lines.append(f"    _put(self, {each.name!r}, {value})")
    made: dict[str, Callable[..., None]] = {}
    exec("\n".join((f"def __init__({', '.join(taken)}):", *lines, "    pass")), known, made)
    made["__init__"].__qualname__ = f"{record_name}.__init__"  # which a wrong call is answered with
    return made["__init__"]


def _repr(names: tuple[str, ...]) -> Callable[[object], str]:
    def say(self: object) -> str:
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({said})"

    return recursive_repr()(say)


def _refuse_assignment(_self: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_removal(_self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
