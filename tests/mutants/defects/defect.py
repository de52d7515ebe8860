"""A defect of real services, rebuilt small: its statements, wrong and right, and the tour that shows it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.tours import Plan, Tour
from arrowproof.model.transitions import derive_transitions
from tests.mutants.defects.runs import SCHEMA, RunsDriver


@record
class Defect:
    """A defect, and what has to be said of it; see ``defects.toml`` for the fields."""

    id: str
    story: str
    arrows: tuple[str, ...]
    tour: tuple[tuple[str, str], ...]
    drive: str
    both: str
    wrong: str
    right: str
    sql: str | None = None

    def write(self, folder: Path, statements: str) -> Path:
        """Write a lifecycle file with schema and statements beside it; gives its path."""
        (folder / "schema.sql").write_text(SCHEMA, encoding="utf-8")
        (folder / "runs.sql").write_text(self.both + statements, encoding="utf-8")
        states = {state for arrow in self.arrows for state in arrow.split(" -> ")} - {"created"}
        terminal = states - {arrow.split(" -> ")[0] for arrow in self.arrows}
        model = {
            "format": "arrowproof.lifecycle/1",
            "id": "runs",
            "title": "Runs",
            "binding": {"table": "runs", "key": ["id"], "state": "state", "watch": ["attempts", "worker"]},
            "states": [
                {"id": state, "kind": "neutral", "label": state, "terminal": state in terminal}
                for state in sorted(states)
            ],
            "arrows": [_arrow(number, *arrow.split(" -> ")) for number, arrow in enumerate(self.arrows)],
            "sources": ["*.sql"],
        }
        file = folder / "runs.lifecycle.json"
        file.write_text(json.dumps(model), encoding="utf-8")
        return file

    def driver(self, statements: str) -> RunsDriver:
        """The driver of its tour."""
        return RunsDriver(self.both + statements, [deeds for _, deeds in self.tour])

    def plan(self, lifecycle: Lifecycle) -> Plan:
        """Its tour alone."""
        transitions = {each.name: each for each in derive_transitions(lifecycle)}
        steps = tuple(transitions[name] for name, _ in self.tour)
        return Plan((Tour(steps, steps[-1].paths[0]),))


def read_defects() -> tuple[Defect, ...]:
    """All of them, in the order of the file."""
    entries = tomllib.loads(Path(__file__).with_name("defects.toml").read_text(encoding="utf-8"))["defect"]
    return tuple(
        Defect(**{**entry, "arrows": tuple(entry["arrows"]), "tour": tuple(map(tuple, entry["tour"]))})
        for entry in entries
    )


def _arrow(number: int, source: str, target: str) -> dict[str, str]:
    ends = {"to": target} if source == "created" else {"from": source, "to": target}
    return {"id": f"a{number}", **ends}
