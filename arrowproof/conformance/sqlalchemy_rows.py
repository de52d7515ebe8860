"""Rows: the columns and values that calls of SQLAlchemy give, as the SET list of an UPDATE or as an INSERT."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from arrowproof.conformance.pieces import Chunk
from arrowproof.conformance.python_constants import last_name
from arrowproof.conformance.python_text import shown
from arrowproof.conformance.sqlalchemy_conditions import Conditions
from arrowproof.conformance.sqlalchemy_tables import MappedTable


@dataclass
class Rows:
    """Reads the values of one module's calls. ``is_table`` says whether an expression is the class or the table."""

    mapped: MappedTable
    is_table: Callable[[ast.expr], bool]

    def assigned(
        self, calls: Sequence[ast.Call], conditions: Conditions, *, skips_key: bool = False
    ) -> Iterator[list[Chunk]]:
        """``column = value`` for each column that the calls set, a hole for what cannot be seen."""
        for call in calls:
            for column, value in self.pairs(call):
                if skips_key and column == self.mapped.key:
                    continue
                if column is None:
                    yield [hole_chunk(value)]
                else:
                    yield [text_chunk(f"{conditions.quoted(column)} = ", value), *conditions.value(value)]

    def pairs(self, call: ast.Call) -> Iterator[tuple[str | None, ast.expr]]:
        """The columns that a call of ``values`` or ``update`` sets; None where its argument cannot be read."""
        for argument in call.args:
            if self.is_table(argument):
                continue
            if isinstance(argument, ast.Dict):
                yield from self._dictionary(argument)
            elif isinstance(argument, ast.Call) and last_name(argument.func) == "dict" and not argument.args:
                yield from keyword_pairs(argument, self.mapped)
            else:
                yield None, argument
        yield from keyword_pairs(call, self.mapped)

    def _dictionary(self, node: ast.Dict) -> Iterator[tuple[str | None, ast.expr]]:
        for key, value in zip(node.keys, node.values, strict=True):
            name = key.attr if isinstance(key, ast.Attribute) else getattr(key, "value", None)
            if isinstance(name, str) and name not in self.mapped.methods:
                yield self.mapped.column_of(name), value
            else:
                yield None, value if key is None else key

    def insert(
        self,
        node: ast.Call,
        calls: Sequence[ast.Call],
        conditions: Conditions,
        rest: Sequence[ast.Call] = (),
        *,
        is_object: bool = False,
    ) -> list[Chunk]:
        """An INSERT of what the calls give. ``is_object``: of what the call of a class does."""
        pairs = [
            pair for call in calls for pair in (keyword_pairs(call, self.mapped) if is_object else self.pairs(call))
        ]
        if any(column is None for column, _ in pairs) or not (pairs or is_object):
            shown = next((value for column, value in pairs if column is None), node)
            return [text_chunk(f"INSERT INTO {self.mapped.quoted} ", node), hole_chunk(shown)]
        columns = {column: value for column, value in pairs if column is not None}
        state = next((column for column in columns if self.mapped.is_state(column)), None)
        if state is None and self.mapped.default is not None:
            columns[self.mapped.state_column] = self.mapped.default
        if not columns:
            return [text_chunk(f"INSERT INTO {self.mapped.quoted} DEFAULT VALUES", node)]
        names = ", ".join(map(conditions.quoted, columns))
        chunks = [text_chunk(f"INSERT INTO {self.mapped.quoted} ({names}) VALUES (", node)]
        chunks += [*listed([conditions.value(value) for value in columns.values()]), text_chunk(")", node)]
        for call in rest:
            chunks += self._conflict(call, conditions)
        return chunks

    def _conflict(self, call: ast.Call, conditions: Conditions) -> list[Chunk]:
        name = last_name(call.func)
        if name == "on_conflict_do_nothing":
            return [text_chunk(" ON CONFLICT DO NOTHING", call)]
        if name == "on_duplicate_key_update":
            return [text_chunk(" ON DUPLICATE KEY UPDATE ", call), *listed(self.assigned([call], conditions))]
        if name != "on_conflict_do_update":
            return []
        keywords = {each.arg: each.value for each in call.keywords}
        assigned = ast.Call(call.func, [keywords["set_"]] if "set_" in keywords else [], [], lineno=call.lineno)
        chunks = [text_chunk(f" ON CONFLICT ({self.mapped.key}) DO UPDATE SET ", call)]
        chunks += listed(self.assigned([assigned], conditions))
        if "where" in keywords:
            chunks += [text_chunk(" WHERE ", call), *conditions.condition(keywords["where"])]
        return chunks


def keyword_pairs(call: ast.Call, mapped: MappedTable) -> Iterator[tuple[str | None, ast.expr]]:
    """The columns that the keywords of a call give, None for ``**values``."""
    for keyword in call.keywords:
        if keyword.arg not in ("synchronize_session", "update_args"):
            yield (mapped.column_of(keyword.arg) if keyword.arg else None), keyword.value


def text_chunk(text: str, node: ast.AST) -> Chunk:
    """Constant text on the line of a node."""
    line = getattr(node, "lineno", 1)
    return Chunk(text, line, line)


def hole_chunk(node: ast.expr, text: str | None = None) -> Chunk:
    """What an expression fills."""
    line = getattr(node, "lineno", 1)
    return Chunk(text or shown(node), line, line, is_hole=True)


def listed(parts: Iterable[Sequence[Chunk]]) -> list[Chunk]:
    """Parts with commas between them."""
    made: list[Chunk] = []
    for part in parts:
        made += [*([Chunk(", ", part[0].line, part[0].line)] if made and part else []), *part]
    return made
