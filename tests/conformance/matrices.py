"""SQL to be held against a note job: its table, statements that are right, and the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arrowproof.conformance.matrix import Matrix
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Origin, State

DDL = """CREATE TABLE jobs (id INTEGER PRIMARY KEY, note_id INT UNIQUE REFERENCES notes (id), status TEXT NOT NULL,
    attempts INT, y TEXT);
"""


GOOD = """INSERT INTO jobs (note_id, status, attempts) VALUES (?, 'pending', 0);
UPDATE jobs SET status = 'completed' WHERE id = :id AND status IN ('pending', 'retry_wait');
UPDATE jobs SET status = 'retry_wait', y = ? WHERE status IN ('pending', 'retry_wait') AND id = ?;
UPDATE jobs SET status = 'failed' WHERE id = ? AND (status = 'pending' OR 'retry_wait' = status);
UPDATE jobs SET attempts = attempts + 1 WHERE id = ?;
"""


STATES = ("pending", "retry_wait", "completed", "failed")


MODEL = {
    (None, "pending"),
    *((source, target) for source in STATES[:2] for target in ("completed", "retry_wait", "failed")),
}


Judge = Callable[..., Matrix]


def note_job(folder: Path) -> Lifecycle:
    states = tuple(State(each, Kind.WAITING, each, each) for each in STATES)
    arrows = tuple(Arrow(f"{source}-{target}", source, target) for source, target in sorted(MODEL, key=str))
    return Lifecycle(
        "note-job",
        "Note job",
        states,
        arrows,
        binding=Binding("jobs", ("id",), "status", watch=("attempts",)),
        sources=("*.sql",),
        origin=Origin(path=folder / "lifecycle.json"),
    )


def possible(matrix: Matrix) -> set[str]:
    """Every pair that is written or possible, as text; + and - are creation and removal."""
    pairs = {pair for pair, statements in matrix.written.items() if statements}
    pairs |= {(path.source, path.target) for path in matrix.sneak_paths}
    return {f"{source or '+'}>{target or '-'}" for source, target in pairs}


def leaving(states: str, target: str) -> set[str]:
    return {f"{state}>{target}" for state in states.split()}
