"""What the statements can do to a job's state, tried on every state in a real database."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import pytest

from arrowproof.service import queries
from arrowproof.service.queries import service_queries
from tests.service.engines import ENGINES

WAITING = ("pending", "retry_wait")
FINISHED = ("completed", "failed", "cancelled")
STATES = (*WAITING, *FINISHED)
THIRTEEN = {
    (None, "pending"),
    *product(WAITING, ("completed", "retry_wait", "failed", "cancelled")),
    ("failed", "pending"),
    *((state, None) for state in FINISHED),
}
NOW = "2026-11-29T15:09:02.118Z"
LATER = "2026-11-29T15:09:03.118Z"
MAX_ATTEMPTS = 3
PARAMETERS = {
    "max_attempts": MAX_ATTEMPTS,
    "more_attempts": MAX_ATTEMPTS,
    "now": LATER,
    "next_run_at": LATER,
    "finished_before": LATER,
    "last_error": "no history today",
}


@pytest.fixture
def bench(engine, database):  # noqa: ARG001 - its tables must be there
    with engine.bench() as bench:
        yield bench


def insert_job(bench, state, attempts):
    """A job in a state, in the transaction that stands; its id."""
    bench.run(
        "INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)"
        f" VALUES ('', 'k', 't', 's', '{NOW}')"
    )
    times = {"next_run_at": NOW, "finished_at": None} if state in WAITING else {"next_run_at": None, "finished_at": NOW}
    ((job_id,),), _ = bench.run(
        "INSERT INTO jobs (note_id, client, status, attempts, max_attempts, next_run_at, finished_at)"
        " SELECT id, client, :state, :attempts, :max_attempts, :next_run_at, :finished_at FROM notes RETURNING id",
        {"state": state, "attempts": attempts, "max_attempts": MAX_ATTEMPTS, **times},
    )
    return job_id


def insert_second_note(bench):
    """A note that has no job yet; its id."""
    ((note_id,),), _ = bench.run(
        "INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)"
        f" VALUES ('', 'l', 't', 's', '{NOW}') RETURNING id"
    )
    return note_id


def transition_of(bench, statement, state, attempts):
    """Run a statement on a job in a state; the transitions that it makes. Nothing of it stays."""
    bench.run("BEGIN")
    try:
        job_id = insert_job(bench, state, attempts)
        note_id = insert_second_note(bench)
        _, changed = bench.run(statement, {"job_id": job_id, "note_id": note_id, **PARAMETERS})
        after = dict(bench.run("SELECT id, status FROM jobs")[0])
    finally:
        bench.run("ROLLBACK")
    seen = {(None, now) for other, now in after.items() if other != job_id}
    # An UPDATE that names the state may come from it to itself, which the rows alone do not show.
    names_state = statement.startswith("UPDATE") and "status =" in statement.partition("WHERE")[0]
    if after.get(job_id) != state or (changed and names_state):
        seen.add((state, after.get(job_id)))
    return seen


def transitions_of(bench, statement):
    """The transitions that a statement makes, over every state and number of attempts."""
    tried = product(STATES, range(MAX_ATTEMPTS + 1))
    return set().union(*(transition_of(bench, statement, state, attempts) for state, attempts in tried))


def job_statements(engine):
    """Every statement of the service that changes the table of jobs."""
    changes = re.compile(r"(INSERT INTO|UPDATE|DELETE FROM)\s+jobs\b")
    return {name: statement for name, statement in service_queries(engine).items() if changes.search(statement)}


def test_the_statements_make_the_thirteen_transitions_and_no_other(bench, engine):
    made = [transitions_of(bench, statement) for statement in job_statements(engine.name).values()]
    assert len(made) >= 8
    assert set().union(*made) == THIRTEEN


def test_the_comment_of_a_statement_says_which_transitions_it_makes(bench, engine):
    comments = {}
    for file in queries.SQL_FOLDER.rglob("*.sql"):
        for block in re.split(r"^-- name: ", file.read_text(), flags=re.MULTILINE)[1:]:
            name, _, rest = block.partition("\n")
            comments[name] = " ".join(line.removeprefix("--") for line in rest.splitlines() if line.startswith("--"))
    for name, statement in job_statements(engine.name).items():
        said = set(re.findall(r"(\w+) -> (\w+)", comments[name]))
        made = transitions_of(bench, statement)
        assert said == {(source or "created", target or "removed") for source, target in made}, name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("count_attempt", [True, True, True, False]),
        ("retry_job", [True, True, True, False]),
        ("fail_job", [False, False, False, True]),
    ],
)
def test_a_statement_holds_to_the_limit_of_three_attempts_by_itself(bench, engine, name, wanted):
    statement = service_queries(engine.name)[name]
    for attempts, changes in enumerate(wanted):
        bench.run("BEGIN")
        job_id = insert_job(bench, "pending", attempts)
        _, changed = bench.run(statement, {"job_id": job_id, **PARAMETERS})
        bench.run("ROLLBACK")
        assert (changed == 1) is changes, attempts


def test_counting_an_attempt_makes_no_transition(bench, engine):
    assert transitions_of(bench, service_queries(engine.name)["count_attempt"]) == set()


def test_a_retry_by_hand_leaves_as_many_attempts_as_it_says(bench, engine):
    bench.run("BEGIN")
    job_id = insert_job(bench, "failed", MAX_ATTEMPTS)
    bench.run(service_queries(engine.name)["requeue_job"], {"job_id": job_id, **PARAMETERS})
    assert bench.run("SELECT attempts, max_attempts, finished_at FROM jobs")[0] == [(3, 6, None)]
    bench.run("ROLLBACK")


@pytest.mark.parametrize(
    "name", ["complete_job", "retry_job", "fail_job", "set_aside_job", "requeue_job", "cancel_job", "remove_job"]
)
def test_without_its_source_states_a_statement_makes_sneak_paths(bench, engine, name):
    statement = service_queries(engine.name)[name]
    without = re.sub(r"\s+AND status (IN \([^)]*\)|= '\w+')", "", statement)
    assert without != statement
    # Two are held back twice: a waiting job has no time at which it was finished, and may have none.
    without = without.replace("AND finished_at <= :finished_before", "")
    without = without.replace("SET status = 'retry_wait',", "SET status = 'retry_wait', finished_at = NULL,")
    assert transitions_of(bench, without) - THIRTEEN


@pytest.mark.parametrize("engine_name", ENGINES)
def test_every_change_of_the_state_names_its_sources_and_its_target_as_literals(engine_name):
    for name, statement in job_statements(engine_name).items():
        head, _, predicate = statement.partition("WHERE")
        if not statement.startswith("INSERT"):
            sources = re.search(r"\bstatus (?:IN \(([^)]*)\)|= ('\w+'))", predicate)
            assert sources, name
            assert set(re.findall(r"\w+", sources.group(0))) - {"status", "IN"} <= set(STATES), name
        for target in re.findall(r"status = (\S+?),", head):
            assert target.strip("'") in STATES, name


WRITES = re.compile(
    r"\b(INSERT\s+(OR\s+\w+\s+)?INTO|REPLACE\s+INTO|MERGE\s+INTO|UPDATE(\s+OR\s+\w+)?|DELETE\s+FROM|TRUNCATE(\s+TABLE)?)"
    r"\s+(ONLY\s+)?([\w.]+\.)?[\"`\[]?(jobs|notes)\b|\bCREATE\b[^;]*\b(TRIGGER|FUNCTION|PROCEDURE|RULE)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jobs SET status = 'failed'",
        "update ONLY public.jobs\nset attempts = 0",
        'DELETE FROM "notes"',
        "INSERT INTO\n  jobs (id) VALUES (1)",
        "INSERT OR REPLACE INTO main.jobs VALUES (1)",
        "TRUNCATE jobs",
        "CREATE TEMP TRIGGER a AFTER INSERT ON jobs BEGIN SELECT 1; END",
        "CREATE OR REPLACE FUNCTION a() RETURNS trigger AS '' LANGUAGE plpgsql",
    ],
)
def test_what_writes_to_jobs_or_notes_or_could_by_itself_is_known(statement):
    assert WRITES.search(statement)


def test_what_reads_or_locks_them_or_writes_elsewhere_is_none():
    for statement in ("SELECT 1 FROM jobs FOR UPDATE", "CREATE TABLE jobs (id)", "DELETE FROM note_events", "UPDATE x"):
        assert WRITES.search(statement) is None


def test_everything_that_writes_to_jobs_or_notes_stands_where_the_lifecycle_has_its_sources():
    service = Path(queries.__file__).parent
    model = json.loads((service / "notes-job.lifecycle.json").read_text())
    scanned = {file for pattern in model["sources"] for file in service.glob(pattern)}
    writing = {
        file
        for file in (*service.rglob("*.sql"), *service.rglob("*.py"))
        if WRITES.search("\n".join(line for line in file.read_text().splitlines() if not line.startswith("--")))
    }
    assert writing == {queries.SQL_FOLDER / f"{name}.sql" for name in ("server", "worker", "retention")}
    assert writing <= scanned


def test_the_lifecycle_file_draws_the_same_thirteen_transitions():
    model = json.loads((Path(queries.__file__).parent / "notes-job.lifecycle.json").read_text())
    passing = {state["id"] for state in model["states"] if state["kind"] == "passing"}
    arrows = [(arrow.get("from"), arrow.get("to")) for arrow in model["arrows"]]
    direct = {(source, target) for source, target in arrows if source not in passing and target not in passing}
    through = {
        (source, target)
        for (source, middle), (start, target) in product(arrows, arrows)
        if middle == start and middle in passing
    }
    assert direct | through == THIRTEEN
