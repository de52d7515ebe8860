"""The list of jobs over real HTTP."""

from __future__ import annotations

import pytest

from arrowproof.service.address import Address
from arrowproof.service.jobs import count_jobs
from arrowproof.service.queries import service_queries
from tests.service.engines import in_state, only_sqlite, open_engine
from tests.service.problems import assert_problem

STATES = ("pending", "retry_wait", "completed", "failed", "cancelled")


def list_jobs(server, query=""):
    answer = server.client.get(f"/jobs{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def listed(server, shared):
    """Five jobs, one in each state, the newest last; the ids by state."""
    ids = [server.accept(f"listed-{number}", f"{number} " + "é😀" * 150)["job_id"] for number in range(5)]
    for job_id, state in zip(ids, STATES, strict=True):
        shared.sql(f"UPDATE jobs SET {in_state(state)} WHERE id = %s", job_id)
    return dict(zip(STATES, ids, strict=True))


def test_jobs_are_listed_newest_first_with_the_beginning_of_their_notes(server, listed):
    page = list_jobs(server)
    assert [job["job_id"] for job in page["jobs"]] == sorted(listed.values(), reverse=True)
    assert page["before"] is None
    first = page["jobs"][0]
    assert first.keys() == {
        "job_id",
        "note_id",
        "status",
        "attempts",
        "max_attempts",
        "next_run_at",
        "last_error",
        "finished_at",
        "text",
    }
    assert first["text"] == ("4 " + "é😀" * 150)[:200]


@pytest.mark.parametrize("state", STATES)
def test_a_state_lists_its_jobs_alone(server, listed, state):
    assert [job["job_id"] for job in list_jobs(server, f"?state={state}")["jobs"]] == [listed[state]]


def test_page_after_page_every_job_comes_once(server, listed):
    seen = []
    page = list_jobs(server, "?limit=2")
    while page["before"] is not None:
        assert len(page["jobs"]) == 2
        seen += page["jobs"]
        page = list_jobs(server, f"?limit=2&before={page['before']}")
    seen += page["jobs"]
    assert [job["job_id"] for job in seen] == sorted(listed.values(), reverse=True)


@pytest.mark.parametrize(
    "query",
    [
        "?state=",
        "?state=running",
        "?state=failed&state=pending",
        "?limit=0",
        "?limit=201",
        "?limit=1.5",
        "?limit=",
        "?limit=%D9%A3",
        "?before=0",
        f"?before={2**63}",
        "?before=-1",
        "?after=1",
        "?%00=1",
        "?state=%00",
        "?state=%ED%A0%80",
    ],
)
def test_a_query_that_is_not_understood_is_refused(server, query):
    assert_problem(server.client.get(f"/jobs{query}"), 400, "query")


def test_the_largest_limit_and_id_are_taken(server, listed):
    assert len(list_jobs(server, f"?limit=200&before={2**63 - 1}")["jobs"]) == len(listed)


def test_jobs_are_counted_by_state_and_to_a_limit(server, shared, listed):
    answer = server.client.get("/counts")
    assert answer.json() == {"jobs": dict.fromkeys(listed, 1), "most": 10_000}
    database = open_engine(shared.engine)
    try:
        assert count_jobs(database, "", most=1).jobs == dict.fromkeys(listed, 1)
        assert count_jobs(database, "nobody").jobs == dict.fromkeys(listed, 0)
    finally:
        database.close()


@only_sqlite
def test_lists_and_claims_go_by_an_index_without_any_statistics(notes):
    Address(notes.engine.db).open(create=True).close()
    for query, index in (
        ("list_waiting_jobs", "SCAN jobs USING INDEX jobs_waiting"),
        ("list_jobs", "SEARCH jobs USING INTEGER PRIMARY KEY"),
        ("list_finished_jobs", "SEARCH jobs USING INDEX jobs_ended (status=? AND id<?)"),
        ("claim_due_jobs", "jobs_waiting (next_run_at<?)"),
    ):
        statement = service_queries("sqlite")[query]
        state = "pending" if query == "list_waiting_jobs" else "failed"
        parameters = {"client": "", "before": 1, "most": 1, "state": state, "now": ""}
        for name, value in parameters.items():
            statement = statement.replace(f":{name}", repr(value))
        plan = " ".join(row[3] for row in notes.sql(f"EXPLAIN QUERY PLAN {statement}"))
        assert index in plan, plan
        # The waiting jobs alone are read and sorted: there may be a thousand times as many finished ones.
        assert ("TEMP B-TREE" in plan) is (query == "list_waiting_jobs"), plan
