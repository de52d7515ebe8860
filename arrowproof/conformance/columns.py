"""Columns: the definitions between the parentheses of a CREATE TABLE, as far as the scan reasons with them.

Read from tokens: the name of a column, its type, default, NOT NULL and collation; unique keys and foreign keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from arrowproof.conformance.column_types import SQLITE_TYPES, Types
from arrowproof.conformance.names import fold
from arrowproof.conformance.token_lists import names_in_parentheses, parenthesis, with_depth
from arrowproof.conformance.tokens import Token, TokenKind, read_name
from arrowproof.conformance.values import ANYTHING, NOTHING, Affinity, Collation, Constant, Values
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record

_CONSTRAINTS = frozenset(
    {
        "CONSTRAINT",
        "PRIMARY",
        "NOT",
        "NULL",
        "UNIQUE",
        "CHECK",
        "DEFAULT",
        "COLLATE",
        "REFERENCES",
        "GENERATED",
        "AS",
        "ON",
        "DEFERRABLE",
        "INITIALLY",
    }
)


@record
class Column:
    """A column as declared. ``default`` is what an INSERT that does not name the column stores."""

    name: str
    affinity: Affinity = Affinity.UNDECLARED
    default: Values = NOTHING
    is_not_null: bool = False
    collation: Collation = Collation.BINARY
    is_generated: bool = False
    labels: tuple[str, ...] = ()
    """Of an enum, its labels in their order; empty where that is not known."""
    enum: str = ""


UNDECLARED = Column("", default=ANYTHING, collation=Collation.UNDECLARED)


@record
class ForeignKey:
    """A reference to a parent table with its actions (``CASCADE``, ``SET NULL``, …; empty when it has none)."""

    columns: tuple[str, ...]
    parent: str
    on_delete: str = ""
    on_update: str = ""

    @property
    def has_action(self) -> bool:
        """Whether a change of the parent's rows can change or remove rows of the child."""
        return self.on_delete == "CASCADE" or self.changes_child

    @property
    def changes_child(self) -> bool:
        """Whether a change of the parent's rows can change these columns of the child."""
        sets = ("SET NULL", "SET DEFAULT")
        return self.on_update in ("CASCADE", *sets) or self.on_delete in sets


@record
class ColumnDefinition:
    """One column as it stands in a CREATE TABLE or an ADD COLUMN, with the keys that it makes."""

    column: Column
    is_key: bool
    foreign_keys: tuple[ForeignKey, ...]


class TableReader:
    """Gathers the definitions between the parentheses of one CREATE TABLE.

    ``is_open`` says that the table has columns which do not stand there, as LIKE brings them.
    """

    def __init__(self, name: str, types: Types = SQLITE_TYPES) -> None:
        self.name = name
        self.types = types
        self.is_open = False
        self.columns: list[Column] = []
        self.keys: set[frozenset[str]] = set()
        self.foreign_keys: list[ForeignKey] = []

    def read(self, definition: Sequence[Token]) -> None:
        """Take in one column or one constraint of the table."""
        if definition and definition[0].word == "CONSTRAINT":
            definition = definition[2:]
        word = definition[0].word if definition else ""
        is_server = self.types.grammar.dialect is not Dialect.SQLITE
        if word in ("PRIMARY", "UNIQUE"):
            at = next((index for index, token in enumerate(definition) if token.word == "("), len(definition))
            columns, _ = names_in_parentheses(definition, at)
            if columns and not _is_deferred(definition):
                self.keys.add(frozenset(columns))
        elif word == "FOREIGN":
            columns, after = names_in_parentheses(definition, 2)
            self.foreign_keys += _read_references(definition[after:], columns)
        elif is_server and word == "LIKE":
            self.is_open = True
        elif definition and word != "CHECK" and not (is_server and word in ("EXCLUDE", "INDEX", "KEY", "FULLTEXT")):
            read = read_column(definition, self.types)
            self.columns.append(read.column)
            self.foreign_keys += read.foreign_keys
            if read.is_key:
                self.keys.add(frozenset({read.column.name}))


def _is_deferred(definition: Sequence[Token]) -> bool:
    """Whether a key may be broken for the length of a transaction."""
    words = [token.word for token in definition]
    return any(word == "DEFERRABLE" and words[index - 1] != "NOT" for index, word in enumerate(words))


def read_column(tokens: Sequence[Token], types: Types = SQLITE_TYPES) -> ColumnDefinition:
    """One column: its name, the words of its type, then its constraints in any order."""
    name = fold(tokens[0].name or "") if tokens else ""
    outer = [(index, token) for index, token, depth in with_depth(tokens) if depth == 0 and index > 0]
    constraints = next((index for index, token in outer if token.word in _CONSTRAINTS), len(tokens))
    is_sqlite = types.grammar.dialect is Dialect.SQLITE
    kind = types.read(_declared_type(tokens[1:constraints], types))
    # A type that is not known may be a domain, which has a default of its own.
    default = NOTHING if is_sqlite or kind.affinity is not Affinity.UNDECLARED else ANYTHING
    column = Column(name, kind.affinity, default, collation=kind.collation, labels=kind.labels, enum=kind.enum)
    is_key = False
    for index, token in outer:
        following = tokens[index + 1].word if index + 1 < len(tokens) else ""
        match token.word:
            case "NOT" if following == "NULL":
                column = replace(column, is_not_null=True)
            case "DEFAULT":
                read = _read_default if is_sqlite else _read_server_default
                column = replace(column, default=read(tokens[index + 1 :]))
            case "COLLATE":
                column = replace(column, collation=_read_collation(tokens, index + 1))
            case "GENERATED" | "AS" if is_sqlite or (token.word == "AS" and following == "("):
                column = replace(column, is_generated=True)
            case "UNIQUE":
                is_key = not _is_deferred(tokens)
            case "PRIMARY" if following == "KEY":
                is_key = not _is_deferred(tokens)
    return ColumnDefinition(column, is_key, tuple(_read_references(tokens, (name,))))


def _declared_type(tokens: Sequence[Token], types: Types) -> str:
    """The words of a type. To the servers without schema and length; an array has no name that is known."""
    if types.grammar.dialect is Dialect.SQLITE:
        return " ".join(token.name or "" for token in tokens).strip()
    words = [token.word for token in tokens]
    if "[" in words or "ARRAY" in words:
        return "array"
    named = tokens[: words.index("(")] if "(" in words else tokens
    named = named[2:] if len(named) > 2 and named[1].word == "." else named
    return " ".join(token.name or "" for token in named).strip()


def _read_server_default(tokens: Sequence[Token]) -> Values:
    """A default of a server: a literal, with or without a cast; a bare word is no string there."""
    sign = -1 if tokens and tokens[0].word == "-" else 1
    tokens = tokens[1:] if sign < 0 else tokens
    following = next((token.word for token in tokens[1:]), "")
    if not tokens or not (following in _CONSTRAINTS or following in ("", "::")):
        return ANYTHING
    words = [token.word for token in tokens[1:]]
    cast = words[: next((at for at, word in enumerate(words) if word in _CONSTRAINTS), len(words))]
    if any(word in ("||", "+", "-", "*", "/") for word in cast):
        return ANYTHING
    first = tokens[0]
    if first.value is not None:
        return Values.of(first.value)
    if first.word in ("NULL", "TRUE", "FALSE") or first.kind is TokenKind.NUMBER:
        constant = _read_literal(first)
        return Values.of(sign * constant if isinstance(constant, int) else constant)
    return ANYTHING


def _read_default(tokens: Sequence[Token]) -> Values:
    """A default: a literal, signed or in parentheses; everything that is computed is open."""
    if tokens and tokens[0].word == "(":
        tokens, _ = parenthesis(tokens, 0)
        while tokens and tokens[0].word == "(" and parenthesis(tokens, 0)[1] == len(tokens):
            tokens = tokens[1:-1]
        if len(tokens) - (tokens[0].word in ("-", "+") if tokens else 0) != 1:
            return ANYTHING
    sign = -1 if tokens and tokens[0].word == "-" else 1
    literal = (
        tokens[1] if tokens and tokens[0].word in ("-", "+") and len(tokens) > 1 else tokens[0] if tokens else None
    )
    if literal is None or literal.word.startswith("CURRENT_"):
        return ANYTHING
    constant = _read_literal(literal)
    if isinstance(constant, int):
        return Values.of(sign * constant)
    return Values.of(constant) if isinstance(constant, str) or literal.word == "NULL" else ANYTHING


def _read_literal(token: Token) -> Constant:
    """The constant of a literal, None when it is NULL or no constant. As a default, a bare name is a string."""
    if token.kind is TokenKind.NUMBER:
        text = token.text.replace("_", "").lower()
        if text.startswith("0x"):
            return None
        number = float(text)
        return int(text) if text.isdigit() and number < 2**53 else number
    if token.word in ("TRUE", "FALSE"):
        return int(token.word == "TRUE")
    return None if token.word == "NULL" else token.name


def _read_collation(tokens: Sequence[Token], index: int) -> Collation:
    name = fold(tokens[index].name or "") if index < len(tokens) else ""
    if name in ("c", "posix", "default"):
        return Collation.BINARY
    return Collation(name) if name in ("binary", "nocase", "rtrim") else Collation.CUSTOM


def _read_references(tokens: Sequence[Token], columns: tuple[str, ...]) -> Iterator[ForeignKey]:
    """The foreign keys of a definition, which lie on ``columns``."""
    words = [token.word for token in tokens]
    for index, _, depth in with_depth(tokens):
        if depth == 0 and words[index] == "REFERENCES":
            _, parent, after = read_name(tokens, index + 1)
            actions = {"DELETE": "", "UPDATE": ""}
            for at in range(after, len(words) - 2):
                if words[at] == "ON" and words[at + 1] in actions:
                    actions[words[at + 1]] = " ".join(
                        words[at + 2 : at + 4 if words[at + 2] in ("SET", "NO") else at + 3]
                    )
            if parent is not None:
                yield ForeignKey(columns, fold(parent), actions["DELETE"], actions["UPDATE"])
