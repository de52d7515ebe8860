"""Rows of a bound table, read by their key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from arrowproof.conformance.rows import in_key_order, key_text, open_database, quote, select_row, stored_key
from arrowproof.errors import InputError
from arrowproof.model.evidence import Row
from arrowproof.model.lifecycle import Binding

JOB = Binding("jobs", ("Id", "tenant"), "status")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    path = tmp_path / "service.sqlite3"
    apsw.Connection(str(path)).execute(
        "CREATE TABLE jobs (id INTEGER, tenant, status TEXT, size AS (length(status)), PRIMARY KEY (id, tenant));"
        "INSERT INTO jobs VALUES (1, 'a', 'pending'), (1, x'00ff', 'done'), (2, NULL, 'lost'), (3, 'x''00FF''', 1.5)"
    )
    with open_database(path) as connection:
        yield connection


@pytest.mark.parametrize(
    ("key", "state"),
    [
        ((("Id", 1), ("tenant", "a")), "pending"),
        ((("Id", "1"), ("tenant", "a")), "pending"),
        ((("Id", 1), ("tenant", "x'00FF'")), "done"),
        ((("Id", 3), ("tenant", "x'00FF'")), "1.5"),
        ((("Id", 2), ("tenant", None)), "lost"),
        ((("Id", 1), ("tenant", "' OR 1=1 --")), None),
    ],
)
def test_a_row_is_found_by_its_key_and_by_nothing_else(
    connection: apsw.Connection, key: Row, state: str | None
) -> None:
    row = select_row(connection, JOB, key)
    assert (None if row is None else row.state) == state


def test_a_row_has_its_columns_in_table_order_and_blobs_as_text(connection: apsw.Connection) -> None:
    row = select_row(connection, JOB, (("Id", "1"), ("tenant", "x'00FF'")))
    assert row is not None
    assert row.columns == (("id", 1), ("tenant", "x'00FF'"), ("status", "done"), ("size", 4))
    assert stored_key(JOB, row) == (("Id", 1), ("tenant", "x'00FF'"))


def test_a_derived_state_is_read_with_its_row(connection: apsw.Connection) -> None:
    binding = Binding("jobs", ("id", "tenant"), state_sql="status || '/' || jobs.size -- both")
    row = select_row(connection, binding, (("id", 1), ("tenant", "a")))
    assert row is not None
    assert row.state == "pending/7"


def test_a_key_is_put_in_the_order_of_the_binding() -> None:
    assert in_key_order(JOB, (("tenant", "a"), ("Id", 1))) == (("Id", 1), ("tenant", "a"))


@pytest.mark.parametrize("key", [(), (("Id", 1),), (("Id", 1), ("Id", 2)), (("Id", 1), ("tenant", 2), ("more", 3))])
def test_a_key_with_other_columns_than_the_binding_is_none(key: Row) -> None:
    assert in_key_order(JOB, key) is None


def test_a_key_reads_well_and_is_bounded() -> None:
    assert key_text((("tenant", "a"), ("id", 3))) == "tenant='a', id=3"
    assert len(key_text((("id", "x" * 10_000),))) == 200


def test_a_name_is_quoted_whatever_it_holds() -> None:
    assert quote('a"b; --') == '"a""b; --"'
    with pytest.raises(InputError, match="NUL"):
        quote("a\0b")


def test_text_that_is_not_utf8_is_wrong_input(tmp_path: Path, connection: apsw.Connection) -> None:
    connection.execute("UPDATE jobs SET status = CAST(x'ff' AS TEXT) WHERE tenant = 'a'")
    with pytest.raises(InputError, match="not UTF-8"), open_database(tmp_path / "service.sqlite3") as other:
        select_row(other, JOB, (("Id", 1), ("tenant", "a")))
