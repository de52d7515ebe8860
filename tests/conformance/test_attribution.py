"""What a client sent is found again among the statements of the sources."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arrowproof.conformance.attribution import Attribution
from arrowproof.model.evidence import Place, Statement
from tests.conformance.conftest import SEEN

CLAIM = Statement(
    Place("jobs.sql", 3, "claim"),
    "UPDATE jobs -- one\nSET status = 'Running', at = :now::timestamptz\nWHERE id = :id AND status = 'pending';",
)
FAIL = Statement(Place("jobs.sql", 9, "fail"), "UPDATE jobs SET status = 'failed' WHERE id = %s")
FAIL_LATE = Statement(Place("jobs.sql", 12), "UPDATE jobs SET status = 'failed' WHERE id = %(id)s AND attempts = 3")
ADD = Statement(Place("jobs.py", 5), "INSERT INTO jobs (id, status) VALUES (?, 'pending') RETURNING id")
AGAIN = Statement(Place("other.sql", 1), FAIL.sql)
SOURCES = Attribution((CLAIM, FAIL, FAIL_LATE, ADD, AGAIN))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("update JOBS set status = 'Running', at = $1::timestamptz where id = $2 and status = 'pending'", CLAIM),
        ("UPDATE jobs SET status = 'running', at = $1::timestamptz WHERE id = $2 AND status = 'pending'", None),
        ("UPDATE jobs SET status = 'failed' WHERE id = $1 /* by hand */ ;", FAIL),
        ("UPDATE jobs SET status = 'failed' WHERE id = $1 AND attempts = 3", FAIL_LATE),
        ("UPDATE jobs SET status = 'failed' WHERE id = $1 AND attempts = 4", None),
        ("UPDATE jobs SET status = 'failed' WHERE id = 7", None),
        ("WITH done AS (UPDATE jobs SET status = 'failed' WHERE id = $1 RETURNING 1) SELECT count(*) FROM done", FAIL),
        ("BEGIN; UPDATE jobs SET status = 'failed' WHERE id = $1; COMMIT", FAIL),
        ("EXPLAIN UPDATE jobs SET status = 'failed' WHERE id = $1", None),
        ("INSERT INTO jobs (id, status) VALUES ($1, 'pending') RETURNING id", ADD),
        ("INSERT INTO jobs (id, status) VALUES ($1, 'pending')", None),
        ("SELECT settle_job($1)", None),
        ("", None),
    ],
)
def test_a_statement_is_known_by_its_tokens(query: str, found: Statement | None) -> None:
    assert SOURCES.place_of(query) == (found and found.place)


def test_rows_without_a_query_stay_as_they_are() -> None:
    said = replace(SEEN, query="UPDATE jobs SET status = 'failed' WHERE id = $1")
    assert SOURCES.attributed((SEEN, said)) == (SEEN, replace(said, written=FAIL.place))
