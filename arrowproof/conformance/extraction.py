"""Extraction: the statements of all sources that can matter to the bound table, whatever kind of file they stand in.

Most files of a project have nothing to do with one table. A file is read only if it holds the name of the table, of a
table that a foreign key ties it to, of a view of it, of a function of its triggers, or of a class that is mapped to it,
or if a data-changing keyword stands ahead of a name that is not written out (``UPDATE {table}``), which may be any.
Where nothing at all changes the bound table, the binding may name the wrong one, and every ``.sql`` file is read to say
which tables are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from arrowproof.conformance.changes import Change
from arrowproof.conformance.languages import is_generated
from arrowproof.conformance.names import fold
from arrowproof.conformance.sources import Source
from arrowproof.conformance.stand_ins import read_stand_ins, read_trigger_uses
from arrowproof.conformance.statements import SqlStatement, split_statements
from arrowproof.conformance.tables import read_foreign_keys
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.conformance.writes import changes_of
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Binding, Dialect
from arrowproof.model.record import record

if TYPE_CHECKING:
    import ast

    from arrowproof.conformance.python_constants import Project
    from arrowproof.conformance.sqlalchemy_tables import MappedTable

MAX_NAMES = 8
"""Files that one note lists."""


@record
class Extraction:
    """The statements of the sources, in the order of these, and notes for a person.

    ``drops_index`` is whether any of them drops an index, in a file that is read for nothing else too: such a
    statement need not name the table.
    """

    statements: tuple[SqlStatement, ...]
    notes: tuple[str, ...] = ()
    drops_index: bool = False


def extract_statements(
    sources: Sequence[Source], binding: Binding, values: Iterable[object], dialect: Dialect
) -> Extraction:
    """The statements that can matter to the table of a binding. ``values`` are those of the model's states."""
    generated = {source.file for source in sources if is_generated(source.text)}
    written = [source for source in sources if source.file not in generated]
    names = [source.file for source in sources if source.file in generated]
    extractor = _Extractor(written, binding, frozenset(map(str, values)), dialect)
    extractor.run()
    drops_index = any(_DROPS_INDEX.search(extractor.lowered_text(source)) is not None for source in sources)
    return Extraction(tuple(extractor.statements()), tuple(_skipped(names)), drops_index)


def _skipped(names: Sequence[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        files = f"{len(names)} generated file" + ("s are" if len(names) > 1 else " is")
        yield f"{files} not read, but what they are made from should be: {', '.join(names[:MAX_NAMES])}{more}"


_HIDING = (
    r"\s+(?:(?:only|table|if\s+exists)\s+)*"
    r"(?:[\"`\[]?[\w.]*[{$#%?:@]|[\"'`]\s*[+.,)%&|<\\]|[\w.]+[\"'`]\s*(?:[+.&\"'`]|<>|\|\||\\\n))"
)
_HIDDEN_NAMES = tuple(
    re.compile(verb + _HIDING)
    for verb in ("update", "into", r"delete\s+from", "truncate", r"drop\s+table", r"alter\s+table")
)
"""A keyword ahead of a name with a hole, or of one that goes on in another string. Each begins with letters that are
written out, and is looked for by itself: so a file that has none is passed over four times as fast."""
_HIDDEN_REST = re.compile(r"\b(?:delete|insert|merge|replace|truncate|update)(?:\s*[\"']\s*[+%]|\s+(?:\{|%[s(]))")
"""Python with a keyword ahead of what another file may hold: ``"DELETE " + FROM_JOBS``."""
_COMPUTED_TABLES = (
    re.compile(r"__tablename__\s*(?:(?::[^=\n]*)?=\s*[^\s\"']|=\s*[\"'][^\"']*[{%])"),
    re.compile(r"def\s+__tablename__"),
    re.compile(r"\.Model\b"),
    re.compile(r"table\s*=\s*True"),
)
"""Python that may map a class to a table without writing out its name."""
_ANY_CLASS = re.compile(
    r"\b(?:update|insert|delete|query)\(\s*(?:self|cls|type|[a-z_]\w*)\b|\bbulk_\w+_mappings\(|\bsetattr\("
    r"|\b(?:get|select)\(\s*self\.\w+|\b(?:cls|model\w*)\.query\b|\w\.(?:update|insert|delete)\(\)\s*\.(?:values|where)\("
)
"""Python that may change rows of whichever class it is given."""
_DROPS_INDEX = re.compile(r"drop\s+index\b")
_SQL_ODDITIES = re.compile(r"attach\b|writable_schema|rename\s+value\b")
_SHELL_COMMAND = re.compile(r"\n[ \t]*[.\\]\w")


def _line(statement: SqlStatement) -> int:
    return statement.place.line


def _finds(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) is not None for pattern in patterns)


@dataclass
class _Extractor:
    """Reads files as the words that make them matter become known."""

    sources: Sequence[Source]
    binding: Binding
    values: frozenset[str]
    dialect: Dialect
    found: dict[str, list[SqlStatement]] = field(default_factory=dict)
    trees: dict[str, ast.Module] = field(default_factory=dict)
    lowered: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        words = frozenset({fold(self.binding.table)})
        while True:
            for source in self.sources:
                if source.file not in self.found and self._matters(source, words):
                    found = list(self._read(source, words))
                    # Code is read as it is used; SQL in the order in which it runs, which is that of the text.
                    self.found[source.file] = found if source.is_sql else sorted(found, key=_line)
            more = words | self._tied(words)
            if more == words:
                break
            self._forget_code()
            words = more
        self._add_mapped()
        if not any(self._changes(each) for each in self.statements()):
            for source in self.sources:
                if source.is_sql and source.file not in self.found:
                    self.found[source.file] = list(self._read(source, words))

    def statements(self) -> Iterator[SqlStatement]:
        for source in self.sources:
            yield from self.found.get(source.file, ())

    def lowered_text(self, source: Source) -> str:
        """The text of a file in small letters."""
        text = self.lowered.get(source.file)
        if text is None:
            text = self.lowered[source.file] = source.text.lower()
        return text

    def _matters(self, source: Source, words: frozenset[str]) -> bool:
        text = self.lowered_text(source)
        if any(word.lower() in text for word in words) or _finds(_HIDDEN_NAMES, text):
            return True
        if source.problem is not None and (not text or not all(word.isascii() for word in words)):
            return True
        if not source.is_sql:
            return source.is_python and _HIDDEN_REST.search(text) is not None
        return _SQL_ODDITIES.search(text) is not None or _SHELL_COMMAND.search(f"\n{text}") is not None

    def _read(self, source: Source, words: frozenset[str]) -> Iterator[SqlStatement]:
        if source.problem is not None:
            token = Token(TokenKind.JUNK, "", 0, source.line)
            yield SqlStatement(Place(source.file, source.line), "", (token,), problem=source.problem)
        if source.is_sql:
            yield from split_statements(source.file, source.text, self.dialect)
        elif source.is_python:
            from arrowproof.conformance.python_statements import read_python, unread_module  # late: few have code

            tree = self._tree(source)
            if isinstance(tree, str):
                yield unread_module(source.file, tree)
            else:
                read = partial(read_python, source.file, tree, words, self.dialect, self.project, self.binding.state)
                yield from self._followed(source, read)
                if "alembic" in source.text and self.binding.state is not None:
                    yield from self._migration(source, tree, words, self.binding.state)
        else:
            from arrowproof.conformance.text_statements import read_text  # late: few have code

            yield from read_text(source.file, source.text, words, self.dialect, self.binding.state)

    def _migration(self, source: Source, tree: ast.Module, words: frozenset[str], state: str) -> Iterator[SqlStatement]:
        from arrowproof.conformance.sqlalchemy_migrations import read_migration

        read = partial(read_migration, source.file, tree, state, words, self.dialect, self.project)
        yield from self._followed(source, read)

    def _followed(self, source: Source, read: Callable[[], Iterable[SqlStatement]]) -> list[SqlStatement]:
        """What is read of a module, or that it cannot be followed: nobody writes such code by hand."""
        from arrowproof.conformance.python_statements import unread_module

        try:
            return list(read())
        except (RecursionError, MemoryError):
            return [unread_module(source.file, "its expressions stand too deep within each other to be followed")]

    @cached_property
    def project(self) -> Project:
        """The Python files, as far as they can change each other's constants."""
        from arrowproof.conformance.python_constants import Project

        return Project({source.file: source.text for source in self.sources if source.is_python})

    def _tree(self, source: Source) -> ast.Module | str:
        from arrowproof.conformance.python_statements import parse_python

        tree = self.trees.get(source.file) or parse_python(source.text)
        if not isinstance(tree, str):
            self.trees[source.file] = tree
        return tree

    def _tied(self, words: frozenset[str]) -> set[str]:
        """What else can change rows of these tables: parents of foreign keys, other names, functions of triggers."""
        statements = tuple(self.statements())
        keys = read_foreign_keys(statements)
        parents = {key.parent for word in words for key in keys.get(word, ()) if key.has_action}
        functions = {use.function for use in read_trigger_uses(statements) if use.table in words}
        return parents | functions | read_stand_ins(statements, fold(self.binding.table)).keys()

    def _forget_code(self) -> None:
        """What was left out of code for want of a word is looked for anew."""
        kinds = {source.file: source.is_sql for source in self.sources}
        self.found = {file: found for file, found in self.found.items() if kinds[file]}

    def _changes(self, statement: SqlStatement) -> bool:
        answers = changes_of(statement, self.binding.table)
        return any(isinstance(each, Change) and each.table == fold(self.binding.table) for each in answers)

    # SQLAlchemy

    def _add_mapped(self) -> None:
        """The statements that Python code makes of classes and variables which stand for the table."""
        if self.binding.state is None or not any(source.is_python for source in self.sources):
            return
        from arrowproof.conformance.sqlalchemy_statements import read_sqlalchemy
        from arrowproof.conformance.sqlalchemy_tables import find_mapped

        state, key = fold(self.binding.state), self.binding.key[0]
        modules = [each for source in self.sources if (each := self._classes_of(source)) is not None]
        mapped = find_mapped(modules, fold(self.binding.table), state, key, self.project)
        if mapped is None:
            return
        more = [each for source in self.sources if (each := self._bases_of(source, mapped)) is not None]
        if more:  # a class that the mapped one is derived from may have its columns
            mapped = find_mapped([*modules, *more], fold(self.binding.table), state, key, self.project) or mapped
        mapped.has_locks = self.dialect is not Dialect.SQLITE
        for source in self.sources:
            if source.is_python and self._may_use(source, mapped):
                tree = self._tree(source)
                if not isinstance(tree, str):
                    read = partial(read_sqlalchemy, source.file, tree, mapped, self.values, self.dialect, self.project)
                    made = self._followed(source, read)
                    found = [*self.found.get(source.file, ()), *made]
                    self.found[source.file] = sorted(found, key=_line)

    def _classes_of(self, source: Source) -> ast.Module | None:
        """The syntax tree of a file that names the table, or may name a class's table without writing it out."""
        is_read = source.file in self.trees
        if not is_read and not (source.is_python and _finds(_COMPUTED_TABLES, source.text)):
            return None
        tree = self._tree(source)
        return None if isinstance(tree, str) else tree

    def _bases_of(self, source: Source, mapped: MappedTable) -> ast.Module | None:
        """The syntax tree of a file that only defines what a mapped class is derived from."""
        defines = source.is_python and any(f"class {name}" in source.text for name in mapped.bases)
        if not defines or source.file in self.trees:
            return None
        tree = self._tree(source)
        return None if isinstance(tree, str) else tree

    def _may_use(self, source: Source, mapped: MappedTable) -> bool:
        written = [f".{name}" for name, column in mapped.attributes.items() if fold(column) == mapped.state_column]
        bases = [f"class {name}" for name in mapped.bases]
        words = (*mapped.names, mapped.table, *bases, *(written or [f".{mapped.state_column}"]))
        return any(word in source.text for word in words) or _ANY_CLASS.search(source.text) is not None
