"""Migrations of Alembic: what ``op.alter_column`` and its kin do to the table, as the SQL that they come to.

What ``downgrade`` does is passed over: it is run by hand, to go back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from arrowproof.conformance.embedded import read_piece
from arrowproof.conformance.names import fold
from arrowproof.conformance.pieces import Chunk, Piece
from arrowproof.conformance.python_constants import ClassConstants, Project, class_constants, last_name
from arrowproof.conformance.python_scopes import Scope, inner_nodes, scope_of
from arrowproof.conformance.python_strings import Strings
from arrowproof.conformance.python_text import shown, written_text
from arrowproof.conformance.statements import SqlStatement
from arrowproof.model.lifecycle import Dialect

_OPERATIONS = frozenset({"alter_column", "add_column", "drop_column", "drop_table", "rename_table"})
_OWNERS = frozenset({"op", "batch_op", "batch"})


def read_migration(
    file: str, tree: ast.Module, state: str, words: frozenset[str], dialect: Dialect, project: Project
) -> Iterator[SqlStatement]:
    """The statements that a module's operations come to, on tables ``words`` (folded) with a column ``state``."""
    migration = _Migration(Strings(ClassConstants(file, project, class_constants(tree))), fold(state), dialect)
    migration.scope(tree, None, {})
    for chunks in migration.found:
        yield from read_piece(file, Piece(tuple(chunks)), words, dialect)


class _Migration:
    """Goes through one module."""

    def __init__(self, strings: Strings, state: str, dialect: Dialect) -> None:
        self.strings = strings
        self.state = state
        self.dialect = dialect
        self.found: list[list[Chunk]] = []

    def scope(self, node: ast.AST, parent: Scope | None, batches: Mapping[str, ast.expr]) -> None:
        """Read the operations of a scope. ``batches`` are the names of batch operations with their tables."""
        assert isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        scope = scope_of(node, parent)
        known = dict(batches)
        for each in inner_nodes([node.body] if isinstance(node, ast.Lambda) else node.body):
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                if not (isinstance(each, ast.FunctionDef) and each.name == "downgrade"):
                    self.scope(each, scope, known)
            elif isinstance(each, ast.withitem) and isinstance(each.context_expr, ast.Call):
                call = each.context_expr
                is_batch = last_name(call.func) == "batch_alter_table" and bool(call.args)
                if is_batch and isinstance(each.optional_vars, ast.Name):
                    known[each.optional_vars.id] = call.args[0]
            elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _OPERATIONS:
                owner = last_name(each.func.value)
                if owner in known or owner in _OWNERS:
                    given = [known[owner], *each.args] if owner in known else list(each.args)
                    self._operation(each, each.func.attr, given, scope)

    def _operation(self, node: ast.Call, name: str, given: list[ast.expr], scope: Scope) -> None:
        named = {each.arg: each.value for each in node.keywords if each.arg is not None}
        table = given[0] if given else named.get("table_name")
        if table is None:
            return
        if name == "drop_table":
            self._find(node, "DROP TABLE ", self._name(table, scope))
        elif name == "rename_table":
            new = given[1] if given[1:] else named.get("new_table_name")
            if new is not None:
                to = [Chunk(" RENAME TO ", node.lineno), *self._name(new, scope)]
                self._find(node, "ALTER TABLE ", self._name(table, scope), *to)
        elif given[1:] or "column_name" in named or "column" in named:
            column = given[1] if given[1:] else named.get("column_name", named.get("column"))
            if column is not None:
                self._column(node, name, table, column, named, scope)

    def _column(
        self,
        node: ast.Call,
        name: str,
        table: ast.expr,
        column: ast.expr,
        named: Mapping[str, ast.expr],
        scope: Scope,
    ) -> None:
        """An operation on one column, where that may be the state's."""
        declared = column if isinstance(column, ast.Call) else None
        column = declared.args[0] if declared is not None and declared.args else column
        new = named.get("new_column_name")
        texts = [self.strings.constant(each, scope) for each in (column, new) if each is not None]
        if all(text is not None and fold(text) != self.state for text in texts):
            return
        actions = {"add_column": " ADD COLUMN ", "drop_column": " DROP COLUMN ", "alter_column": " ALTER COLUMN "}
        action = " RENAME COLUMN " if new is not None else actions[name]
        end = " text" if name == "add_column" else ""
        tail = [Chunk(" TO ", node.lineno), *self._name(new, scope)] if new is not None else []
        if name == "alter_column" and new is None:
            # SQLite alters no column: Alembic copies the table into another one.
            is_copied = self.dialect is Dialect.SQLITE and "server_default" in named
            end = " SET DEFAULT NULL" if "server_default" in named else " SET NOT NULL"
            end = " TYPE text" if "type_" in named or is_copied else end
        parts = [*self._name(table, scope), Chunk(action, node.lineno), *self._name(column, scope)]
        self._find(node, "ALTER TABLE ", parts, *tail, Chunk(end, node.lineno))

    def _name(self, node: ast.expr, scope: Scope) -> list[Chunk]:
        text = written_text(self.strings.read(node, scope))
        quoted = '"' + text.replace('"', '""') + '"' if text is not None else ""
        return [Chunk(quoted or shown(node), node.lineno, node.lineno, is_hole=text is None)]

    def _find(self, node: ast.Call, text: str, chunks: list[Chunk], *more: Chunk) -> None:
        self.found.append([Chunk(text, node.lineno, node.lineno), *chunks, *more])
