"""Column types: what a declared type makes of the values that a column holds, by the dialect that declares it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType

from arrowproof.conformance.grammar import SQLITE, Grammar
from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import read_name, skip_words
from arrowproof.conformance.values import Affinity, Collation
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record


@record
class ColumnType:
    """How a column stores and compares values. ``labels`` are those of an enum in their order, empty where it is not
    known; ``enum`` is the enum's name in lower case."""

    affinity: Affinity
    collation: Collation
    labels: tuple[str, ...] = ()
    enum: str = ""


_TEXT = frozenset({"text", "varchar", "character varying", "name"})
_PADDED = frozenset({"char", "character", "bpchar"})
_WHOLE = frozenset(
    {"int", "integer", "int2", "int4", "int8", "smallint", "bigint", "serial", "bigserial", "smallserial", "tinyint"}
)
_MYSQL_TEXT = frozenset({"text", "varchar", "char", "tinytext", "mediumtext", "longtext", "enum"})


@record
class Types:
    """The types of one set of sources: those of the dialect, and the enums that the sources create."""

    grammar: Grammar
    enums: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def read(self, declared: str) -> ColumnType:
        """The type that a column is declared with, its schema and length left out."""
        if self.grammar.dialect is Dialect.SQLITE:
            return ColumnType(Affinity.of_type(declared), Collation.BINARY)
        name = fold(declared)
        if self.grammar.dialect is Dialect.MYSQL:
            is_text = name.split(" ")[0] in _MYSQL_TEXT
            return ColumnType(Affinity.TEXT if is_text else Affinity.UNDECLARED, Collation.NOCASE)
        if name in self.enums:
            return ColumnType(Affinity.TEXT, Collation.BINARY, self.enums[name], name)
        if name in _TEXT or name in _PADDED:
            return ColumnType(Affinity.TEXT, Collation.BINARY if name in _TEXT else Collation.RTRIM)
        if name in _WHOLE:
            return ColumnType(Affinity.INTEGER, Collation.BINARY)
        return ColumnType(Affinity.UNDECLARED, Collation.CUSTOM if name == "citext" else Collation.UNDECLARED)


SQLITE_TYPES = Types(SQLITE)


def read_types(statements: Iterable[SqlStatement]) -> Types:
    """The types that these statements can use. The labels of an enum that is altered have no known order."""
    grammar, enums = SQLITE, dict[str, tuple[str, ...]]()
    altered: set[str] = set()
    for statement in statements:
        grammar = statement.grammar
        tokens = statement.tokens
        if (at := skip_words(tokens, 0, "CREATE", "TYPE")) > 0:
            _, name, after = read_name(tokens, at)
            labels = [token.value for token in tokens[after:] if token.value is not None]
            if name is not None and skip_words(tokens, after, "AS", "ENUM") > after:
                altered |= {fold(name)} & enums.keys()
                enums[fold(name)] = tuple(labels)
        elif (at := skip_words(tokens, 0, "ALTER", "TYPE")) > 0:
            altered.add(fold(read_name(tokens, at)[1] or ""))
    return Types(grammar, MappingProxyType({name: () if name in altered else enums[name] for name in enums}))
