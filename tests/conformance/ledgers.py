"""A service in the test's own process, of rows with a state; what it does may depend on what its row went through."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import apsw

from arrowproof.conformance.driver import DriverError, Walked
from arrowproof.model.evidence import Row
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, State
from arrowproof.model.transitions import Transition

REFUSED = "refused"
STATES = ("open", "paid", "void")


def ledger(*arrows: str) -> Lifecycle:
    """A lifecycle of arrows such as ``place: created -> open``; the event of each is its id."""
    parts = [(name, *ends.split(" -> ")) for name, _, ends in (arrow.partition(": ") for arrow in arrows)]
    drawn = tuple(
        Arrow(name, None if source == "created" else source, None if target == "removed" else target, event=name)
        for name, source, target in parts
    )
    return Lifecycle(
        "ledger",
        "Ledger",
        tuple(State(state, Kind.ACTIVE, state, state) for state in STATES),
        drawn,
        binding=Binding("entries", ("id",), "state", watch=("note",)),
    )


class LedgerDriver:
    """``instead`` is what is done in place of a step, by all that the row has been through, the step included.

    It is one or more states, one after the other, SQL, or REFUSED.
    """

    def __init__(self, instead: Mapping[str, str] | None = None) -> None:
        self.instead = instead or {}
        self.past: dict[object, str] = {}
        self.tours: list[str] = []

    def start(self, folder: Path) -> Path:
        self.database = folder / "ledger.sqlite3"
        self.run("CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT, note TEXT)")
        return self.database

    def stop(self) -> None: ...

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        target = transition.target or "removed"
        number = None if key is None else key[0][1]
        past = f"{self.past[number]} {target}" if number else target
        done = self.instead.get(past, target)
        if done == REFUSED:
            raise DriverError("not now")
        for state in done.split() if done.isascii() and "=" not in done else [done]:
            number = self.make(state, number)
        self.past[number] = past
        return Walked((("id", number),))

    def make(self, state: str, number: object) -> object:
        if number is None:
            return self.run("INSERT INTO entries (state) VALUES (?) RETURNING id", state)
        if "=" in state:
            self.run(state.format(id=number))
        elif state == "removed":
            self.run("DELETE FROM entries WHERE id = ?", number)
        else:
            self.run("UPDATE entries SET state = ? WHERE id = ?", state, number)
        return number

    def run(self, statement: str, *values: object) -> object:
        with closing(apsw.Connection(str(self.database))) as connection:
            return connection.execute(statement, values).get  # type: ignore[arg-type]
