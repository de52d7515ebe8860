"""A source may hold a statement that is cut off anywhere: the scan reads what is left, and never ends over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.conformance.grammar import grammar_of
from arrowproof.conformance.matrix import build_matrix, scan
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tokens import tokenize
from arrowproof.conformance.writes import Answer, changes_of
from arrowproof.model.lifecycle import Dialect
from tests.conformance.matrices import DDL, note_job

STATEMENTS = [
    "CREATE TABLE jobs2 AS WITH a AS (UPDATE jobs SET status = 'b' RETURNING *) SELECT * FROM a WITH DATA",
    "CREATE TABLE IF NOT EXISTS app.jobs (id int REFERENCES a (b) ON DELETE CASCADE, status text CHECK (status > ''))",
    "CREATE TEMP TABLE jobs ON COMMIT DROP AS SELECT 1 WITH NO DATA",
    "CREATE MATERIALIZED VIEW x AS SELECT * FROM jobs WITH NO DATA",
    "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON jobs (status) WHERE status = 'a'",
    "CREATE TRIGGER t BEFORE UPDATE OF status ON jobs FOR EACH ROW WHEN (OLD.status = 'a') EXECUTE FUNCTION f()",
    "CREATE TEMP TRIGGER t AFTER INSERT ON jobs BEGIN UPDATE jobs SET status = 'b' WHERE id = NEW.id; END",
    "CREATE FUNCTION g() RETURNS void BEGIN ATOMIC UPDATE jobs SET status = 'b'; END",
    "CREATE PROCEDURE p(IN x INT) BEGIN DECLARE y INT; IF x > 1 THEN UPDATE jobs SET status = 'b'; END IF; END",
    "CREATE RULE r AS ON UPDATE TO jobs DO INSTEAD DELETE FROM u",
    "PREPARE p (int) AS UPDATE jobs SET status = 'b' WHERE id = $1",
    "PREPARE s FROM 'UPDATE jobs SET status = 1'",
    "EXPLAIN (ANALYZE, VERBOSE) DELETE FROM ONLY jobs USING u WHERE jobs.id = u.id",
    "EXPLAIN ANALYZE VERBOSE INSERT INTO jobs SELECT 1",
    "COPY jobs (id, status) FROM 'a.csv' WITH (FORMAT csv)",
    "COPY (DELETE FROM jobs WHERE status = 'a' RETURNING *) TO 'a.csv'",
    "DECLARE c CURSOR FOR SELECT * FROM jobs FOR UPDATE",
    "UPDATE jobs SET status = 'b' WHERE CURRENT OF c",
    "MERGE INTO jobs AS j USING u ON j.id = u.id WHEN MATCHED AND j.status = 'a' THEN UPDATE SET status = 'b'"
    " WHEN NOT MATCHED THEN INSERT (id, status) VALUES (1, 'a') WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "INSERT INTO jobs AS j (id, status) OVERRIDING SYSTEM VALUE VALUES (1, 'a'), (2, 'b')"
    " ON CONFLICT (id) DO UPDATE SET status = excluded.status WHERE j.status = 'a' RETURNING id",
    "INSERT OR REPLACE INTO main.jobs DEFAULT VALUES",
    "INSERT IGNORE INTO jobs SET status = 'a' ON DUPLICATE KEY UPDATE status = VALUES(status)",
    "REPLACE INTO jobs (id, status) SELECT 1, 'a' FROM u",
    "WITH RECURSIVE a (n) AS MATERIALIZED (DELETE FROM jobs RETURNING id)"
    " UPDATE app.jobs AS j SET (status, b) = ('x', 1) FROM a WHERE a.n = j.id",
    "UPDATE OR IGNORE jobs INDEXED BY i SET status = CASE WHEN status = 'a' THEN 'b' END WHERE id IN (SELECT 1)",
    "UPDATE LOW_PRIORITY jobs j JOIN u ON u.id = j.id SET j.status = 'b', u.x = 1",
    "DELETE j, u FROM jobs AS j INNER JOIN u WHERE j.id = u.id ORDER BY id LIMIT 3",
    "TRUNCATE TABLE ONLY jobs, app.u RESTART IDENTITY CASCADE",
    "SELECT a.id INTO TEMP TABLE jobs FROM (VALUES (1, 'a')) AS a (id, b)",
    "ALTER TABLE IF EXISTS ONLY jobs RENAME TO old, ALTER COLUMN status TYPE text USING 'x', ADD COLUMN c int",
    "LOAD DATA LOCAL INFILE 'a' REPLACE INTO TABLE jobs FIELDS TERMINATED BY ',' (id, status)",
    "DROP TABLE IF EXISTS u, app.jobs CASCADE",
]


def answers(sql: str, dialect: Dialect) -> list[Answer]:
    statements = split_statements("f.sql", sql, dialect)
    return [answer for each in statements for answer in changes_of(each, "jobs", ("id", "status"))]


def cut_off(sql: str, dialect: Dialect) -> Iterator[str]:
    """A statement up to each of its tokens: as the file ends there, and as a semicolon ends it."""
    for token in tokenize(sql, grammar_of(dialect)):
        yield sql[: token.end]
        yield sql[: token.end] + ";"


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_statement_may_be_cut_off_behind_each_of_its_tokens(sql: str, dialect: Dialect) -> None:
    texts = list(cut_off(sql, dialect))
    for text in texts:
        answers(text, dialect)
    assert texts[-2:] == [sql, sql + ";"]


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "sql", ["CREATE TABLE jobs2 AS;", "CREATE TABLE jobs2 AS WITH DATA;", "CREATE TABLE a AS (;", "EXPLAIN ANALYZE;"]
)
def test_what_lacks_its_query_changes_no_row(sql: str, dialect: Dialect) -> None:
    assert answers(sql, dialect) == []


def test_the_statement_behind_one_that_is_cut_off_is_read() -> None:
    found = answers("PREPARE x AS;\nCREATE TABLE jobs2 AS;\nDELETE FROM jobs", Dialect.POSTGRESQL)
    assert [each.statement.place.line for each in found] == [1, 3]


@pytest.mark.parametrize("dialect", Dialect)
def test_a_scan_comes_to_its_end_over_files_that_are_cut_off(dialect: Dialect, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text(DDL, encoding="utf-8")
    texts = dict.fromkeys(text for sql in STATEMENTS for text in cut_off(sql, dialect) if not text.endswith(";"))
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.sql").write_text(text, encoding="utf-8")
    lifecycle = replace(note_job(tmp_path), dialect=dialect)
    matrix = build_matrix(lifecycle, scan(lifecycle))
    assert len(matrix.sources) == len(texts) + 1
    assert matrix.undecided
