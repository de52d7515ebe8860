"""Which rows a statement of PostgreSQL changes, part by part, and what of it is not known."""

from __future__ import annotations

import pytest

from arrowproof.conformance.changes import Assignment, Change, Opaque
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.writes import Answer, changes_of
from arrowproof.model.lifecycle import Dialect


def answers(sql: str, dialect: Dialect = Dialect.POSTGRESQL) -> list[Answer]:
    statements = split_statements("f.sql", sql, dialect)
    return [answer for each in statements for answer in changes_of(each, "jobs", ("id", "status"))]


def reason(sql: str) -> str:
    (answer,) = answers(sql)
    assert isinstance(answer, Opaque)
    return answer.reason


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE ONLY app.jobs * AS j SET a = 1", "UPDATE app.jobs"),
        ('UPDATE "Jobs" SET a = 1', "UPDATE jobs"),
        ("UPDATE {schema}.jobs SET a = 1", "UPDATE jobs"),
        ("INSERT INTO jobs AS j DEFAULT VALUES ON CONFLICT (id) DO UPDATE SET a = 1", "INSERT jobs"),
        ("DELETE FROM ONLY jobs USING u WHERE true", "DELETE jobs"),
        ("MERGE INTO jobs USING u ON true WHEN MATCHED THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT VALUES (1)",
         "MERGE jobs"),
        ("WITH a AS (DELETE FROM u RETURNING *), b AS (SELECT 1 FOR NO KEY UPDATE) INSERT INTO jobs SELECT * FROM a",
         "DELETE u, INSERT jobs"),
        ("WITH a AS (UPDATE jobs SET b = 1 RETURNING *) SELECT * FROM a", "UPDATE jobs"),
        ("TRUNCATE TABLE ONLY jobs, app.u RESTART IDENTITY CASCADE", "TRUNCATE jobs, TRUNCATE app.u"),
        ("PREPARE p (int) AS UPDATE jobs SET a = $1", "UPDATE jobs"),
        ("EXPLAIN (ANALYZE, VERBOSE) DELETE FROM jobs", "DELETE jobs"),
        ("SELECT 1 FROM jobs FOR UPDATE OF jobs", ""),
        ("EXPLAIN DELETE FROM jobs", ""),
        ("CREATE TABLE jobs (id int REFERENCES a ON DELETE CASCADE ON UPDATE SET NULL)", ""),
        ("ALTER TABLE ONLY jobs ADD CONSTRAINT k PRIMARY KEY (id), ALTER note TYPE text, OWNER TO me", ""),
        ("ALTER TABLE jobs ADD COLUMN IF NOT EXISTS a int, ALTER COLUMN status SET DEFAULT 'x', DROP COLUMN b", ""),
        ("CREATE TRIGGER a BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION f()", ""),
        ("GRANT UPDATE ON jobs TO me; COMMENT ON TABLE jobs IS 'x'; SET a = 1; CREATE INDEX ON jobs (a)", ""),
    ],
)  # fmt: skip
def test_each_part_that_changes_rows_is_found(sql: str, expected: str) -> None:
    found = [each for each in answers(sql) if isinstance(each, Change)]
    names = [f"{each.verb} {f'{each.schema}.' if each.schema else ''}{each.table}" for each in found]
    assert (", ".join(names), len(answers(sql))) == (expected, len(found))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE :tab SET a = 1", "the table of this UPDATE is not named"),
        ("INSERT INTO %s VALUES (1)", "the table of this INSERT is not named"),
        ("COPY jobs FROM 'a.csv'", "COPY brings in rows"),
        ("SELECT * INTO jobs FROM a", "it creates jobs with rows"),
        ("CREATE TABLE jobs AS SELECT 1", "it creates jobs with rows"),
        ("CREATE TEMP TABLE jobs (id int)", "another table that is named jobs"),
        ("CREATE VIEW jobs AS SELECT 1", "jobs is not an ordinary table"),
        ("CREATE RULE r AS ON UPDATE TO jobs DO INSTEAD DELETE FROM u", "a rule rewrites statements on jobs"),
        ("ALTER TABLE jobs ALTER status TYPE text USING 'x'", "it alters the table jobs"),
        ("ALTER TABLE jobs ATTACH PARTITION p DEFAULT", "it alters the table jobs"),
        ("ALTER TABLE old RENAME TO jobs", "a table is renamed to jobs"),
        ("ALTER TABLE p INHERIT jobs", "it makes p a part of jobs"),
        ("DROP TABLE IF EXISTS u, app.jobs CASCADE", "it drops the table jobs"),
        ("DROP SCHEMA app CASCADE", "it drops a schema"),
        ("FROB jobs", "not a statement of PostgreSQL: it begins with 'FROB'"),
        ("LOCK TABLE jobs UPDATE jobs SET a = 1", "1 data-changing keywords"),
        ("UPDATE jobs SET a = 'x", "PostgreSQL cannot read"),
    ],
)
def test_what_is_not_known_is_said(sql: str, expected: str) -> None:
    assert expected in reason(sql)


def test_a_part_has_the_line_of_its_verb() -> None:
    found = answers("WITH a AS (\n  UPDATE jobs SET b = 1 RETURNING *\n)\nDELETE FROM jobs")
    assert [each.statement.place.line for each in found] == [2, 4]


def test_parameters_strings_and_what_the_parser_cannot_read_have_one_form() -> None:
    sql = r"INSERT INTO jobs (a) OVERRIDING SYSTEM VALUE VALUES (%s, %(n)s, :n, @n, $2, ?, E'a\n', $$it's$$, 1_0) -- x"
    (change,) = answers(sql)
    assert isinstance(change, Change)
    assert change.sql == "INSERT INTO jobs ( a ) VALUES ( $1 , $1 , $1 , $1 , $1 , $1 , $1 , 'it''s' , 10 )"


def test_what_a_trigger_function_gives_the_row_is_an_assignment() -> None:
    body = "NEW.status := CASE WHEN a THEN 'x' END; SELECT 1 INTO NEW.status; NEW := OLD; RETURN NEW;"
    found = answers(f"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$")
    assert [(each.column, each.sql) for each in found if isinstance(each, Assignment)] == [
        ("status", "CASE WHEN a THEN 'x' END"),
        ("status", None),
        (None, None),
    ]


def test_mysql_is_read_too() -> None:
    text = 'UPDATE `jobs` SET a = "x" WHERE b = ?; # DELETE FROM jobs;\n'
    text += "REPLACE INTO jobs VALUES (1); INSERT IGNORE INTO u SET a = 1"
    found = [each for each in answers(text, Dialect.MYSQL) if isinstance(each, Change)]
    assert [(each.verb.value, each.table, each.resolution) for each in found] == [
        ("UPDATE", "jobs", ""),
        ("INSERT", "jobs", "REPLACE"),
        ("INSERT", "u", ""),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT cron.schedule('a', '* * * * *', $$DELETE FROM jobs$$)",
        "SELECT dblink_exec('UPDATE jobs SET status = ''done''')",
        r"CALL run(E'UPDATE jobs\n SET a = 1')",
    ],
)
def test_a_string_that_a_function_may_run_is_undecided(sql: str) -> None:
    assert reason(sql) == "a string in it is a statement on jobs, which a function may run"


@pytest.mark.parametrize(
    "body", ["x := f('DELETE FROM jobs');", "RETURN f('DELETE FROM jobs');", "NEW.a := f('DELETE FROM jobs');"]
)
def test_a_string_that_an_expression_of_a_function_may_run_is_undecided(body: str) -> None:
    sql = f"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
    assert reason(sql) == "a string in it is a statement on jobs, which a function may run"


def test_the_text_that_a_statement_of_a_function_stores_is_run_by_nobody() -> None:
    body = "INSERT INTO notes (a) VALUES (upper('DELETE FROM jobs')); UPDATE notes SET a = 'DELETE FROM jobs';"
    found = answers(f"CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN {body} END $$")
    assert [each.table for each in found if isinstance(each, Change)] == ["notes", "notes"]
    assert len(found) == 2


@pytest.mark.parametrize(
    ("sql", "verbs"),
    [
        ("CREATE TABLE old AS\nWITH gone AS (\nDELETE FROM jobs RETURNING *) SELECT * FROM gone", ["DELETE 3"]),
        ("CREATE TEMP TABLE old (a) ON COMMIT DROP AS WITH b AS (UPDATE jobs SET a = 1 RETURNING a)"
         " SELECT a FROM b WITH DATA", ["UPDATE 1"]),
        ("EXPLAIN ANALYZE\nCREATE TABLE old AS WITH a AS (DELETE FROM jobs RETURNING *) SELECT 1", ["DELETE 2"]),
        ("CREATE TABLE old AS WITH gone AS (DELETE FROM jobs RETURNING *) SELECT * FROM gone WITH NO DATA", []),
        ("CREATE TABLE old (a int GENERATED ALWAYS AS (b) STORED)", []),
        ("PREPARE p AS\n\nDELETE FROM jobs", ["DELETE 3"]),
    ],
)  # fmt: skip
def test_the_query_of_a_new_table_may_change_rows_while_it_is_read(sql: str, verbs: list[str]) -> None:
    found = [each for each in answers(sql) if isinstance(each, Change)]
    assert [f"{each.verb.value} {each.statement.place.line}" for each in found] == verbs


def test_the_query_of_a_new_table_may_run_a_string() -> None:
    assert "a function may run" in reason("CREATE TABLE old AS SELECT dblink_exec('DELETE FROM jobs')")


@pytest.mark.parametrize("sql", ["SELECT 'please update jobs'", "SELECT f('DELETE FROM notes')"])
def test_prose_and_statements_on_other_tables_in_strings_change_nothing(sql: str) -> None:
    assert answers(sql) == []


def test_strings_with_escapes_are_not_followed_once_they_are_switched_on() -> None:
    assert "backslashes in strings are escapes" in reason("SET standard_conforming_strings = off")
    assert answers("SET standard_conforming_strings = on") == []


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("end", ["{{ a }}", "WHERE a = 1 ${a}", "WHERE a = 1 AND {{ a }}", "WHERE a = ${a} ${b}"])
def test_a_placeholder_of_a_template_that_may_be_more_than_a_value_is_undecided(dialect: Dialect, end: str) -> None:
    (answer,) = answers(f"DELETE FROM jobs {end}", dialect)
    assert isinstance(answer, Opaque)
    assert "stands for" in answer.reason
    (answer,) = answers("DELETE FROM jobs WHERE a = {{ a }}", dialect)
    assert isinstance(answer, Change)


def test_a_placeholder_in_what_does_not_change_the_table_matters_to_nobody() -> None:
    for sql in ("LISTEN {channel}", "CREATE INDEX ${name} ON jobs (a)", "SELECT {{ columns }} FROM jobs {{ where }}"):
        assert answers(sql) == []
    (answer,) = answers("DELETE FROM notes {{ where }}")
    assert isinstance(answer, Change)
    (answer,) = answers("DELETE FROM ${schema}.jobs WHERE a = {{ a }}")
    assert isinstance(answer, Change)
