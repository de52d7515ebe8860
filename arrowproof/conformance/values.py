"""Values and truths as SQLite computes them, lifted to sets: what an expression may come to when parts are unknown.

A value is a set of constants, open when it may also be anything else. A truth is a set over true, false and null.
"Don't know" is the set of all three, never null: the two differ under NOT, and mixing them up loses rows. Source of the
rules: SQLite's documentation of datatypes (affinity, comparison, collation) and of expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import reduce

from arrowproof.conformance.names import fold_keyword
from arrowproof.model.record import record

Constant = str | int | float | None
Truth = frozenset[bool | None]

TRUE: Truth = frozenset({True})
FALSE: Truth = frozenset({False})
NULL: Truth = frozenset({None})
TRUE_OR_FALSE: Truth = frozenset({True, False})
UNKNOWN: Truth = frozenset({True, False, None})

MAX_CONSTANTS = 64
"""A larger set of constants is called open rather than followed."""


class Collation(StrEnum):
    """How a column compares text. ``CUSTOM`` is a collation of the program; nothing is known of it."""

    BINARY = "binary"
    NOCASE = "nocase"
    RTRIM = "rtrim"
    CUSTOM = "custom"
    UNDECLARED = "undeclared"


class Affinity(StrEnum):
    """What a column makes of a value that is stored in it; ``UNDECLARED`` when no CREATE TABLE was found."""

    TEXT = "text"
    NUMERIC = "numeric"
    INTEGER = "integer"
    REAL = "real"
    BLOB = "blob"
    UNDECLARED = "undeclared"

    @classmethod
    def of_type(cls, declared: str) -> Affinity:
        """The affinity of a declared column type, by SQLite's five rules in their order."""
        name = fold_keyword(declared)
        if "INT" in name:
            return cls.INTEGER
        if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
            return cls.TEXT
        if not name or "BLOB" in name or name == "ANY":
            return cls.BLOB if name != "ANY" else cls.UNDECLARED
        return cls.REAL if any(part in name for part in ("REAL", "FLOA", "DOUB")) else cls.NUMERIC

    def store(self, constant: Constant) -> frozenset[Constant]:
        """What a column may hold after ``constant`` was stored in it; more than one when that is not certain."""
        as_text = str(constant) if isinstance(constant, int) else constant
        as_number = _number(constant) if isinstance(constant, str) else constant
        match self:
            case Affinity.TEXT if not isinstance(constant, float):
                return frozenset({as_text})
            case Affinity.BLOB:
                return frozenset({constant})
            case Affinity.NUMERIC | Affinity.INTEGER | Affinity.REAL:
                return frozenset({as_number})
        return frozenset({constant, as_text, as_number})


def _number(text: str) -> Constant:
    """The number that a numeric column makes of text, or the text itself when it is none."""
    stripped = text.strip(" \t\n\v\f\r")
    if not stripped.isascii() or not set(stripped) <= set("0123456789+-.eE"):
        return text
    try:
        number = float(stripped)
    except ValueError:
        return text
    if abs(number) >= 2**53:
        return int(stripped) if stripped.lstrip("+-").isdigit() and abs(int(stripped)) < 2**63 else number
    return int(number) if number.is_integer() else number


@record
class Values:
    """What an expression may come to: any of ``constants`` and, when ``open``, anything else (null included)."""

    constants: frozenset[Constant] = frozenset()
    open: bool = False

    @classmethod
    def of(cls, *constants: Constant) -> Values:
        """The value that is one of these constants."""
        return cls(frozenset(constants))

    def __or__(self, other: Values) -> Values:
        constants = self.constants | other.constants
        is_open = self.open or other.open
        return ANYTHING if is_open and len(constants) > MAX_CONSTANTS else Values(constants, is_open)

    @property
    def may_be_null(self) -> bool:
        """Whether null is among the possible values."""
        return self.open or None in self.constants

    def without_null(self) -> Values:
        """The same with null ruled out; what is open stays open."""
        return Values(self.constants - {None}, self.open)

    def map(self, function: Callable[[Constant], Constant]) -> Values:
        """Apply a function of constants; an open value stays open."""
        return Values(frozenset(function(each) for each in self.constants), self.open)


ANYTHING = Values(open=True)
NOTHING = Values.of(None)


def combine(left: Values, right: Values, function: Callable[[int, int], int]) -> Values:
    """Sum or difference of whole numbers small enough to be exact; everything else is anything."""
    results: set[Constant] = set()
    for a in left.constants:
        for b in right.constants:
            if a is None or b is None:
                results.add(None)
            elif isinstance(a, int) and isinstance(b, int):
                results.add(function(a, b))
            else:
                return ANYTHING
    is_open = left.open or right.open or len(results) > MAX_CONSTANTS
    return ANYTHING if is_open else Values(frozenset(results))


def negate(truth: Truth) -> Truth:
    """NOT: null stays null."""
    return frozenset(None if each is None else not each for each in truth)


def conjoin(truths: Iterable[Truth]) -> Truth:
    """AND: false wins over null, null over true."""
    return reduce(
        _pairwise(lambda a, b: False if a is False or b is False else None if None in (a, b) else True), truths, TRUE
    )


def disjoin(truths: Iterable[Truth]) -> Truth:
    """OR: true wins over null, null over false."""
    return reduce(
        _pairwise(lambda a, b: True if a is True or b is True else None if None in (a, b) else False), truths, FALSE
    )


def _pairwise(function: Callable[[bool | None, bool | None], bool | None]) -> Callable[[Truth, Truth], Truth]:
    return lambda left, right: frozenset(function(a, b) for a in left for b in right)


def truth_of(values: Values) -> Truth:
    """How a value reads as a condition. Text reads as the number that it begins with, which is left unknown here."""
    truths: set[bool | None] = set(UNKNOWN) if values.open else set()
    for each in values.constants:
        truths |= TRUE_OR_FALSE if isinstance(each, str) else {None if each is None else bool(each)}
    return frozenset(truths)


def value_of(truth: Truth) -> Values:
    """A condition as a value: 1, 0 or null."""
    return Values(frozenset(None if each is None else int(each) for each in truth))


Comparison = Callable[[Constant, Constant], Truth]


def compare(left: Values, right: Values, comparison: Comparison) -> Truth:
    """Compare every possible pair; a comparison with null is null, whatever stands on the other side."""
    if NOTHING in (left, right):
        return NULL
    truths = UNKNOWN if left.open or right.open else frozenset[bool | None]()
    for a in left.constants:
        for b in right.constants:
            truths |= NULL if a is None or b is None else comparison(a, b)
    return truths


def same(left: Values, right: Values, comparison: Comparison) -> Truth:
    """IS: equality by which null is the same as null, and never comes out null."""
    truths = TRUE_OR_FALSE if left.open or right.open else frozenset[bool | None]()
    for a in left.constants:
        for b in right.constants:
            truths |= frozenset({a is b}) if a is None or b is None else comparison(a, b)
    return truths


def equality(collation: Collation) -> Comparison:
    """The comparison for ``=`` between values that are not null, under the collation of the state column.

    Constants of different types are left unknown: the affinity of the two sides decides, and that of an expression is
    easily misjudged. Text that differs only by case or trailing blanks is unknown unless the collation is declared.
    """

    def equal(a: Constant, b: Constant) -> Truth:
        if isinstance(a, str) != isinstance(b, str):
            return TRUE_OR_FALSE
        if a == b:
            return TRUE if collation is not Collation.CUSTOM else TRUE_OR_FALSE
        if collation is Collation.CUSTOM or (isinstance(a, str) and isinstance(b, str) and _folds(a) == _folds(b)):
            return FALSE if collation is Collation.BINARY else TRUE_OR_FALSE
        return FALSE

    return equal


def _folds(text: str) -> str:
    return text.rstrip(" ").lower()


def order(test: Callable[[float, float], bool], labels: Sequence[str] = ()) -> Comparison:
    """The comparison for ``<`` and its kin: exact between numbers; the order of text is left unknown.

    ``labels`` are those of the enum that both sides are of, in their order.
    """
    ranks = {label: place for place, label in enumerate(labels)}

    def ordered(a: Constant, b: Constant) -> Truth:
        if isinstance(a, str) and isinstance(b, str) and a in ranks and b in ranks:
            return frozenset({test(ranks[a], ranks[b])})
        if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
            return TRUE_OR_FALSE
        return frozenset({test(a, b)})

    return ordered
