"""The list of jobs over real HTTP."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from arrowproof.service import jobs
from arrowproof.service.address import Address
from arrowproof.service.jobs import JobFilter, count_jobs
from arrowproof.service.queries import service_queries
from tests.service.engines import PARAMETER, in_state, only_postgresql, only_sqlite, open_engine
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


MANY = 20_000
OTHERS = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {many})
INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)
SELECT CASE WHEN n % 5000 = 0 THEN 'me' ELSE 'other ' || (n % 3) END, 'key ' || n, 'text', 'sha', {moment} FROM numbers
"""
THEIR_JOBS = """
INSERT INTO jobs (note_id, client, status, attempts, max_attempts, next_run_at, finished_at)
SELECT id, client, CASE WHEN waits THEN 'pending' ELSE 'completed' END, 0, 3,
    CASE WHEN waits THEN created_at END, CASE WHEN NOT waits THEN created_at END
FROM (SELECT id, client, created_at, id % 2 = 0 AS waits FROM notes) AS noted
"""
MINE = {"client": "me", "before": 2**62, "most": 100}
BY_CLIENT = {
    "list_jobs": MINE,
    "list_jobs_in_state": {**MINE, "state": "pending"},
    "count_client_jobs": {"client": "me", "most": 10_000},
}


@pytest.fixture
def crowded(notes):
    """A database with many jobs, four of which are those of one client; nobody has told it how many."""
    Address(notes.engine.db).open(create=True).close()
    moment = "'2020-01-01T00:00:00.000Z'" if notes.engine.name == "sqlite" else "timestamptz '2020-01-01T00:00:00Z'"
    notes.sql(OTHERS.format(many=MANY, moment=moment))
    notes.sql(THEIR_JOBS)
    return notes


def list_all(database, wanted):
    """The ids of the first page."""
    return [job.job_id for job in jobs.list_jobs(database, wanted).jobs]


def bound(query, parameters, engine):
    """A query with its parameters as literals."""
    return PARAMETER.sub(lambda match: repr(parameters[match[1]]), service_queries(engine)[query])


def rows_read(node):
    """How many rows each part of a plan of PostgreSQL has read, and thrown away or not, all together."""
    read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Join Filter", 0)
    return read * node["Actual Loops"] + sum(map(rows_read, node.get("Plans", ())))


@only_postgresql
@pytest.mark.parametrize("is_analyzed", [True, False], ids=["analyzed", "as it is"])
@pytest.mark.parametrize("query", BY_CLIENT)
def test_the_few_jobs_of_a_client_are_listed_and_counted_without_reading_those_of_others(crowded, query, is_analyzed):
    if is_analyzed:
        crowded.sql("ANALYZE")
    plan = bound(query, BY_CLIENT[query], "postgresql")
    (((explained,),),) = crowded.sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {plan}")
    assert 4 <= rows_read(explained["Plan"]) < 100, explained
    assert "jobs_of_client" in str(explained)


@only_sqlite
@pytest.mark.parametrize("is_analyzed", [True, False], ids=["analyzed", "as it is"])
@pytest.mark.parametrize("query", BY_CLIENT)
def test_every_look_at_the_jobs_of_a_client_goes_by_their_index(crowded, query, is_analyzed):
    if is_analyzed:
        crowded.sql("ANALYZE")
    plan = [row[3] for row in crowded.sql(f"EXPLAIN QUERY PLAN {bound(query, BY_CLIENT[query], 'sqlite')}")]
    looks = [step for step in plan if re.match(r"(SEARCH|SCAN) (jobs|notes)\b", step)]
    found = [step for step in looks if "INDEX jobs_of_client (client=? AND status=?" in step]
    by_id = [step for step in looks if step.endswith("USING INTEGER PRIMARY KEY (rowid=?)")]
    assert len(found) == (1 if query == "list_jobs_in_state" else 5), plan
    assert len(found) + len(by_id) == len(looks), plan
    # What is sorted is a page of each state at most.
    assert any("TEMP B-TREE" in step for step in plan) is (query == "list_jobs"), plan


@only_sqlite
@pytest.mark.parametrize("is_analyzed", [True, False], ids=["analyzed", "as it is"])
def test_a_claim_goes_by_the_jobs_that_wait_in_their_order(crowded, is_analyzed):
    if is_analyzed:
        crowded.sql("ANALYZE")
    claim = bound("claim_due_jobs", {"now": "", "most": 1}, "sqlite")
    assert [row[3] for row in crowded.sql(f"EXPLAIN QUERY PLAN {claim}")] == [
        "SEARCH jobs USING INDEX jobs_waiting (next_run_at<?)"
    ]


def test_the_list_of_any_state_is_the_newest_of_all_states(crowded):
    with closing(open_engine(crowded.engine)) as database:
        mine = list_all(database, JobFilter("me", "", 2**62, 100))
        assert mine == [20_000, 15_000, 10_000, 5_000]
        newest = list_all(database, JobFilter("other 1", "", 2**62, 7))
        assert newest == [number for number in range(MANY, 0, -1) if number % 3 == 1 and number % 5000][:7]
