"""Tables: what the CREATE statements among the sources say of a table, as far as the scan reasons with it.

Read from tokens, since only the skeleton matters: columns with type, default, NOT NULL and collation, unique keys,
foreign keys, and whether a constraint replaces rows. A table that no source creates has no known columns and no keys,
and then nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from arrowproof.conformance.column_types import SQLITE_TYPES, Types, read_types
from arrowproof.conformance.columns import UNDECLARED, Column, ForeignKey, TableReader, read_column
from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.token_lists import names_in_parentheses, parenthesis, split_commas
from arrowproof.conformance.tokens import Token, read_name, skip_words
from arrowproof.conformance.values import ANYTHING
from arrowproof.model.record import record

ROWID_NAMES = frozenset({"rowid", "oid", "_rowid_"})


@record
class Table:
    """What is known of a table. Names are in lower case, as they are compared here.

    ``columns`` is empty when no source creates the table, or when several create it differently; ``assured`` are the
    columns that it has in any case, because the binding names them. ``replaces_rows`` says that a constraint of the
    table carries ON CONFLICT REPLACE.
    """

    name: str
    columns: tuple[Column, ...] = ()
    keys: frozenset[frozenset[str]] = frozenset()
    foreign_keys: tuple[ForeignKey, ...] = ()
    replaces_rows: bool = False
    assured: frozenset[str] = frozenset()
    row_names: frozenset[str] = ROWID_NAMES
    """The names by which the dialect itself knows a row."""
    schemas: frozenset[str] = frozenset({"", "main"})
    """The schemas that mean this table in the statement that is judged, the empty one being none."""
    statement: SqlStatement | None = field(default=None, compare=False, repr=False)

    @property
    def is_known(self) -> bool:
        """Whether the columns are known."""
        return bool(self.columns)

    def column(self, name: str) -> Column:
        """The column of that name, or one of which nothing is known."""
        return next((column for column in self.columns if column.name == fold(name)), UNDECLARED)

    def owns(self, name: str) -> bool | None:
        """Whether the table has a column of that name, None when that is not known."""
        if name in self.assured:
            return True
        if not self.is_known:
            return None
        return name in self.row_names or any(column.name == name for column in self.columns)


def read_table(
    statements: Iterable[SqlStatement], name: str, assured: Iterable[str] = (), *, drops_index: bool = False
) -> Table:
    """What the sources declare of the table ``name``. Declarations that contradict each other say nothing.

    ``assured`` are columns that the table has whether a source declares them or not. ``drops_index`` is whether an
    index is dropped by what is not among the statements.
    """
    table = _read_table(tuple(statements), fold(name), drops_index)
    return replace(table, assured=frozenset(fold(each) for each in assured))


def _read_table(statements: Sequence[SqlStatement], wanted: str, drops_index: bool) -> Table:
    types = read_types(statements)
    created = [table for table in _tables_created(statements, types) if table.name == wanted]
    if not created:
        return Table(wanted, row_names=ROWID_NAMES if types.grammar.has_rowid else frozenset())
    table = created[0]
    for other in created[1:]:
        if other != table:
            keys = tuple(dict.fromkeys(table.foreign_keys + other.foreign_keys))
            table = Table(
                wanted, (), frozenset(), keys, table.replaces_rows or other.replaces_rows, statement=table.statement
            )
    drops_index |= any((statement.word(0), statement.word(1)) == ("DROP", "INDEX") for statement in statements)
    return _with_additions(table, statements, types, drops_index) if table.is_known else table


def _tables_created(statements: Sequence[SqlStatement], types: Types) -> Iterator[Table]:
    for statement in statements:
        table = _read_create(statement, types) if statement.word(0) == "CREATE" else None
        if table is not None:
            yield table


def read_foreign_keys(statements: Sequence[SqlStatement]) -> dict[str, tuple[ForeignKey, ...]]:
    """The foreign keys of every table that the sources create, under the table's name in lower case."""
    types = read_types(statements)
    found: dict[str, tuple[ForeignKey, ...]] = {}
    for table in _tables_created(statements, types):
        found[table.name] = found.get(table.name, ()) + table.foreign_keys
    if not types.grammar.has_rowid:
        for statement in statements:
            altered, actions = _read_alter(statement)
            reader = TableReader(altered or "", types)
            for action in actions:
                if action[0].word == "ADD":
                    reader.read(_added(action))
            if reader.foreign_keys and altered is not None:
                found[altered] = found.get(altered, ()) + tuple(reader.foreign_keys)
    return found


def read_replacing_tables(statements: Sequence[SqlStatement]) -> frozenset[str]:
    """The tables, in lower case, with a constraint that carries ON CONFLICT REPLACE."""
    return frozenset(table.name for table in _tables_created(statements, SQLITE_TYPES) if table.replaces_rows)


def _with_additions(table: Table, statements: Sequence[SqlStatement], types: Types, drops_index: bool) -> Table:
    """The table with the columns that ALTER TABLE adds and the keys that CREATE UNIQUE INDEX makes.

    Where an index is dropped, whichever it is, none of them is relied on.
    """
    for statement in statements:
        if statement.word(0) == "ALTER":
            table = _altered(table, statement, types)
        elif not drops_index and skip_words(statement.tokens, 0, "CREATE", "UNIQUE", "INDEX") > 0:
            columns = _unique_columns(statement.tokens, table.name)
            table = replace(table, keys=table.keys | {frozenset(columns)}) if columns else table
    return table


def _unique_columns(tokens: Sequence[Token], name: str) -> tuple[str, ...]:
    """The columns of a CREATE UNIQUE INDEX on a table; none when it is on another or does not cover every row."""
    index = skip_words(tokens, 3, "CONCURRENTLY")
    index = skip_words(tokens, index, "IF", "NOT", "EXISTS")
    if skip_words(tokens, index, "ON") == index:
        _, _, index = read_name(tokens, index)
    _, indexed, index = read_name(tokens, skip_words(tokens, skip_words(tokens, index, "ON"), "ONLY"))
    index += 2 if index < len(tokens) and tokens[index].word == "USING" else 0
    columns, after = names_in_parentheses(tokens, index)
    return columns if indexed is not None and fold(indexed) == name and after == len(tokens) else ()


def _altered(table: Table, statement: SqlStatement, types: Types) -> Table:
    """The table after an ALTER TABLE: with a column or a key more, or with less that is known of it."""
    if types.grammar.has_rowid:
        altered, column = read_added_column(statement)
        is_own = altered == table.name and column is not None
        return replace(table, columns=(*table.columns, column)) if is_own and column is not None else table
    altered, actions = _read_alter(statement)
    if altered != table.name:
        return table
    for action in actions:
        words = [token.word for token in action]
        if words[0] == "ADD":
            reader = TableReader(table.name, types)
            reader.read(_added(action))
            known = {each.name for each in table.columns}
            added = tuple(each for each in reader.columns if each.name not in known)
            keys = (*table.foreign_keys, *reader.foreign_keys)
            table = replace(table, columns=(*table.columns, *added), keys=table.keys | reader.keys, foreign_keys=keys)
        elif words[0] in ("DROP", "ALTER", "RENAME"):
            # What a key or a column was before is not followed: no key is relied on, and no default.
            table = replace(
                table,
                columns=tuple(replace(each, default=ANYTHING, is_not_null=False) for each in table.columns),
                keys=frozenset() if words[0] != "ALTER" else table.keys,
            )
    return table


def _added(action: Sequence[Token]) -> Sequence[Token]:
    """The definition that an ADD adds."""
    return action[skip_words(action, skip_words(action, 1, "COLUMN"), "IF", "NOT", "EXISTS") :]


def _read_alter(statement: SqlStatement) -> tuple[str | None, list[Sequence[Token]]]:
    """The table that an ALTER TABLE alters, and its actions; None when the statement is another."""
    tokens = statement.tokens
    index = skip_words(tokens, 0, "ALTER", "TABLE")
    if index == 0:
        return None, []
    index = skip_words(tokens, skip_words(tokens, index, "IF", "EXISTS"), "ONLY")
    _, name, index = read_name(tokens, index)
    return (fold(name) if name is not None else None), [each for each in split_commas(tokens[index:]) if each]


def read_added_column(statement: SqlStatement) -> tuple[str | None, Column | None]:
    """The table that an ALTER TABLE alters, and the column that it adds, None when it does something else."""
    altered, actions = _read_alter(statement)
    action = actions[0] if actions else []
    if altered is None or not action or action[0].word != "ADD":
        return altered, None
    return altered, read_column(action[skip_words(action, 1, "COLUMN") :]).column


def _read_create(statement: SqlStatement, types: Types) -> Table | None:
    """The table that a statement creates, None when it creates none or does not list its columns."""
    tokens = statement.tokens
    index = skip_words(tokens, 0, "CREATE")
    for word in ("GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED"):
        index = skip_words(tokens, index, word)
    after = skip_words(tokens, index, "TABLE")
    if after == index:
        return None
    _, name, index = read_name(tokens, skip_words(tokens, after, "IF", "NOT", "EXISTS"))
    if name is None or statement.word(index) != "(":
        return None
    body, after = parenthesis(tokens, index)
    reader = TableReader(fold(name), types)
    for definition in split_commas(body):
        reader.read(definition)
    words = [token.word for token in tokens]
    replaces = any(words[i : i + 3] == ["ON", "CONFLICT", "REPLACE"] for i in range(len(words)))
    row_names = ROWID_NAMES if types.grammar.has_rowid else frozenset[str]()
    if "WITHOUT" not in words[after:]:
        reader.keys |= {frozenset({name}) for name in row_names if name not in {each.name for each in reader.columns}}
    is_open = reader.is_open or "INHERITS" in words[after:]
    return Table(
        reader.name,
        () if is_open else tuple(reader.columns),
        frozenset() if is_open else frozenset(reader.keys),
        tuple(reader.foreign_keys),
        replaces,
        row_names=row_names,
        statement=statement,
    )
