"""Tables of SQLAlchemy: which classes and variables of Python code stand for the bound table, and its state column."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from arrowproof.conformance.names import fold
from arrowproof.conformance.python_constants import Project, last_name
from arrowproof.conformance.sqlalchemy_classes import ClassTables, Unknown

_COLUMNS = ("column", "field")
"""How the functions end that make a column, in whatever case: a project has its own of them too."""
_TEXTS = frozenset({"String", "Text", "Unicode", "UnicodeText", "VARCHAR", "CHAR", "TEXT", "str"})


class Members(StrEnum):
    """What the state column stores of a member of an enum."""

    VALUE = "value"
    NAME = "name"
    UNKNOWN = "unknown"


@dataclass
class MappedTable:
    """The bound table as Python code knows it.

    ``names`` are the classes and variables that stand for it, ``nodes`` the definitions of these classes by identity,
    as another class may have the same name; ``bases`` are the classes that these are derived from;
    ``attributes`` maps what the code calls a column to its name, ``methods`` are attributes that are none, as of a
    hybrid. ``default`` is what the code stores in the state column of a new row that does not name it, ``onupdate``
    what it stores with every change that does not. ``doubt`` says why the classes may stand for another table;
    ``has_locks`` whether the database has locks of rows, without which SQLAlchemy leaves FOR UPDATE out.
    """

    table: str
    state_column: str
    key: str
    names: set[str] = field(default_factory=set)
    nodes: set[int] = field(default_factory=set)
    bases: set[str] = field(default_factory=set)
    attributes: dict[str, str] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)
    default: ast.expr | None = None
    onupdate: ast.expr | None = None
    members: Members = Members.UNKNOWN
    doubt: str | None = None
    has_locks: bool = True

    @property
    def quoted(self) -> str:
        """The table's name as SQL."""
        return '"' + self.table.replace('"', '""') + '"'

    def column_of(self, attribute: str) -> str:
        """The column that an attribute stands for."""
        return self.attributes.get(attribute, attribute)

    def is_state(self, attribute: str) -> bool:
        """Whether an attribute stands for the state column."""
        return fold(self.column_of(attribute)) == self.state_column


def find_mapped(
    trees: Iterable[ast.Module], table: str, state_column: str, key: str, project: Project | None = None
) -> MappedTable | None:
    """What stands for a table in these modules, None when nothing does. Names are folded."""
    mapped = MappedTable(table, state_column, key)
    trees = list(trees)
    finder = ClassTables(trees)
    is_inline = False
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and _names_table(node, table, finder):
                mapped.names.add(node.name)
                mapped.nodes.add(id(node))
            elif isinstance(node, ast.Assign) and is_table_call(node.value, table):
                mapped.names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
                for column in node.value.args[1:] if isinstance(node.value, ast.Call) else ():
                    _read_column("", column, mapped)
            elif isinstance(node, ast.Call):
                is_inline |= is_table_call(node, table)
    for tree in trees:
        _read_imperative(tree, mapped, finder)
    if not mapped.names:
        _add_doubtful(mapped, finder)
    classes = {name for name in mapped.names if name in finder.classes}
    derived = {each for name in classes for each in (project or Project()).derived_from(name)}
    mapped.names |= derived
    while mapped.names and (more := set(_subclasses(trees, mapped.names)) - mapped.names):
        mapped.names |= more
        derived |= more
    mapped.nodes |= {id(node) for name in derived for node in finder.classes.get(name, ())}
    mapped.bases = _bases_of(mapped.names, finder, project)
    for name in (*sorted(mapped.bases), *sorted(mapped.names)):
        for node in finder.classes.get(name, ()):
            if name in mapped.bases or id(node) in mapped.nodes:
                _read_class(node, mapped)
    return mapped if mapped.names or is_inline else None


def _bases_of(names: set[str], finder: ClassTables, project: Project | None) -> set[str]:
    """The classes that the mapped ones are derived from, as far as the project defines them."""
    found: set[str] = set()
    more = set(names)
    while more:
        bases = {base for name in more for base in finder.bases_of(name)}
        bases |= {base for name in more for base in (project.bases_of(name) if project is not None else ())}
        more = bases - found - names
        found |= more
    return found


def _add_doubtful(mapped: MappedTable, finder: ClassTables) -> None:
    """Classes whose table is not written out and which have a column of the state's name; only those named like it."""
    found = [
        name
        for name, nodes in finder.classes.items()
        if any(finder.table_of(node) is Unknown.TABLE for node in nodes)
        and finder.has_column(name, mapped.state_column)
    ]
    alike = [name for name in found if _plain(name)[:-1] in _plain(mapped.table)]
    mapped.names |= set(alike or found)
    mapped.nodes |= {id(node) for name in mapped.names for node in finder.classes[name]}
    if mapped.names:
        mapped.doubt = (
            f"the table of {', '.join(sorted(mapped.names))[:80]} is not written out, and may be {mapped.table}"
        )


def _plain(name: str) -> str:
    return re.sub(r"(?:model|table|entity|orm)$", "", name.lower().replace("_", "")) or name.lower()


def _read_imperative(tree: ast.Module, mapped: MappedTable, finder: ClassTables) -> None:
    """``registry.map_imperatively(Job, jobs, properties={…})``."""
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and last_name(node.func) in ("map_imperatively", "mapper")
        if not is_call or not isinstance(node, ast.Call) or len(node.args) < 2:
            continue
        name, table = last_name(node.args[0]), node.args[1]
        if name and (last_name(table) in mapped.names or is_table_call(table, mapped.table)):
            mapped.names.add(name)
            mapped.nodes |= {id(each) for each in finder.classes.get(name, ())}
            mapped.attributes.update(_properties(node))


def _properties(call: ast.Call) -> Iterator[tuple[str, str]]:
    """The attributes that ``properties={…}`` gives columns, with the names of these."""
    for keyword in call.keywords:
        if keyword.arg == "properties" and isinstance(keyword.value, ast.Dict):
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(key, ast.Constant) and last_name(value):
                    yield str(key.value), last_name(value)


def _names_table(node: ast.ClassDef, table: str, finder: ClassTables) -> bool:
    for each in node.body:
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            if "__table__" in {last_name(target) for target in targets} and is_table_call(each.value, table):
                return True
    named = finder.table_of(node)
    return isinstance(named, str) and not isinstance(named, Unknown) and fold(named) == table


def is_table_call(node: ast.expr | None, table: str) -> bool:
    """Whether it is ``Table("jobs", …)``, the ``table("jobs", …)`` of a migration, or ``metadata.tables["jobs"]``."""
    named = None
    if isinstance(node, ast.Call) and last_name(node.func) in ("Table", "table", "create_table") and node.args:
        named = _text(node.args[0])
    elif isinstance(node, ast.Subscript) and last_name(node.value) == "tables":
        named = _text(node.slice)
    elif isinstance(node, ast.Attribute) and last_name(node.value) == "classes":
        named = node.attr
    return fold(named or "") == table


def _read_class(node: ast.ClassDef, mapped: MappedTable) -> None:
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.decorator_list:
            mapped.methods.add(each.name)
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            _read_column(each.target.id, each.value, mapped, each.annotation)
        elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            _read_column(each.targets[0].id, each.value, mapped)


def _read_column(
    attribute: str, node: ast.expr | None, mapped: MappedTable, annotation: ast.expr | None = None
) -> None:
    """What the declaration of one column says; ``attribute`` is empty in a Table."""
    if isinstance(node, ast.Call) and last_name(node.func) == "synonym" and node.args and _text(node.args[0]):
        mapped.attributes[attribute] = mapped.column_of(_text(node.args[0]) or "")
        return
    is_column = isinstance(node, ast.Call) and last_name(node.func).lower().endswith(_COLUMNS)
    if not is_column and annotation is None:
        return
    call = node if isinstance(node, ast.Call) and is_column else None
    named = _column_name(call)
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
    keywords = {each.arg: each.value for each in call.keywords} if call is not None else {}
    given = [keywords[each] for each in ("insert_default", "default", "default_factory") if each in keywords]
    given += _plain_default(node, call)
    mapped.default = given[0] if given else mapped.default
    mapped.onupdate = keywords.get("onupdate", mapped.onupdate)
    if not given and mapped.default is None and _text(keywords.get("server_default")) is not None:
        mapped.default = keywords["server_default"]


def _column_name(call: ast.Call | None) -> str | None:
    """The name that a declaration gives its column; what SQLModel's Field is given first is a default."""
    if call is not None and last_name(call.func) == "Field":
        inner = [each.value for each in call.keywords if each.arg == "sa_column" and isinstance(each.value, ast.Call)]
        call = inner[0] if inner and isinstance(inner[0], ast.Call) else None
    return _text(call.args[0]) if call is not None and call.args else None


def _plain_default(node: ast.expr | None, call: ast.Call | None) -> list[ast.expr]:
    """The default of ``state: str = "todo"`` and ``state: str = Field("todo")``, as SQLModel has them."""
    if call is not None:
        first = call.args[:1] if last_name(call.func) == "Field" else []
        return [each for each in first if not (isinstance(each, ast.Constant) and each.value is Ellipsis)]
    return [node] if isinstance(node, ast.Constant | ast.Name | ast.Attribute) else []


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
