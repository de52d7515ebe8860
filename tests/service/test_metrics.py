"""Health and metrics over real HTTP, beside real workers."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import threading

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from arrowproof.service.metrics import MOST_ERRORS
from arrowproof.service.queries import service_queries
from tests.service.engines import only_postgresql, only_sqlite
from tests.service.problems import assert_problem

STATES = ("pending", "retry_wait", "completed", "failed", "cancelled")


@pytest.fixture
def server(notes):
    return notes.server("--max-attempts", "1", "--busy-timeout", "0.3")


def read(server):
    """The figures by name and label."""
    answer = server.client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def fail(notes):
    notes.refuse_history()
    assert notes.worker().outcome()["outcome"] == "failed"
    notes.allow_history()


def test_a_database_without_notes_has_every_figure_and_each_is_nought(server):
    figures = read(server)
    assert set(figures.values()) == {0}
    assert set(figures) == {
        *(("notes_jobs", state) for state in STATES),
        *(("notes_jobs_finished_total", outcome) for outcome in ("completed", "failed", "cancelled")),
        ("notes_oldest_due_job_age_seconds",),
        ("notes_attempt_errors",),
    }


def test_jobs_are_counted_by_state_and_ends_by_outcome(notes, server):
    server.accept("completed")
    notes.worker().outcome()
    server.accept("failed")
    fail(notes)
    cancelled = server.accept("cancelled")["job_id"]
    assert server.client.post(f"/jobs/{cancelled}/cancel").status_code == 200
    server.accept("pending")
    figures = read(server)
    in_state = {state: figures["notes_jobs", state] for state in STATES}
    assert in_state == {"pending": 1, "retry_wait": 0, "completed": 1, "failed": 1, "cancelled": 1}
    assert [figures["notes_jobs_finished_total", end] for end in ("completed", "failed", "cancelled")] == [1, 1, 1]
    assert figures["notes_attempt_errors",] == 1


def test_a_count_of_outcomes_never_goes_down(notes, server):
    job_id = server.accept()["job_id"]
    fail(notes)
    assert server.client.post(f"/jobs/{job_id}/retry").status_code == 200
    figures = read(server)
    assert (figures["notes_jobs", "failed"], figures["notes_jobs_finished_total", "failed"]) == (0, 1)
    fail(notes)
    assert read(server)["notes_jobs_finished_total", "failed"] == 2
    assert server.client.post(f"/jobs/{job_id}/cancel").status_code == 409
    assert server.client.post(f"/jobs/{job_id}/retry").status_code == 200
    assert server.client.post(f"/jobs/{job_id}/retry").status_code == 409
    notes.worker().outcome()
    before = read(server)
    removed = subprocess.run(
        [sys.executable, "-m", "arrowproof.service.retention", "--db", notes.engine.db, "--keep-finished", "0"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert '"removed": 1' in removed.stdout
    after = read(server)
    assert after["notes_jobs", "completed"] == 0
    for outcome, count in (("completed", 1), ("failed", 2), ("cancelled", 0)):
        assert before["notes_jobs_finished_total", outcome] == count
        assert after["notes_jobs_finished_total", outcome] == count


def test_the_age_is_that_of_the_job_that_is_due_for_longest(notes, server):
    server.accept("first")
    second = server.accept("second")["job_id"]
    assert 0 <= read(server)["notes_oldest_due_job_age_seconds",] < 60
    notes.sql("UPDATE jobs SET next_run_at = '2026-01-01T00:00:00.000Z' WHERE id = %s", second)
    assert read(server)["notes_oldest_due_job_age_seconds",] > 86_400
    notes.sql("UPDATE jobs SET next_run_at = '2999-01-01T00:00:00.000Z'")
    assert read(server)["notes_oldest_due_job_age_seconds",] == 0


@pytest.mark.parametrize(
    ("moment", "age"),
    [("-infinity", math.inf), ("infinity", 0), ("0001-01-01 00:00:00", None), ("2026-01-01", None), ("a", 0)],
)
def test_a_moment_that_somebody_put_in_by_hand_does_not_break_the_metrics(notes, server, moment, age):
    job_id = server.accept()["job_id"]
    if moment == "a":
        # What SQLite holds is any text; PostgreSQL has years of which Python knows nothing.
        moment, age = {"sqlite": ("a", 0), "postgresql": ("0044-03-15 00:00:00 BC", math.inf)}[notes.engine.name]
    notes.sql("UPDATE jobs SET next_run_at = %s", moment)
    told = read(server)["notes_oldest_due_job_age_seconds",]
    assert told == age if age is not None else 86_400 < told < math.inf
    assert server.job(job_id)["status"] == "pending"
    assert server.client.get("/jobs").status_code == 200


def test_errors_are_counted_to_a_limit(notes, server):
    job_id = server.accept()["job_id"]
    notes.sql(
        "INSERT INTO attempt_errors (job_id, attempt, error, created_at)"
        " WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s)"
        f" SELECT {job_id}, n, 'error', next_run_at FROM numbers CROSS JOIN jobs",
        MOST_ERRORS + 1,
    )
    assert read(server)["notes_attempt_errors",] == MOST_ERRORS


def test_a_service_whose_database_answers_is_well(server):
    answer = server.client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    head = server.client.head("/health")
    assert (head.status_code, head.content) == (200, b"")


def test_a_service_whose_database_does_not_answer_is_not_well_and_has_no_metrics(notes, server):
    notes.sql("ALTER TABLE past_outcomes RENAME TO gone")
    assert server.client.head("/health").status_code == 503
    for path in ("/health", "/metrics"):
        answer = server.client.get(path)
        assert_problem(answer, 503, "unavailable")
        assert answer.headers["retry-after"] == "1"
    notes.sql("ALTER TABLE gone RENAME TO past_outcomes")
    assert server.client.get("/health").status_code == 200


@only_postgresql
def test_a_service_whose_database_says_nothing_tells_so_in_time(notes):
    server = notes.server("--busy-timeout", "0.2")
    assert server.client.get("/health").status_code == 200
    with notes.engine.silence():
        # Connections are made as ever, so the silent one alone is met, and the next.
        answer = server.client.get("/health", timeout=30)
        assert_problem(answer, 503, "unavailable")
    assert "no answer within 2.4 s" in server.stderr


def ask_again_and_again(server):
    for _ in range(1000):
        server.client.get("/jobs/1", timeout=1)


def test_a_service_in_which_every_request_waits_for_a_lock_still_says_how_it_is(notes):
    held = notes.server(hold="after-note")
    first = threading.Thread(target=held.post, args=("k", "text"))
    first.start()
    notes.held("after-note")
    server = notes.server("--busy-timeout", "60")
    waiting = [threading.Thread(target=server.post, args=("k", "text")) for _ in range(60)]
    for client in waiting:
        client.start()
    # More requests than there are threads: one more of them would be waiting for ever now.
    with pytest.raises(httpx.ReadTimeout):
        ask_again_and_again(server)
    assert server.client.get("/health", timeout=30).json() == {"status": "ok"}
    assert server.client.get("/metrics", timeout=30).status_code == 200
    notes.release("after-note")
    for client in (first, *waiting):
        client.join()


def test_with_tokens_health_is_open_and_metrics_are_not(notes, tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"alice {'0' * 64}\n")
    file.chmod(0o600)
    server = notes.server("--tokens", str(file))
    assert server.client.get("/health").status_code == 200
    assert_problem(server.client.get("/metrics"), 401, "token-missing")


@only_sqlite
def test_jobs_are_counted_by_an_index_alone(server, notes):
    assert server.client.get("/health").status_code == 200
    plan = [row[3] for row in notes.sql(f"EXPLAIN QUERY PLAN {service_queries('sqlite')['count_jobs']}")]
    assert [step for step in plan if re.search(r"\bjobs\b", step)] == [
        "SCAN jobs USING COVERING INDEX jobs_of_client"
    ], plan


def test_a_server_that_is_not_asked_does_not_load_what_metrics_need():
    said = subprocess.run(
        [sys.executable, "-c", "import sys, arrowproof.service.web; print('prometheus_client' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert said.stdout == "False\n"
