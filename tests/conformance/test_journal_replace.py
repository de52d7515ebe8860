"""Rows that another row takes the place of, by REPLACE or a conflict clause, are found by the journal."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from arrowproof.model.lifecycle import Binding
from tests.conformance.journals import Make, brief, make_journal


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return partial(make_journal, tmp_path)


def test_replace_under_the_same_key_is_a_change_from_the_old_state(make: Make) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status, attempts) VALUES (1, 'completed', 2)")
    connection.execute("REPLACE INTO jobs (id, status) VALUES (1, 'pending')")
    row = journal.rows()[-1]
    assert brief((row,)) == [("replace", "changed", 1, "completed", "pending")]
    assert (row.old_watched, row.new_watched) == ((("attempts", 2),), (("attempts", 0),))


def test_replace_that_writes_the_same_state_again_names_it(make: Make) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status) VALUES (1, 'running')")
    connection.execute("REPLACE INTO jobs (id, status, attempts) VALUES (1, 'running', 1)")
    assert brief(journal.rows())[-1] == ("replace", "named", 1, "running", "running")


def test_replace_with_recursive_triggers_is_a_removal_and_a_creation(make: Make) -> None:
    journal, connection = make()
    connection.execute("PRAGMA recursive_triggers = ON; INSERT INTO jobs (id, status) VALUES (1, 'completed')")
    connection.execute("REPLACE INTO jobs (id, status) VALUES (1, 'pending')")
    assert brief(journal.rows())[1:] == [
        ("delete", "changed", 1, "completed", None),
        ("insert", "changed", 1, None, "pending"),
    ]


@pytest.mark.parametrize("recursive", [False, True])
def test_a_row_that_replace_removes_through_another_unique_column_is_found(make: Make, recursive: bool) -> None:
    journal, connection = make()
    connection.execute(f"PRAGMA recursive_triggers = {recursive:d}")
    connection.execute("INSERT INTO jobs (id, status, code) VALUES (1, 'completed', 'a'), (2, 'pending', 'b')")
    mark = journal.last_order()
    connection.execute("REPLACE INTO jobs (id, status, code) VALUES (3, 'pending', 'a')")
    connection.execute("UPDATE OR REPLACE jobs SET code = 'b' WHERE id = 3")
    assert brief(journal.rows(after=mark)) == [
        ("delete", "changed", 1, "completed", None),
        ("insert", "changed", 3, None, "pending"),
        ("delete", "changed", 2, "pending", None),
        ("update", "touched", 3, "pending", "pending"),
    ]


@pytest.mark.parametrize(
    "index",
    [
        "CREATE UNIQUE INDEX i ON jobs (code COLLATE NOCASE)",
        "CREATE UNIQUE INDEX i ON jobs (code COLLATE NOCASE, attempts)",
        "CREATE UNIQUE INDEX i ON jobs (lower(code))",
        "CREATE UNIQUE INDEX i ON jobs (attempts, lower(code))",
        "CREATE UNIQUE INDEX i ON jobs (code COLLATE NOCASE) WHERE attempts = 0",
    ],
)
def test_a_row_that_replace_removes_through_any_unique_index_is_found(make: Make, index: str) -> None:
    journal, connection = make(f"CREATE TABLE jobs (id INTEGER PRIMARY KEY, status, attempts DEFAULT 0, code); {index}")
    connection.execute(
        "INSERT INTO jobs (id, status, code) VALUES (1, 'done', 'a'), (2, 'done', 'b'), (3, 'done', NULL)"
    )
    connection.execute("REPLACE INTO jobs (id, status, code) VALUES (4, 'pending', 'A')")
    assert brief(journal.rows())[3:] == [
        ("delete", "changed", 1, "done", None),
        ("insert", "changed", 4, None, "pending"),
    ]


def test_a_row_that_loses_its_primary_key_to_another_is_found_when_the_key_is_another_column(make: Make) -> None:
    binding = Binding("jobs", ("code",), "status")
    journal, connection = make("CREATE TABLE jobs (id INTEGER PRIMARY KEY, status, code TEXT UNIQUE)", binding)
    connection.execute("INSERT INTO jobs VALUES (1, 'done', 'a'); REPLACE INTO jobs VALUES (1, 'pending', 'b')")
    assert brief(journal.rows())[1:] == [
        ("delete", "changed", "a", "done", None),
        ("insert", "changed", "b", None, "pending"),
    ]


@pytest.mark.parametrize(
    "key", ["id INTEGER PRIMARY KEY", "id TEXT PRIMARY KEY", "id TEXT COLLATE NOCASE PRIMARY KEY", "id PRIMARY KEY"]
)
def test_the_work_of_the_journal_does_not_grow_with_the_table(make: Make, key: str) -> None:
    _, connection = make(f"CREATE TABLE jobs ({key}, status, attempts INTEGER, code TEXT UNIQUE)")

    def steps(statement: str) -> int:
        """How many steps the virtual machine of SQLite takes for it."""
        taken = [0]

        def count() -> bool:
            taken[0] += 1
            return False

        connection.set_progress_handler(count, 1)
        connection.execute(statement)
        connection.set_progress_handler(None)
        return taken[0]

    def work(number: int) -> list[int]:
        insertion = steps(f"INSERT INTO jobs VALUES ('{number}', 'a', 0, 'c{number}')")
        return [insertion, steps(f"UPDATE jobs SET status = 'b' WHERE id = '{number}'")]

    work(10_001)
    small = work(10_002)
    with connection:
        connection.executemany("INSERT INTO jobs VALUES (?, 'a', 0, ?)", ((i, f"x{i}") for i in range(2000)))
    assert all(large < small + 50 for large, small in zip(work(20_001), small, strict=True))


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("INSERT INTO jobs (id, status) VALUES (1, 'x') ON CONFLICT DO NOTHING", []),
        ("INSERT OR IGNORE INTO jobs (id, status) VALUES (1, 'x'), (2, 'y')", [("insert", "changed", 2, None, "y")]),
        (
            "INSERT INTO jobs (id, status) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET status = 'x'",
            [("update", "changed", 1, "pending", "x")],
        ),
        ("UPDATE OR IGNORE jobs SET status = 'x', code = 'a'", [("update", "changed", 1, "pending", "x")]),
        ("UPDATE OR FAIL jobs SET status = 'x'", [("update", "changed", 1, "pending", "x")]),
        ("DELETE FROM jobs WHERE id = 99", []),
    ],
)
def test_a_conflict_clause_of_the_service_does_not_reach_the_journal(
    make: Make, statement: str, wanted: list[tuple[object, ...]]
) -> None:
    journal, connection = make()
    connection.execute("INSERT INTO jobs (id, status, code) VALUES (1, 'pending', 'a')")
    mark = journal.last_order()
    connection.execute(statement)
    assert brief(journal.rows(after=mark)) == wanted
