"""Triggers of a database that no source has are read as the scan reads triggers; rows that stand undrawn are said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from arrowproof.conformance.database_triggers import Trigger, unknown_triggers
from arrowproof.conformance.drive import drive
from arrowproof.conformance.own_database import own_database
from arrowproof.conformance.postgresql_journal import PostgresJournal
from arrowproof.conformance.proof import prove
from arrowproof.conformance.sources import Source
from arrowproof.conformance.undrawn_rows import undrawn_rows
from arrowproof.model.evidence import Evidence, Verdict
from arrowproof.model.lifecycle import Binding, Lifecycle, Origin
from tests.conformance.ledgers import LedgerDriver, ledger

MODEL = ledger("place: created -> open", "pay: open -> paid")
SQL = """CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT, note TEXT);
INSERT INTO entries (state) VALUES ('open');
UPDATE entries SET state = 'paid' WHERE id = ? AND state = 'open';
"""
VOIDS = "BEGIN UPDATE entries SET state = 'void' WHERE state = 'paid' AND id < 0; END"


class SeededDriver(LedgerDriver):
    """A service that does more at its start than its sources say."""

    def __init__(self, *seeds: str) -> None:
        super().__init__()
        self.seeds = seeds

    def start(self, folder: Path) -> Path:
        database = super().start(folder)
        for seed in self.seeds:
            self.run(seed)
        return database


@pytest.fixture
def proven(tmp_path: Path) -> Callable[..., Evidence]:
    """The proof of the ledger with what its database is seeded with, and more sources."""

    def run(*seeds: str, more: str = "") -> Evidence:
        (tmp_path / "ledger.sql").write_text(SQL + more)
        model = replace(MODEL, sources=("*.sql",), origin=Origin(tmp_path / "lifecycle.json"))
        return prove(model, SeededDriver(*seeds), tmp_path / "out")

    return run


def test_a_trigger_that_no_source_has_is_read_and_named(proven: Callable[..., Evidence]) -> None:
    evidence = proven(f"CREATE TRIGGER archive AFTER INSERT ON entries {VOIDS}")
    ((path, statement),) = [(path, statement) for path in evidence.sneak_paths for statement in path.possible]
    assert (path.source, path.target, path.happened) == ("paid", "void", ())
    assert statement.place.file == "database/trigger archive.sql"
    assert evidence.verdict is Verdict.WALKED
    assert [source.file for source in evidence.sources] == ["ledger.sql"]


def test_a_trigger_of_the_sources_is_known_however_its_head_is_written(proven: Callable[..., Evidence]) -> None:
    harmless = "BEGIN\n  UPDATE entries SET note = 'x' WHERE id = new.id; -- a touch\nEND"
    seed = (
        "CREATE TRIGGER IF NOT EXISTS note AFTER INSERT ON entries WHEN new.id < 0"
        " BEGIN UPDATE entries SET note = 'x' WHERE id = new.id; END"
    )
    source = f"create trigger if not exists\nnote after insert on entries when new.id < 0 {harmless};"
    assert {each.statement.place.file for each in proven(seed, more=source).undecided} == {"ledger.sql"}
    assert {each.statement.place.file for each in proven(seed).undecided} == {"database/trigger note.sql"}


def test_a_trigger_is_known_by_its_body_alone() -> None:
    source = Source("a.sql", f"CREATE TRIGGER a AFTER DELETE ON entries {VOIDS};", "")
    same = Trigger("b", f"CREATE TRIGGER b BEFORE UPDATE ON entries {VOIDS}")
    other = Trigger("c", same.sql.replace("'void'", "'open'"))
    assert [each.file for each in unknown_triggers([same, other], [source])] == ["database/trigger c.sql"]


def test_the_triggers_of_a_postgresql_database_are_found_with_their_functions(postgresql: str) -> None:
    with own_database(postgresql) as database:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("CREATE TABLE jobs (id int PRIMARY KEY, state text)")
            connection.execute(
                "CREATE FUNCTION close() RETURNS trigger LANGUAGE plpgsql"
                " AS $$ BEGIN NEW.state := 'x'; RETURN NEW; END $$"
            )
            connection.execute("CREATE TRIGGER closes BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION close()")
        journal = PostgresJournal(database, Binding("jobs", ("id",), "state"))
        journal.install()
        (trigger,) = journal.triggers()
    assert trigger.name == "closes"
    assert "NEW.state := 'x'" in trigger.sql
    assert "CREATE TRIGGER closes BEFORE UPDATE ON public.jobs" in trigger.sql
    source = Source("a.sql", "CREATE OR REPLACE FUNCTION f() AS $b$ BEGIN NEW.state := 'x'; RETURN NEW; END $b$;", "")
    assert unknown_triggers([trigger], [source]) == ()


def test_rows_that_stood_undrawn_when_the_journal_was_made_are_said(tmp_path: Path) -> None:
    seeds = [f"INSERT INTO entries (state) VALUES ('{state}')" for state in ("open", *["lost"] * 5)]
    result = drive(MODEL, SeededDriver(*seeds), tmp_path / "out")
    assert result.problems == (
        "When the journal was made, 5 rows stood in a state that the model does not draw: id=2 in lost; id=3 in lost;"
        " id=4 in lost and 2 more.",
    )


def test_rows_that_stand_undrawn_at_the_end_are_said_unless_they_stood_there_from_the_start() -> None:
    old, new = (("id", 1),), (("id", 2),)
    assert undrawn_rows(MODEL, {old: "open"}, {old: "open", new: None}, ()) == (
        "At the end, one row stood in a state that the model does not draw: id=2 in NULL.",
    )
    (said,) = undrawn_rows(MODEL, {old: "lost"}, {old: "lost"}, ())
    assert said.startswith("When the journal was made, one row stood")


def test_what_the_journal_brought_to_an_undrawn_state_is_a_sneak_path_and_not_said_twice(tmp_path: Path) -> None:
    result = drive(MODEL, LedgerDriver({"open paid": "void lost"}), tmp_path / "out")
    assert [problem for problem in result.problems if "does not draw" in problem] == []
    assert [(path.source, path.target) for path in result.sneak_paths] == [("open", "void"), ("void", "lost")]


def test_a_service_without_undrawn_rows_says_nothing(tmp_path: Path) -> None:
    model: Lifecycle = MODEL
    assert drive(model, SeededDriver("INSERT INTO entries (state) VALUES ('open')"), tmp_path / "out").problems == ()


def test_the_triggers_of_the_journal_are_none_of_the_database(tmp_path: Path) -> None:
    seed = f"CREATE TRIGGER archive AFTER INSERT ON entries {VOIDS}"
    assert drive(MODEL, SeededDriver(seed), tmp_path / "out").triggers == (Trigger("archive", seed),)
