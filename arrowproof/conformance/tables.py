"""Tables: what the CREATE statements among the sources say of a table, as far as the scan reasons with it.

Read from tokens, since only the skeleton matters: columns with type, default, NOT NULL and collation, unique keys,
foreign keys, and whether a constraint replaces rows. A table that no source creates has no known columns and no keys,
and then nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind, read_name, skip_words
from arrowproof.conformance.values import ANYTHING, NOTHING, Affinity, Collation, Constant, Values
from arrowproof.model.record import record

ROWID_NAMES = frozenset({"rowid", "oid", "_rowid_"})

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
class Table:
    """What is known of a table. Names are in lower case, as SQLite compares them.

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
        return name in ROWID_NAMES or any(column.name == name for column in self.columns)


def read_table(statements: Iterable[SqlStatement], name: str, assured: Iterable[str] = ()) -> Table:
    """What the sources declare of the table ``name``. Declarations that contradict each other say nothing.

    ``assured`` are columns that the table has whether a source declares them or not.
    """
    return replace(_read_table(tuple(statements), fold(name)), assured=frozenset(fold(each) for each in assured))


def _read_table(statements: Sequence[SqlStatement], wanted: str) -> Table:
    created = [table for table in map(_read_create, statements) if table is not None and table.name == wanted]
    if not created:
        return Table(wanted)
    table = created[0]
    for other in created[1:]:
        if other != table:
            keys = tuple(dict.fromkeys(table.foreign_keys + other.foreign_keys))
            table = Table(
                wanted, (), frozenset(), keys, table.replaces_rows or other.replaces_rows, statement=table.statement
            )
    return _with_additions(table, statements) if table.is_known else table


def read_foreign_keys(statements: Iterable[SqlStatement]) -> dict[str, tuple[ForeignKey, ...]]:
    """The foreign keys of every table that the sources create, under the table's name in lower case."""
    found: dict[str, tuple[ForeignKey, ...]] = {}
    for table in map(_read_create, statements):
        if table is not None:
            found[table.name] = found.get(table.name, ()) + table.foreign_keys
    return found


def read_replacing_tables(statements: Iterable[SqlStatement]) -> frozenset[str]:
    """The tables, in lower case, with a constraint that carries ON CONFLICT REPLACE."""
    return frozenset(table.name for table in map(_read_create, statements) if table is not None and table.replaces_rows)


def _with_additions(table: Table, statements: Sequence[SqlStatement]) -> Table:
    """The table with the columns that ALTER TABLE adds and the keys that CREATE UNIQUE INDEX makes.

    Where an index is dropped, whichever it is, none of them is relied on.
    """
    drops_index = any((statement.word(0), statement.word(1)) == ("DROP", "INDEX") for statement in statements)
    for statement in statements:
        tokens = statement.tokens
        if statement.word(0) == "ALTER":
            altered, column = read_added_column(statement)
            if altered == table.name and column is not None:
                table = replace(table, columns=(*table.columns, column))
        elif not drops_index and (start := skip_words(tokens, 0, "CREATE", "UNIQUE", "INDEX")) > 0:
            _, _, index = read_name(tokens, skip_words(tokens, start, "IF", "NOT", "EXISTS"))
            _, indexed, index = read_name(tokens, skip_words(tokens, index, "ON"))
            columns, after = _names_in_parentheses(tokens, index)
            if indexed is not None and fold(indexed) == table.name and columns and after == len(tokens):
                table = replace(table, keys=table.keys | {frozenset(columns)})
    return table


def read_added_column(statement: SqlStatement) -> tuple[str | None, Column | None]:
    """The table that an ALTER TABLE alters, and the column that it adds, None when it does something else."""
    tokens = statement.tokens
    _, table, index = read_name(tokens, skip_words(tokens, 0, "ALTER", "TABLE"))
    after = skip_words(tokens, index, "ADD")
    if table is None or after == index:
        return fold(table) if table is not None else None, None
    return fold(table), _read_column(tokens[skip_words(tokens, after, "COLUMN") :]).column


def _read_create(statement: SqlStatement) -> Table | None:
    """The table that a statement creates, None when it creates none or does not list its columns."""
    tokens = statement.tokens
    index = skip_words(tokens, 0, "CREATE")
    index = max(skip_words(tokens, index, "TEMP"), skip_words(tokens, index, "TEMPORARY"))
    after = skip_words(tokens, index, "TABLE")
    if index == 0 or after == index:
        return None
    _, name, index = read_name(tokens, skip_words(tokens, after, "IF", "NOT", "EXISTS"))
    if name is None or statement.word(index) != "(":
        return None
    body, after = _parenthesis(tokens, index)
    reader = _TableReader(fold(name))
    for definition in split_commas(body):
        reader.read(definition)
    words = [token.word for token in tokens]
    replaces = any(words[i : i + 3] == ["ON", "CONFLICT", "REPLACE"] for i in range(len(words)))
    if "WITHOUT" not in words[after:]:
        reader.keys |= {frozenset({name}) for name in ROWID_NAMES if name not in {each.name for each in reader.columns}}
    return Table(
        reader.name,
        tuple(reader.columns),
        frozenset(reader.keys),
        tuple(reader.foreign_keys),
        replaces,
        statement=statement,
    )


@record
class _ColumnDefinition:
    column: Column
    is_key: bool
    foreign_keys: tuple[ForeignKey, ...]


class _TableReader:
    """Gathers the definitions between the parentheses of one CREATE TABLE."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.columns: list[Column] = []
        self.keys: set[frozenset[str]] = set()
        self.foreign_keys: list[ForeignKey] = []

    def read(self, definition: Sequence[Token]) -> None:
        """Take in one column or one constraint of the table."""
        if definition and definition[0].word == "CONSTRAINT":
            definition = definition[2:]
        word = definition[0].word if definition else ""
        if word in ("PRIMARY", "UNIQUE"):
            columns, _ = _names_in_parentheses(definition, 2 if word == "PRIMARY" else 1)
            if columns:
                self.keys.add(frozenset(columns))
        elif word == "FOREIGN":
            columns, after = _names_in_parentheses(definition, 2)
            self.foreign_keys += _read_references(definition[after:], columns)
        elif definition and word != "CHECK":
            read = _read_column(definition)
            self.columns.append(read.column)
            self.foreign_keys += read.foreign_keys
            if read.is_key:
                self.keys.add(frozenset({read.column.name}))


def _read_column(tokens: Sequence[Token]) -> _ColumnDefinition:
    """One column: its name, the words of its type, then its constraints in any order."""
    name = fold(tokens[0].name or "") if tokens else ""
    outer = [(index, token) for index, token, depth in _with_depth(tokens) if depth == 0 and index > 0]
    constraints = next((index for index, token in outer if token.word in _CONSTRAINTS), len(tokens))
    declared = " ".join(token.name or "" for token in tokens[1:constraints]).strip()
    column = Column(name, Affinity.of_type(declared))
    is_key = False
    for index, token in outer:
        following = tokens[index + 1].word if index + 1 < len(tokens) else ""
        match token.word:
            case "NOT" if following == "NULL":
                column = replace(column, is_not_null=True)
            case "DEFAULT":
                column = replace(column, default=_read_default(tokens[index + 1 :]))
            case "COLLATE":
                column = replace(column, collation=_read_collation(tokens, index + 1))
            case "GENERATED" | "AS":
                column = replace(column, is_generated=True)
            case "UNIQUE":
                is_key = True
            case "PRIMARY" if following == "KEY":
                is_key = True
    return _ColumnDefinition(column, is_key, tuple(_read_references(tokens, (name,))))


def _read_default(tokens: Sequence[Token]) -> Values:
    """A default: a literal, signed or in parentheses; everything that is computed is open."""
    if tokens and tokens[0].word == "(":
        tokens, _ = _parenthesis(tokens, 0)
        while tokens and tokens[0].word == "(" and _parenthesis(tokens, 0)[1] == len(tokens):
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
    return Collation(name) if name in ("binary", "nocase", "rtrim") else Collation.CUSTOM


def _read_references(tokens: Sequence[Token], columns: tuple[str, ...]) -> Iterator[ForeignKey]:
    """The foreign keys of a definition, which lie on ``columns``."""
    words = [token.word for token in tokens]
    for index, _, depth in _with_depth(tokens):
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


def _with_depth(tokens: Sequence[Token]) -> Iterator[tuple[int, Token, int]]:
    """Each token with its index and the number of parentheses around it."""
    depth = 0
    for index, token in enumerate(tokens):
        depth -= token.word == ")"
        yield index, token, depth
        depth += token.word == "("


def _parenthesis(tokens: Sequence[Token], index: int) -> tuple[Sequence[Token], int]:
    """The tokens inside the parenthesis that opens at ``index``, and the index behind it."""
    for offset, token, depth in _with_depth(tokens[index:]):
        if token.word == ")" and depth == 0:
            return tokens[index + 1 : index + offset], index + offset + 1
    return tokens[index + 1 :], len(tokens)


def split_commas(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The parts between the commas that no parenthesis encloses."""
    start = 0
    for index, token, depth in _with_depth(tokens):
        if depth == 0 and token.word == ",":
            yield tokens[start:index]
            start = index + 1
    yield tokens[start:]


def _names_in_parentheses(tokens: Sequence[Token], index: int) -> tuple[tuple[str, ...], int]:
    """The plain column names in the parenthesis at ``index``; none when one of them is an expression or is collated."""
    if index >= len(tokens) or tokens[index].word != "(":
        return (), index
    inner, after = _parenthesis(tokens, index)
    names = []
    for part in split_commas(inner):
        plain = [token for token in part if token.word not in ("ASC", "DESC", "AUTOINCREMENT")]
        if len(plain) != 1 or plain[0].name is None:
            return (), after
        names.append(fold(plain[0].name or ""))
    return tuple(names), after
