"""The lifecycle: states, arrows and the binding to a table, as frozen records.

This module knows nothing of files. :mod:`arrowproof.model.loader` makes these records out of a lifecycle file in the
format ``arrowproof.lifecycle/1``; :mod:`arrowproof.model.linter` judges them; :mod:`arrowproof.model.transitions`
derives what a database can witness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from arrowproof.model.record import record

StateValue = str | int | None
"""What the state column holds."""


class Dialect(StrEnum):
    """The SQL that the sources of a lifecycle are written in."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"


class Kind(StrEnum):
    """How a state reads to a person; ``PASSING`` lives inside one transaction and is never stored."""

    ACTIVE = "active"
    WAITING = "waiting"
    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"
    PASSING = "passing"


@record
class State:
    """One state. ``value`` is what the column holds (the id unless the file says otherwise).

    ``terminal`` is what the file says of whether a row may rest here for good, None where it says nothing.
    """

    id: str
    kind: Kind
    label: str
    value: StateValue
    note: str | None = None
    group: str | None = None
    terminal: bool | None = None

    @property
    def is_stored(self) -> bool:
        """Whether the state column can hold this state."""
        return self.kind is not Kind.PASSING


@record
class Arrow:
    """One drawn edge. Without ``source`` a row is created, without ``target`` it is removed."""

    id: str
    source: str | None
    target: str | None
    event: str | None = None
    guard: str | None = None
    effect: str | None = None

    @property
    def label(self) -> str:
        """The arrow's text in UML order: ``event [guard] / effect``; empty when it has none."""
        parts = [
            self.event or "",
            f"[{self.guard}]" if self.guard else "",
            f"/ {self.effect}" if self.effect else "",
        ]
        return " ".join(part for part in parts if part)


@record
class Binding:
    """Where the lifecycle lives: a table, its key columns, and the state column or expression. Names are any string."""

    table: str
    key: tuple[str, ...]
    state: str | None = None
    state_sql: str | None = None
    watch: tuple[str, ...] = ()


@record
class Panel:
    """Text beside the diagram."""

    title: str
    lines: tuple[str, ...]


@record
class View:
    """A named subset of states and arrows to step through."""

    id: str
    title: str
    states: tuple[str, ...]
    arrows: tuple[str, ...]
    note: str | None = None


@record
class AcceptedSneakPath:
    """A sneak path that the owner accepts, with the reason, which every report repeats."""

    source: str | None
    target: str | None
    reason: str


@record
class Origin:
    """Where a lifecycle came from: its file, the SHA-256 of the file's bytes, and the place of each JSON path."""

    path: Path | None = None
    sha256: str = ""
    positions: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def folder(self) -> Path:
        """The folder that ``sources`` are relative to."""
        return self.path.parent if self.path is not None else Path()

    def position(self, path: str) -> tuple[int, int]:
        """Line and column, from 1, of a JSON path, or of its nearest ancestor that has a place."""
        while path not in self.positions and path != "$":
            path = path[: max(path.rfind("."), path.rfind("["), 1)]
        return self.positions.get(path, (1, 1))


@record
class Lifecycle:
    """The model: what the file says, with defaults filled in."""

    id: str
    title: str
    states: tuple[State, ...]
    arrows: tuple[Arrow, ...]
    summary: str = ""
    binding: Binding | None = None
    panels: tuple[Panel, ...] = ()
    views: tuple[View, ...] = ()
    accepted_sneak_paths: tuple[AcceptedSneakPath, ...] = ()
    sources: tuple[str, ...] = ()
    dialect: Dialect = Dialect.SQLITE
    driver: str | None = None
    origin: Origin = field(default_factory=Origin, compare=False, repr=False)

    @property
    def source_globs(self) -> tuple[str, ...]:
        """The globs of the sources, in which ``{dialect}`` stands for the SQL that they are read as."""
        return tuple(glob.replace("{dialect}", self.dialect) for glob in self.sources)

    @cached_property
    def states_by_id(self) -> Mapping[str, State]:
        """Every state under its id."""
        return MappingProxyType({state.id: state for state in self.states})

    @cached_property
    def arrows_by_id(self) -> Mapping[str, Arrow]:
        """Every arrow under its id."""
        return MappingProxyType({arrow.id: arrow for arrow in self.arrows})

    @property
    def stored_states(self) -> tuple[State, ...]:
        """The states that the column can hold, in file order."""
        return tuple(state for state in self.states if state.is_stored)

    def state_of_value(self, value: object) -> State | None:
        """The stored state whose column value is ``value``, or None when the model has none."""
        for state in self.stored_states:
            if state.value == value and type(state.value) is type(value):
                return state
        return None
