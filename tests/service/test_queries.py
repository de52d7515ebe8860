from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from arrowproof.service import queries
from arrowproof.service.queries import QueryFileError, load_queries, parse_queries, schema_statements, service_queries

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
    for statement in schema_statements():
        connection.execute(statement)
    for statement in service_queries().values():
        connection.execute(f"EXPLAIN {statement}", dict.fromkeys(re.findall(r":(\w+)", statement)))


def test_the_code_uses_every_query_and_no_other():
    code = "\n".join(file.read_text() for file in SERVICE.glob("*.py"))
    called = set(re.findall(r'\b(?:rows|row|change|_change)\(\s*"(\w+)"', code)) | {"wal", "truncate"}
    assert called == set(service_queries())


def test_every_query_says_what_it_is_for_and_every_state_change_its_transitions():
    for file in (SERVICE / "sql").glob("*.sql"):
        for block in re.split(r"^-- name: ", file.read_text(), flags=re.MULTILINE)[1:]:
            comment = [line for line in block.splitlines()[1:] if line.startswith("-- ")]
            assert comment, f"{file.name}: {block}"
            if re.search(r"INSERT INTO jobs|SET status", block):
                assert "->" in " ".join(comment), f"{file.name}: {block}"
