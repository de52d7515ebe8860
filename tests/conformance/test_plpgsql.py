"""The statements in the bodies of PostgreSQL's routines, with their lines and what they belong to."""

from __future__ import annotations

import pytest

from arrowproof.conformance.guard_script import GuardScript
from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
from arrowproof.conformance.statements import SqlStatement, split_statements
from arrowproof.model.lifecycle import Dialect
from tests.conformance.guards import allowed_job

FINISH = """\
CREATE OR REPLACE FUNCTION app.finish(job_id bigint) RETURNS trigger LANGUAGE plpgsql AS $body$
<<outer>>
DECLARE
    kept bigint := 3; rows CURSOR FOR SELECT 1;
BEGIN
    IF CASE WHEN job_id = 1 THEN true ELSE false END THEN
        UPDATE jobs SET status = 'done' -- why; not?
        WHERE id = job_id RETURNING id INTO STRICT kept;
    ELSIF kept > 2 THEN DELETE FROM jobs WHERE id = job_id;
    ELSE NULL;
    END IF;
    FOR each IN UPDATE jobs SET status = 'x' RETURNING * LOOP
        PERFORM note(each.id, 'UPDATE');
    END LOOP;
    CASE kept WHEN 1 THEN INSERT INTO jobs DEFAULT VALUES; END CASE;
    SELECT id FROM jobs WHERE status = 'todo' FOR UPDATE INTO kept;
    WHILE kept > 1 LOOP kept := kept - 1; END LOOP;
    RETURN QUERY WITH a AS (SELECT 1) INSERT INTO jobs SELECT * FROM a RETURNING *;
EXCEPTION WHEN OTHERS THEN
    MERGE INTO jobs USING a ON true WHEN MATCHED THEN DELETE;
END;
$body$;
SELECT 1;
"""


def split(text: str) -> list[SqlStatement]:
    return list(split_statements("f.sql", text, Dialect.POSTGRESQL))


def inner(body: str, returns: str = "void") -> list[SqlStatement]:
    """The statements in a body of PL/pgSQL, without its header."""
    return split(f"CREATE FUNCTION f() RETURNS {returns} LANGUAGE plpgsql AS $$ BEGIN {body} END $$")[1:]


def test_the_statements_of_a_body_have_their_own_lines_and_know_their_function() -> None:
    found = [(each.place.line, each.place.name, " ".join(each.sql.split()[:3])) for each in split(FINISH)]
    assert found == [
        (1, None, "CREATE OR REPLACE"),
        (7, "finish", "UPDATE jobs SET"),
        (9, "finish", "DELETE FROM jobs"),
        (12, "finish", "UPDATE jobs SET"),
        (15, "finish", "INSERT INTO jobs"),
        (16, "finish", "SELECT id FROM"),
        (18, "finish", "WITH a AS"),
        (20, "finish", "MERGE INTO jobs"),
        (23, None, "SELECT 1"),
    ]
    routine = split(FINISH)[1].routine
    assert routine is not None
    assert (routine.name, routine.language, routine.returns_trigger) == ("finish", "plpgsql", True)


def test_where_a_result_goes_is_no_part_of_a_statement() -> None:
    update, select = split(FINISH)[1], split(FINISH)[5]
    assert [token.text for token in update.tokens[-2:]] == ["RETURNING", "id"]
    assert [token.text for token in select.tokens[-2:]] == ["FOR", "UPDATE"]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE PROCEDURE p() LANGUAGE sql AS 'UPDATE jobs SET a = 1; DELETE FROM jobs'",
        "CREATE FUNCTION p() RETURNS int LANGUAGE sql BEGIN ATOMIC"
        " UPDATE jobs SET a = CASE WHEN true THEN 1 END; DELETE FROM jobs; END",
        "DO LANGUAGE plpgsql $$BEGIN UPDATE jobs SET a = 1; DELETE FROM jobs; END$$",
        "CREATE FUNCTION p() RETURNS void AS $a$ BEGIN EXECUTE $b$UPDATE jobs SET a = 1; DELETE FROM jobs$b$; END $a$"
        " LANGUAGE plpgsql",
    ],
)
def test_every_kind_of_body_is_read(text: str) -> None:
    found = [each.sql.split()[0] for each in split(text + "; SELECT 1") if each.problem is None]
    assert found[-3:] == ["UPDATE", "DELETE", "SELECT"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE FUNCTION f() RETURNS int LANGUAGE plv8 AS $$ x $$", "the body of the function f is written in plv8"),
        ("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT ''a'''", "put it between $$"),
        ("CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1;", "the file ends inside a routine"),
        ("DO $$ #variable_conflict use_variable BEGIN END $$", "use_variable"),
        ("DO $$ BEGIN EXECUTE 'UPDATE ' || name; END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE format('UPDATE %I SET a = 1', t); END $$", "put together at run time"),
        ("DO $$ BEGIN FOR r IN EXECUTE sql LOOP END LOOP; END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE 'SELECT a FROM ' || name; END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE 'SELECT f(''DELETE '' || a)' || quote_ident(t); END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE 'SELECT 1; DROP TABLE ' || t::regclass; END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE 'SELECT ''' || t::regclass || ''''; END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE 'SELECT a FROM ' || t::regclass || tail; END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE format('SELECT %s', t); END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE format('SELECT %I', t) || tail; END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE format('SELECT %I', t) || format('%s', tail); END $$", "put together at run time"),
        ("DO $$ BEGIN EXECUTE 'UPDATE jobs SET a = ''x'''; END $$", "has quotes in it"),
        ("\\i other.sql", "a command of the psql shell"),
    ],
)
def test_what_cannot_be_read_has_a_problem(text: str, reason: str) -> None:
    assert [each.problem for each in split(text) if reason in (each.problem or "")]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'lib', 'UPDATE'",
        "DO $$ BEGIN EXECUTE format('NOTIFY %I', c); EXECUTE 'LOCK TABLE jobs'; x := 1; RAISE NOTICE 'DELETE'; END $$",
        "\\restrict abc",
        "DO $$ BEGIN EXECUTE 'SELECT a FROM ' || TG_RELID::regclass || ' WHERE b = ''''' INTO d; END $$",
        "DO $$ BEGIN EXECUTE 'SELECT a FROM ' || quote_ident(t.name) || ' WHERE b = $1' INTO d USING e; END $$",
        "DO $$ BEGIN EXECUTE format('SELECT 5 %% 2 FROM %I WHERE b = %2$L', t, e) INTO d; END $$",
    ],
)
def test_what_cannot_change_rows_has_none(text: str) -> None:
    assert [each.problem for each in split(text)] == [None] * len(split(text))


def test_a_guard_among_the_migrations_is_decided() -> None:
    guard = GuardScript(PostgreSQLGuard(allowed_job()))
    found = split(guard.installation() + guard.removal())
    assert [each.problem for each in found] == [None] * len(found)


def test_the_rows_of_a_dump_are_no_statements() -> None:
    text = "COPY jobs (a) FROM stdin;\n1\tit's\n\\.\n\nSELECT 1;\nCOPY a FROM STDIN WITH CSV;\n\"\n\\.\nSELECT 2"
    found = [(each.place.line, each.sql) for each in split(text)]
    assert found == [
        (1, "COPY jobs (a) FROM stdin"),
        (5, "SELECT 1"),
        (6, "COPY a FROM STDIN WITH CSV"),
        (9, "SELECT 2"),
    ]


def test_in_a_trigger_function_what_is_given_to_the_row_is_kept() -> None:
    body = "NEW.s := 'x'; NEW.a = 1; SELECT 1 INTO NEW.s; IF a THEN RETURN NULL; END IF; RETURN other; RETURN NEW;"
    assert [each.sql for each in inner(body, "trigger")] == [
        "NEW.s := 'x'",
        "NEW.a = 1",
        "SELECT 1",
        "NEW.s",
        "RETURN other",
    ]
    assert [each.sql for each in inner(body)] == ["SELECT 1"]


@pytest.mark.parametrize(
    "body",
    [
        "IF NEW.s = 'x' THEN RETURN NEW; ELSIF NEW.s = OLD.s AND NEW.a IS NULL THEN RETURN OLD; END IF;",
        "CASE NEW.s WHEN 'x' THEN RETURN NEW; END CASE;",
        "WHILE NEW.s = 'x' LOOP EXIT; END LOOP;",
        "RETURN COALESCE(NEW, OLD);",
    ],
)
def test_a_trigger_function_gives_its_row_nothing_by_a_comparison_or_by_giving_it_back(body: str) -> None:
    assert inner(body, "trigger") == []


def test_a_name_in_a_frame_begins_a_query() -> None:
    text = "-- one --\n-- why\nSELECT 1\n\n-- two --\nDELETE FROM a WHERE b IN (\n-- no --\nSELECT 1)\n-- words --\n"
    assert [(each.place.line, each.place.name) for each in split(text)] == [(3, "one"), (6, "two")]


def test_a_call_that_is_given_a_statement_as_a_string_is_kept() -> None:
    found = inner("PERFORM dblink_exec('a', 'DELETE FROM jobs WHERE id = 1'); CALL run($q$UPDATE jobs SET a = 1$q$);")
    assert [each.word(0) for each in found] == ["PERFORM", "CALL"]
    assert inner("PERFORM note('UPDATE of jobs'); CALL note('jobs'); RAISE 'DELETE FROM jobs WHERE id = 1';") == []


@pytest.mark.parametrize(
    "body",
    [
        "x := dblink_exec('a', 'DELETE FROM jobs');",
        "x = dblink_exec('a', format('DELETE FROM jobs WHERE id = %s', y));",
        "IF dblink_exec('a', 'DELETE FROM jobs') = 'x' THEN NULL; END IF;",
        "RETURN dblink_exec('a', 'DELETE FROM jobs');",
        "RAISE NOTICE '%', dblink_exec('a', 'DELETE FROM jobs');",
    ],
)
def test_an_expression_that_gives_a_function_a_statement_is_kept(body: str) -> None:
    assert len(inner(body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "x := 'DELETE FROM jobs';",
        "x := format('DELETE FROM jobs WHERE id = %s', y);",
        "IF (x = 'DELETE FROM jobs') THEN NULL; END IF;",
        "RAISE EXCEPTION 'DELETE FROM jobs is refused';",
        "x := f('jobs');",
    ],
)
def test_a_statement_that_no_function_is_given_runs_only_where_something_executes_it(body: str) -> None:
    assert inner(body) == []
