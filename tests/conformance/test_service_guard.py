"""A proof credits a guard that the service's own schema makes, and no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import psycopg
import pytest

from arrowproof.conformance.driver import load_driver
from arrowproof.conformance.guard_script import GuardScript
from arrowproof.conformance.journal import open_journal
from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
from arrowproof.conformance.proof import prove
from arrowproof.conformance.service_guard import check_service_guard
from arrowproof.model.evidence import Evidence, Guard, Verdict
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.rung import Rung, rung_of
from tests.conformance.guards import BINDING, JOBS, allowed_job, guarded_job, sqlite_guard

LOAN = Path(__file__).parent.parent.parent / "examples" / "loan"


@pytest.fixture
def loan(tmp_path: Path) -> Path:
    """A copy of the example that a test may spoil, under a module name of its own."""
    folder = Path(shutil.copytree(LOAN, tmp_path / "loan"))
    name = f"loan_driver_{tmp_path.name}"
    (folder / "loan_driver.py").rename(folder / f"{name}.py")
    model = folder / "lifecycle.json"
    model.write_text(model.read_text().replace("loan_driver:", f"{name}:"))
    return folder


def prove_loan(folder: Path) -> Evidence:
    lifecycle = load_lifecycle(folder / "lifecycle.json")
    assert lifecycle.driver is not None
    driver = load_driver(lifecycle.driver, folder)
    return prove(lifecycle, driver, folder / "out", crash_checks=False)


def test_statements_that_set_any_status_are_proven_by_the_guard_of_the_schema(loan: Path) -> None:
    evidence = prove_loan(loan)
    assert (evidence.verdict, evidence.reasons, evidence.sneak_paths) == (Verdict.PROVEN, (), ())
    assert evidence.is_guarded
    assert all(each.is_written and each.is_walked for each in evidence.transitions)


def test_the_same_service_without_its_guard_is_walked(loan: Path) -> None:
    (loan / "sql" / "guard.sql").write_text("-- nothing\n")
    evidence = prove_loan(loan)
    assert evidence.verdict is Verdict.WALKED
    assert evidence.guard is None
    assert any("dynamic target" in reason for reason in evidence.reasons)


def test_a_guard_that_leaks_is_named_and_credited_with_nothing(loan: Path) -> None:
    with (loan / "sql" / "guard.sql").open("a") as guard:
        guard.write("DROP TRIGGER arrowproof_guard_delete_loans;\n")
    evidence = prove_loan(loan)
    assert evidence.verdict is Verdict.WALKED
    assert isinstance(evidence.guard, Guard)
    assert evidence.guard.refused == evidence.guard.tried - 3
    assert not any(rung_of(each, is_guarded=evidence.is_guarded) is Rung.GUARDED for each in evidence.transitions)
    assert evidence.reasons[-1].startswith(
        "The service's own guard is not credited: lent -> removed by a plain statement was let through"
    )


def test_a_sneak_path_that_happened_is_not_forgiven_for_a_guard(loan: Path) -> None:
    service = loan / "loan_service.py"
    move = 'made = connection.execute(query, {"status": STATUS[command], "id": loan}).fetchall()'
    assert move in service.read_text()
    behind = """if command == "find":
            insert = "arrowproof_guard_insert_loans"
            trigger = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (insert,)).get
            connection.execute(f"DROP TRIGGER {insert}; INSERT INTO loans (status) VALUES ('lost')")
            connection.execute(trigger)
        """
    service.write_text(service.read_text().replace(move, behind + move))
    evidence = prove_loan(loan)
    assert evidence.is_guarded
    assert evidence.verdict is Verdict.NOT_PROVEN
    assert [(path.source, path.target) for path in evidence.sneak_paths if path.happened] == [(None, "lost")]


@pytest.mark.parametrize("has_guard", [True, False])
def test_on_sqlite_the_journal_is_no_guard_and_its_rows_stay_as_they_are(tmp_path: Path, has_guard: bool) -> None:
    path = tmp_path / "service.sqlite3"
    connection = apsw.Connection(str(path))
    connection.execute(JOBS)
    if has_guard:
        connection.execute(GuardScript(sqlite_guard(connection, allowed_job())).installation())
    connection.close()
    journal = open_journal(path, BINDING)
    journal.install()
    checked = check_service_guard(path, guarded_job())
    assert (checked is not None and checked.holds) == has_guard
    assert journal.rows() == ()
    assert journal.stands()


@pytest.mark.parametrize("has_guard", [True, False])
def test_on_postgresql_the_journal_is_no_guard_and_its_rows_stay_as_they_are(postgresql: str, has_guard: bool) -> None:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS serviced CASCADE")
        connection.execute("CREATE SCHEMA serviced")
        connection.execute("SET search_path TO serviced")
        connection.execute(JOBS.replace("INTEGER PRIMARY KEY", "serial PRIMARY KEY"))
        if has_guard:
            connection.execute(GuardScript(PostgreSQLGuard(allowed_job())).installation())
        url = f"{postgresql}&options=-csearch_path%3Dserviced"
        journal = open_journal(url, BINDING)
        try:
            journal.install()
            checked = check_service_guard(url, guarded_job())
            assert (checked is not None and checked.holds) == has_guard
            assert journal.rows() == ()
            assert journal.stands()
        finally:
            journal.remove()
            connection.execute("DROP SCHEMA serviced CASCADE")
