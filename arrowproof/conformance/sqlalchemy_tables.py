"""Tables of SQLAlchemy: which classes and variables of Python code stand for the bound table, and its state column."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from arrowproof.conformance.names import fold

_COLUMNS = frozenset({"Column", "mapped_column", "column", "Field"})
_TEXTS = frozenset({"String", "Text", "Unicode", "UnicodeText", "VARCHAR", "CHAR", "TEXT", "str"})


class Members(StrEnum):
    """What the state column stores of a member of an enum."""

    VALUE = "value"
    NAME = "name"
    UNKNOWN = "unknown"


@dataclass
class MappedTable:
    """The bound table as Python code knows it.

    ``names`` are the classes and variables that stand for it, ``attributes`` maps what the code calls a column to its
    name; ``default`` is what the code stores in the state column of a new row that does not name it.
    """

    table: str
    state_column: str
    key: str
    names: set[str] = field(default_factory=set)
    attributes: dict[str, str] = field(default_factory=dict)
    default: ast.expr | None = None
    members: Members = Members.UNKNOWN

    def column_of(self, attribute: str) -> str:
        """The column that an attribute stands for."""
        return self.attributes.get(attribute, attribute)

    def is_state(self, attribute: str) -> bool:
        """Whether an attribute stands for the state column."""
        return fold(self.column_of(attribute)) == self.state_column


def find_mapped(trees: Iterable[ast.Module], table: str, state_column: str, key: str) -> MappedTable | None:
    """What stands for a table in these modules, None when nothing does. Names are folded."""
    mapped = MappedTable(table, state_column, key)
    trees = list(trees)
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and _names_table(node, table):
                mapped.names.add(node.name)
                _read_class(node, mapped)
            elif isinstance(node, ast.Assign) and _is_table_call(node.value, table):
                mapped.names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
                for column in node.value.args[1:] if isinstance(node.value, ast.Call) else ():
                    _read_column("", column, mapped)
    while mapped.names and (more := set(_subclasses(trees, mapped.names)) - mapped.names):
        mapped.names |= more
    return mapped if mapped.names else None


def last_name(node: ast.expr | None) -> str:
    """The last name of ``a.b.c``, empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _names_table(node: ast.ClassDef, table: str) -> bool:
    for each in node.body:
        if isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            names = {last_name(target) for target in targets}
            if "__tablename__" in names and _text(each.value) is not None:
                return fold(_text(each.value) or "") == table
            if "__table__" in names and each.value is not None:
                return _is_table_call(each.value, table)
    return False


def _is_table_call(node: ast.expr | None, table: str) -> bool:
    """Whether it is ``Table("jobs", …)``, the ``table("jobs", …)`` of a migration, or ``metadata.tables["jobs"]``."""
    named = None
    if isinstance(node, ast.Call) and last_name(node.func) in ("Table", "table") and node.args:
        named = _text(node.args[0])
    elif isinstance(node, ast.Subscript) and last_name(node.value) == "tables":
        named = _text(node.slice)
    return fold(named or "") == table


def _read_class(node: ast.ClassDef, mapped: MappedTable) -> None:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            _read_column(each.target.id, each.value, mapped, each.annotation)
        elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            _read_column(each.targets[0].id, each.value, mapped)


def _read_column(
    attribute: str, node: ast.expr | None, mapped: MappedTable, annotation: ast.expr | None = None
) -> None:
    """What the declaration of one column says; ``attribute`` is empty in a Table."""
    is_column = isinstance(node, ast.Call) and last_name(node.func) in _COLUMNS
    if not is_column and annotation is None:
        return
    call = node if isinstance(node, ast.Call) and is_column else None
    named = _text(call.args[0]) if call is not None and call.args else None
    column = named or attribute
    if not column:
        return
    mapped.attributes[attribute or column] = column
    if fold(column) != mapped.state_column:
        return
    types = {last_name(each) for each in _parts(call, annotation)}
    if types & _TEXTS and "Enum" not in types:
        mapped.members = Members.VALUE
    elif "Enum" in types and not any(each.arg == "values_callable" for each in _keywords(call)):
        mapped.members = Members.NAME
    for keyword in call.keywords if call is not None else ():
        if keyword.arg == "default":
            mapped.default = keyword.value


def _parts(call: ast.Call | None, annotation: ast.expr | None) -> Iterator[ast.expr]:
    for node in (call, annotation):
        if node is not None:
            yield from (each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute))


def _keywords(call: ast.Call | None) -> Iterator[ast.keyword]:
    if call is not None:
        yield from (each for each in ast.walk(call) if isinstance(each, ast.keyword))


def _subclasses(trees: Iterable[ast.Module], names: set[str]) -> Iterator[str]:
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(last_name(base) in names for base in node.bases):
                yield node.name


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
