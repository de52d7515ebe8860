"""Ties: by which columns a source of rows must agree with the row that is changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from arrowproof.conformance.scopes import Scope, SourceKind

Resolved = tuple[SourceKind | None, str, str]
"""The kind of source that a column belongs to, the source's alias and the column's name; None, "", "" for no column."""


@dataclass
class Ties:
    """By alias, the columns in which a source must agree with the changed row: of the bound table, as a set; of a
    derived table, its column to the row's."""

    rows: dict[str, set[str]] = field(default_factory=dict)
    derived: dict[str, dict[str, str]] = field(default_factory=dict)

    def note(self, scope: Scope, column: Resolved, row_column: str) -> None:
        """A column of a source in ``scope`` equals ``row_column`` of the changed row."""
        kind, alias, name = column
        if kind is SourceKind.TABLE and alias in scope.sources and name == row_column:
            self.rows.setdefault(alias, set()).add(name)
        elif kind is SourceKind.DERIVED and alias in scope.sources:
            self.derived.setdefault(alias, {})[name] = row_column
