"""What the statements can do to a job's state, tried on every state in a real database."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import apsw
import pytest

from arrowproof.service import queries
from arrowproof.service.queries import schema_statements, service_queries

STATES = ("pending", "retry_wait", "completed", "failed")
SEVEN = {
    (None, "pending"),
    ("pending", "completed"),
    ("pending", "retry_wait"),
    ("pending", "failed"),
    ("retry_wait", "completed"),
    ("retry_wait", "retry_wait"),
    ("retry_wait", "failed"),
}
PARAMETERS = {
    "job_id": 1,
    "note_id": 2,
    "max_attempts": 3,
    "now": "2026-11-29T15:09:02.118Z",
    "next_run_at": "2026-11-29T15:09:03.118Z",
    "last_error": "no history today",
}


USED = {
    "count_attempt": ("job_id",),
    "retry_job": ("job_id", "next_run_at", "last_error"),
    "fail_job": ("job_id", "last_error"),
}


def transitions_of(statement: str) -> set[tuple[str | None, str]]:
    """Run a statement on a job in each state with each number of attempts; the transitions that it makes."""
    seen = set()
    for state, attempts in product(STATES, range(4)):
        connection = apsw.Connection(":memory:")
        for ddl in schema_statements():
            connection.execute(ddl)
        for note_id in (1, 2):
            connection.execute("INSERT INTO notes VALUES (?, ?, 't', 's', 'c')", (note_id, str(note_id)))
        connection.execute("INSERT INTO jobs VALUES (1, 1, ?, ?, 3, ?, NULL)", (state, attempts, PARAMETERS["now"]))
        named = "INSERT" in statement or "status =" in statement.partition("WHERE")[0]
        list(connection.execute(statement, PARAMETERS))
        changed = connection.changes() > 0
        for job_id, now in connection.execute("SELECT id, status FROM jobs"):
            before = state if job_id == 1 else None
            if before != now or (changed and named and job_id == 1 and "INSERT" not in statement):
                seen.add((before, now))
    return seen


def job_statements() -> dict[str, str]:
    """Every statement of the service that changes the table of jobs."""
    changes = re.compile(r"(INSERT INTO|UPDATE|DELETE FROM)\s+jobs\b")
    return {name: statement for name, statement in service_queries().items() if changes.search(statement)}


def test_the_statements_make_the_seven_transitions_and_no_other():
    made = [transitions_of(statement) for statement in job_statements().values()]
    assert set().union(*made) == SEVEN


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("count_attempt", [True, True, True, False]),
        ("retry_job", [True, True, True, False]),
        ("fail_job", [False, False, False, True]),
    ],
)
def test_a_statement_holds_to_the_limit_of_three_attempts_by_itself(database, name, wanted):
    connection = database._connection
    connection.execute("INSERT INTO notes VALUES (1, 'k', 't', 's', 'c')")
    connection.execute("INSERT INTO jobs VALUES (1, 1, 'pending', 0, 3, 'n', NULL)")
    for attempts, changes in enumerate(wanted):
        connection.execute("UPDATE jobs SET status = 'pending', attempts = ?", (attempts,))
        database.rows("savepoint")
        assert (database.change(name, **{key: PARAMETERS[key] for key in USED[name]}) == 1) is changes, attempts
        database.rows("rollback_to_savepoint")
        database.rows("release_savepoint")


def test_counting_an_attempt_makes_no_transition():
    assert transitions_of(service_queries()["count_attempt"]) == set()


@pytest.mark.parametrize("name", ["complete_job", "retry_job", "fail_job"])
def test_without_its_source_states_a_statement_makes_sneak_paths(name):
    statement = service_queries()[name]
    without = re.sub(r"\s+AND status IN \('pending', 'retry_wait'\)", "", statement)
    assert without != statement
    assert transitions_of(without) - SEVEN


def test_every_update_of_the_state_names_its_sources_and_its_target_as_literals():
    for name, statement in job_statements().items():
        assignments, _, predicate = statement.partition("WHERE")
        if statement.startswith("UPDATE"):
            assert "status IN ('pending', 'retry_wait')" in predicate, name
        for target in re.findall(r"status = (\S+?),", assignments):
            assert target.strip("'") in STATES, name


def test_the_lifecycle_file_draws_the_same_seven_transitions():
    model = json.loads((Path(queries.__file__).parent / "notes-job.lifecycle.json").read_text())
    passing = {state["id"] for state in model["states"] if state["kind"] == "passing"}
    arrows = [(arrow.get("from"), arrow["to"]) for arrow in model["arrows"]]
    direct = {(source, target) for source, target in arrows if source not in passing and target not in passing}
    through = {
        (source, target)
        for (source, middle), (start, target) in product(arrows, arrows)
        if middle == start and middle in passing
    }
    assert direct | through == SEVEN
