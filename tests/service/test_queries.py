from __future__ import annotations

import ast
import re
from pathlib import Path

import apsw
import psycopg
import pytest
from psycopg.pq import ExecStatus

from arrowproof.service import queries
from arrowproof.service.queries import (
    SQL_FOLDER,
    QueryFileError,
    load_queries,
    parse_queries,
    schema_statements,
    service_queries,
)
from tests.service.engines import ENGINES, PARAMETER, only_postgresql

SERVICE = Path(queries.__file__).parent


def test_a_query_is_its_statement_without_name_and_comments():
    text = "-- The file.\n\n-- name: one\n-- What it is for.\nSELECT 1\nFROM t;\n\n-- name: two\nSELECT 2;\n"
    assert parse_queries(text, "a.sql") == {"one": "SELECT 1\nFROM t;", "two": "SELECT 2;"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT 1;\n-- name: one\nSELECT 1;", "before the first"),
        ("-- name: One\nSELECT 1;", "is no name"),
        ("-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;", "stands twice"),
        ("-- name: one\nSELECT 1", "ends with `;`"),
        ("-- name: one\nSELECT 1; SELECT 2;", "one statement"),
        ("-- name: one\n-- Nothing.\n", "one statement"),
    ],
)
def test_a_file_that_breaks_the_format_is_an_error_that_names_the_file(text, said):
    with pytest.raises(QueryFileError, match=f"^a.sql: .*{said}"):
        parse_queries(text, "a.sql")


def test_a_name_in_two_files_is_an_error(tmp_path):
    for name in ("a.sql", "b.sql"):
        (tmp_path / name).write_text("-- name: one\nSELECT 1;\n")
    with pytest.raises(QueryFileError, match="another file"):
        load_queries([tmp_path / "a.sql", tmp_path / "b.sql"])


def test_every_query_is_understood_by_sqlite_on_the_schema():
    connection = apsw.Connection(":memory:")
    for statement in schema_statements("sqlite"):
        connection.execute(statement)
    for statement in service_queries("sqlite").values():
        connection.execute(f"EXPLAIN {statement}", dict.fromkeys(PARAMETER.findall(statement)))


@only_postgresql
@pytest.mark.usefixtures("database")
def test_every_query_is_understood_by_postgresql_on_the_schema(engine):
    with psycopg.connect(engine.db, autocommit=True) as connection:
        for name, statement in service_queries("postgresql").items():
            numbers = {
                parameter: f"${at}" for at, parameter in enumerate(dict.fromkeys(PARAMETER.findall(statement)), 1)
            }
            numbered = PARAMETER.sub(lambda match, numbers=numbers: numbers[match.group(1)], statement)
            result = connection.pgconn.prepare(name.encode(), numbered.encode())
            assert result.status == ExecStatus.COMMAND_OK, f"{name}: {result.error_message.decode()}"


@only_postgresql
@pytest.mark.usefixtures("database")
def test_a_query_that_postgresql_does_not_understand_is_seen(engine):
    with psycopg.connect(engine.db, autocommit=True) as connection:
        result = connection.pgconn.prepare(b"wrong", b"SELECT no_such_column FROM jobs WHERE id = $1;")
        assert result.status == ExecStatus.FATAL_ERROR


def names_called(file: Path) -> set[str]:
    """The names of queries in a module's code: where one is run, and where one is handed on."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def names_run(file: Path) -> set[str]:
    """The names that stand where a query is run."""
    return set(re.findall(r'\b(?:rows|row|change|_change|later|_ask)\(\s*"(\w+)"', file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("engine_name", ENGINES)
def test_the_code_uses_every_query_of_a_database_and_no_other(engine_name):
    (other,) = {"sqlite", "postgresql"} - {engine_name}
    files = [file for file in SERVICE.glob("*.py") if other not in file.stem]
    assert set(service_queries(engine_name)) <= set().union(*map(names_called, files))
    for file in files:
        assert names_run(file) <= set(service_queries(engine_name)), file.name


def test_both_databases_say_the_same_under_the_same_names():
    for file in ("transaction", "claim"):
        sqlite, postgresql = (load_queries([SQL_FOLDER / engine / f"{file}.sql"]) for engine in ENGINES)
        assert list(sqlite) == list(postgresql), file
    assert {"read_clock"} == set.intersection(
        *(set(load_queries([SQL_FOLDER / engine / "connection.sql"])) for engine in ENGINES)
    )


def test_the_parameters_of_a_query_have_the_same_names_for_both_databases():
    sqlite, postgresql = (service_queries(engine) for engine in ENGINES)
    for name in sqlite.keys() & postgresql.keys():
        assert set(PARAMETER.findall(sqlite[name])) == set(PARAMETER.findall(postgresql[name])), name


def test_every_file_of_queries_is_loaded():
    for engine in ENGINES:
        loaded = {*service_queries(engine).values(), *schema_statements(engine)}
        for file in (*SQL_FOLDER.glob("*.sql"), *(SQL_FOLDER / engine).glob("*.sql")):
            assert loaded >= set(load_queries([file]).values()), file


def test_every_query_says_what_it_is_for_and_every_state_change_its_transitions():
    files = list(SQL_FOLDER.rglob("*.sql"))
    assert len(files) >= 9
    for file in files:
        for block in re.split(r"^-- name: ", file.read_text(), flags=re.MULTILINE)[1:]:
            comment = [line for line in block.splitlines()[1:] if line.startswith("-- ")]
            assert comment, f"{file.name}: {block}"
            if re.search(r"INSERT INTO jobs|SET status|DELETE FROM jobs", block):
                assert "->" in " ".join(comment), f"{file.name}: {block}"
