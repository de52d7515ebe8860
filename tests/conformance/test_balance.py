"""The balance of a journal on a real table: it adds up until something is hidden from it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from arrowproof.conformance.balance import find_unbalanced
from arrowproof.conformance.sqlite_journal import SQLiteJournal
from arrowproof.model.evidence import Row
from arrowproof.model.lifecycle import Binding

TABLE = """CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, code TEXT UNIQUE);
INSERT INTO jobs VALUES (1, 'pending', 'a'), (2, 'completed', 'b'), (3, NULL, 'c')"""
CHANGE = "UPDATE jobs SET status = 'failed' WHERE id = 2"


def unbalanced(folder: Path, statements: str) -> tuple[Row, ...]:
    """The keys that do not add up after some statements; ``{again}`` makes the dropped trigger again."""
    path = folder / "service.sqlite3"
    connection = apsw.Connection(str(path))
    connection.execute(TABLE)
    journal = SQLiteJournal(path, Binding("jobs", ("id",), "status"))
    start = journal.install()
    find = "SELECT sql FROM sqlite_schema WHERE name = 'arrowproof_journal_update_jobs'"
    connection.execute(statements.replace("{again}", str(connection.execute(find).get)))
    connection.close()
    rows, end = journal.rows_and_states()
    return find_unbalanced(start, end, rows)


@pytest.mark.parametrize(
    "statements",
    [
        "",
        CHANGE,
        f"BEGIN; {CHANGE}; UPDATE jobs SET status = 'completed' WHERE id = 2; COMMIT",
        "DELETE FROM jobs WHERE id = 2; INSERT INTO jobs VALUES (2, 'failed', 'b'), (4, NULL, 'd')",
        "REPLACE INTO jobs VALUES (2, 'failed', 'a')",
        "PRAGMA recursive_triggers = ON; REPLACE INTO jobs VALUES (2, 'failed', 'a')",
        "UPDATE jobs SET id = 9, status = 'x' WHERE id = 1; UPDATE jobs SET code = 'z' WHERE id = 2;"
        " DELETE FROM jobs WHERE id = 3",
        f"SAVEPOINT s; {CHANGE}; ROLLBACK TO s; DELETE FROM jobs; RELEASE s",
        "CREATE TRIGGER t AFTER UPDATE ON jobs WHEN NEW.status = 'failed' BEGIN"
        f" UPDATE jobs SET status = 'x' WHERE id = NEW.id; END; {CHANGE}",
    ],
)
def test_what_the_triggers_saw_adds_up(tmp_path: Path, statements: str) -> None:
    assert unbalanced(tmp_path, statements) == ()


@pytest.mark.parametrize(
    "statements",
    [
        f"DROP TRIGGER arrowproof_journal_update_jobs; {CHANGE}; {{again}}",
        f"{CHANGE}; DELETE FROM arrowproof_journal_jobs",
        f"{CHANGE}; UPDATE arrowproof_journal_jobs SET old_state = 'pending'",
        f"CREATE TRIGGER t AFTER UPDATE ON jobs BEGIN SELECT RAISE(IGNORE); END; {CHANGE}",
        f"CREATE TRIGGER t BEFORE INSERT ON arrowproof_journal_jobs BEGIN SELECT RAISE(IGNORE); END; {CHANGE}",
        f"CREATE TRIGGER t AFTER INSERT ON arrowproof_journal_jobs BEGIN DELETE FROM arrowproof_journal_jobs; END;"
        f" {CHANGE}",
        f"DROP TRIGGER arrowproof_journal_update_jobs; {CHANGE}; {{again}};"
        " UPDATE jobs SET status = 'completed' WHERE id = 2; DELETE FROM jobs WHERE id = 1",
    ],
)
def test_what_was_hidden_from_the_journal_does_not_add_up(tmp_path: Path, statements: str) -> None:
    assert unbalanced(tmp_path, statements) == ((("id", 2),),)
