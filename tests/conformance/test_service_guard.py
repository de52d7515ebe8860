"""A proof credits a guard that the service's own schema makes, and no other."""

from __future__ import annotations

import shutil
from dataclasses import replace
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
from arrowproof.conformance.trials import NO_CRASHES
from arrowproof.conformance.verdict import judge
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
    return prove(lifecycle, driver, folder / "out", trials=NO_CRASHES)


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
        "The triggers of the table are credited with no guard: lent -> removed by a plain statement was let through"
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
            known = "INSERT INTO arrowproof_guard_loans (key_0, state) SELECT id, status FROM loans"
            connection.execute(f"{known} WHERE status = 'lost'")
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
        script = GuardScript(sqlite_guard(connection, allowed_job())).installation()
        connection.execute(script.replace("\n", "\r\n"))  # a checkout may have changed how its lines end
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
            script = GuardScript(PostgreSQLGuard(allowed_job())).installation()
            connection.execute(script.replace("\n", "\r\n"))  # a checkout may have changed how its lines end
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


BY_HAND = """
CREATE TRIGGER moves AFTER UPDATE ON jobs WHEN NOT (OLD.status = 'todo' AND NEW.status IS 'doing'
  OR OLD.status = 'doing' AND NEW.status IN ('doing', 'done')
  OR OLD.status IS NEW.status AND OLD.attempts IS NEW.attempts)
  OR OLD.id IS NOT NEW.id {more} BEGIN SELECT RAISE(ABORT, 'no'); END;
CREATE TRIGGER begins AFTER INSERT ON jobs WHEN NEW.status IS NOT 'todo' BEGIN SELECT RAISE(ABORT, 'no'); END;
CREATE TRIGGER ends AFTER DELETE ON jobs WHEN OLD.status IS NOT 'done' BEGIN SELECT RAISE(ABORT, 'no'); END;
"""
"""A guard of tables on which nothing is unique but the key; what it lacks is REPLACE."""


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("AND (SELECT strict FROM settings)", "moves looks at the table settings"),
        ("AND date('now') > '2026-01-01'", "moves looks at date"),
        ("AND OLD.code IS NOT 'free'", "moves looks at the column code"),
        ("", None),
    ],
)
def test_a_trigger_that_looks_at_more_than_the_row_is_credited_with_nothing(
    tmp_path: Path, more: str, what: str | None
) -> None:
    path = tmp_path / "service.sqlite3"
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE settings (strict); INSERT INTO settings VALUES (1)")
        connection.execute(f"{JOBS.replace(' UNIQUE', '')}; {BY_HAND.format(more=more)}")
    checked = check_service_guard(path, guarded_job())
    assert checked is not None
    assert checked.set_aside == (() if what is None else (what,))
    moves = [trial for trial in checked.trials if trial.name == "done -> todo by a plain statement"]
    assert [trial.is_right for trial in moves] == [what is None]


def test_triggers_that_refuse_only_by_what_is_not_the_row_are_credited_with_no_guard(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    strict = "CREATE TRIGGER strict BEFORE UPDATE ON jobs WHEN (SELECT strict FROM settings)"
    with apsw.Connection(str(path)) as connection:
        connection.execute(f"CREATE TABLE settings (strict); {JOBS}; {strict} BEGIN SELECT RAISE(ABORT, 'no'); END")
    assert check_service_guard(path, guarded_job()) is None  # settings are empty in the copy: it refuses nothing
    with apsw.Connection(str(path)) as connection:
        connection.execute("DROP TRIGGER strict")
        connection.execute(f"{strict} IS NULL BEGIN SELECT RAISE(ABORT, 'no'); END")
    checked = check_service_guard(path, guarded_job())
    assert checked is not None
    assert not checked.as_evidence().refused
    _, reasons = judge((), guard=checked)
    assert reasons[-1] == (
        "The triggers of the table are credited with no guard: strict looks at the table settings;"
        f" 0 of {checked.as_evidence().tried} undeclared writes were refused by the row alone;"
        " created -> doing by a plain statement was let through, and had to be refused."
    )


def guarded_file(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute(JOBS)
    connection.execute(GuardScript(sqlite_guard(connection, allowed_job())).installation())
    return connection


def test_a_trigger_of_another_purpose_takes_no_credit_from_the_guard(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    limit = "CREATE TRIGGER bound AFTER INSERT ON jobs WHEN (SELECT count(*) FROM jobs) > 3"
    with guarded_file(path) as connection:
        connection.execute(f"{limit} BEGIN SELECT RAISE(ABORT, 'too many'); END")
    checked = check_service_guard(path, guarded_job())
    assert checked is not None
    assert checked.holds
    assert checked.set_aside == ("bound looks at the table jobs",)


def test_a_trigger_by_which_the_guard_s_own_is_skipped_takes_its_credit(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    quiet = "CREATE TRIGGER quiet AFTER UPDATE ON jobs WHEN NEW.code = 'x' BEGIN SELECT RAISE(IGNORE); END"
    with guarded_file(path) as connection:
        connection.execute("INSERT INTO jobs (status) VALUES ('todo')")
        connection.execute(quiet)
        connection.execute("UPDATE jobs SET status = 'done', code = 'x'")
        assert connection.execute("SELECT status FROM jobs").get == "done"
    checked = check_service_guard(path, guarded_job())
    assert checked is not None
    names = [trial.name for trial in checked.untried]
    assert names == ["REPLACE of 1 rows", "a write after which the trigger quiet fires"]


def test_a_guard_that_another_lifecycle_gave_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    guarded_file(path).close()
    other = replace(guarded_job(), id="work")
    checked = check_service_guard(path, other)
    assert checked is not None
    assert not checked.holds
    (said,) = checked.set_aside
    assert said.startswith("the guard there is not the one that this lifecycle gives: ")


PLPGSQL = """
CREATE FUNCTION moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.status IS DISTINCT FROM 'todo' THEN RAISE EXCEPTION 'no %', NEW.id; END IF;
  IF TG_OP = 'DELETE' AND OLD.status IS DISTINCT FROM 'done' THEN RAISE EXCEPTION 'no'; END IF;
  IF TG_OP = 'UPDATE' AND OLD.id <> NEW.id THEN RAISE EXCEPTION 'no'; END IF;
  IF TG_OP = 'UPDATE' AND NOT coalesce(OLD.status = 'todo' AND NEW.status = 'doing' OR OLD.status = 'doing'
    AND NEW.status IN ('doing', 'done') OR OLD.status = NEW.status AND OLD.attempts = NEW.attempts, false) {more} THEN
    RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION whole() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.code := now(); RETURN NEW; END $$;
CREATE TRIGGER moves AFTER INSERT OR UPDATE OR DELETE ON jobs FOR EACH ROW {when} EXECUTE FUNCTION moves();
CREATE TRIGGER whole BEFORE TRUNCATE ON jobs EXECUTE FUNCTION whole();
CREATE TRIGGER stamp BEFORE UPDATE ON jobs FOR EACH ROW WHEN (OLD.status = 'doing') EXECUTE FUNCTION stamp();
ALTER TABLE jobs ENABLE ALWAYS TRIGGER moves;
"""


@pytest.mark.parametrize(
    ("more", "when", "set_aside"),
    [
        ("", "", ()),
        ("AND current_setting('app.strict', true) IS NULL", "", ("moves looks at current_setting",)),
        ("AND NOT EXISTS (SELECT FROM settings)", "", ("moves looks at the table settings",)),
        ("", "WHEN (session_user <> 'admin')", ("moves looks at SESSION_USER",)),
    ],
)
def test_on_postgresql_a_guard_by_hand_is_credited_by_the_row_alone(
    postgresql: str, more: str, when: str, set_aside: tuple[str, ...]
) -> None:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS by_hand CASCADE; CREATE SCHEMA by_hand; SET search_path TO by_hand")
        connection.execute("CREATE TABLE settings (strict boolean)")
        connection.execute(JOBS.replace(" UNIQUE", ""))
        connection.execute(PLPGSQL.replace("{more}", more).replace("{when}", when))
        checked = check_service_guard(f"{postgresql}&options=-csearch_path%3Dby_hand", guarded_job())
        assert checked is not None
        assert checked.set_aside == set_aside
        assert checked.holds == (not set_aside), [str(each) for each in checked.trials if not each.is_right]
        found = connection.execute("SELECT tgenabled FROM pg_trigger WHERE tgrelid = 'jobs'::regclass ORDER BY tgname")
        assert [each for (each,) in found.fetchall()] == ["A", "O", "O"]
        connection.execute("DROP SCHEMA by_hand CASCADE")
