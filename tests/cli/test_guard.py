from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

JOBS = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, code TEXT UNIQUE);\n"
MODEL = {
    "format": "arrowproof.lifecycle/1",
    "id": "job",
    "title": "Job",
    "binding": {"table": "jobs", "key": ["id"], "state": "status"},
    "states": [{"id": "todo", "kind": "waiting"}, {"id": "done", "kind": "success"}],
    "arrows": [{"id": "make", "to": "todo"}, {"id": "end", "from": "todo", "to": "done"}],
    "sources": ["*.sql"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lifecycle with the schema of its table."""
    (tmp_path / "lifecycle.json").write_text(json.dumps(MODEL))
    (tmp_path / "schema.sql").write_text(JOBS)
    return tmp_path


@pytest.fixture
def database(folder: Path) -> Path:
    """A database with that schema."""
    path = folder / "jobs.sqlite3"
    run(path, JOBS)
    return path


def run(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def test_what_it_writes_makes_a_guard_that_its_check_finds_to_hold(arrowproof, database):
    assert arrowproof("guard", "-o", "guard.sql").out == "wrote guard.sql\n"
    run(database, (database.parent / "guard.sql").read_text())
    with pytest.raises(apsw.ConstraintError, match="jobs id=1: created -> 'done' is not in the lifecycle job"):
        run(database, "INSERT INTO jobs VALUES (1, 'done', 'a')")
    result = arrowproof("guard", "--check", "--db", str(database))
    assert result.out == "the guard of job holds: 45 of 45 undeclared writes refused, 19 of 19 others let through\n"
    assert result.status == 0


def test_what_it_takes_away_leaves_the_schema_as_it_was(arrowproof, database):
    before = schema(database)
    run(database, arrowproof("guard").out)
    assert schema(database) != before
    run(database, arrowproof("guard", "--remove").out)
    assert schema(database) == before


def schema(path: Path) -> list[object]:
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT * FROM sqlite_schema").fetchall()
    connection.close()
    return found


def test_a_leak_is_named_and_exits_with_1(arrowproof, database):
    run(database, arrowproof("guard").out)
    run(database, "DROP TRIGGER arrowproof_guard_delete_jobs")
    result = arrowproof("guard", "--check", "--db", str(database))
    assert result.status == 1
    first, *lines = result.out.splitlines()
    assert first.startswith("job is not guarded: 43 of 45 undeclared writes refused")
    assert lines[0] == ("  leak        todo -> removed by a plain statement was let through, and had to be refused")


def test_a_guard_that_a_setting_can_open_does_not_hold(arrowproof, database):
    run(database, arrowproof("guard").out)
    run(database, "CREATE TABLE settings (is_open)")
    connection = apsw.Connection(str(database))
    update = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'arrowproof_guard_update_jobs'").get
    connection.close()
    narrowed = update.replace(" BEGIN", " WHEN NOT EXISTS (SELECT 1 FROM settings WHERE is_open) BEGIN", 1)
    run(database, f"DROP TRIGGER arrowproof_guard_update_jobs; {narrowed}")
    result = arrowproof("guard", "--check", "--db", str(database))
    assert result.status == 1
    first, aside, last = result.out.splitlines()
    assert first.startswith("job is not guarded by what looks at the row alone: ")
    assert aside.startswith("  set aside   the guard there is not the one that this lifecycle gives")
    assert last.endswith("each may let through elsewhere what it refused here")
    told = json.loads(arrowproof("guard", "--check", "--db", str(database), "--json").out)
    assert told["verdict"] == "does not hold"
    assert told["set_aside"] == [aside.removeprefix("  set aside   ")]


def test_of_many_leaks_the_first_are_told_and_how_many_more_there_are(arrowproof, database):
    run(database, arrowproof("guard").out)
    run(database, "DROP TRIGGER arrowproof_guard_update_jobs; DROP TRIGGER arrowproof_guard_insert_jobs")
    result = arrowproof("guard", "--check", "--db", str(database))
    leaks = [line for line in result.out.splitlines() if line.startswith("  leak ")]
    told = json.loads(arrowproof("guard", "--check", "--db", str(database), "--json").out)
    assert len(leaks) == 21
    assert leaks[-1] == f"  leak        and {told['tried'] - told['refused'] - 20} more, which --json tells"


def test_a_table_without_a_guard_is_told_the_command_that_writes_one(arrowproof, database):
    result = arrowproof("guard", "--check", "--db", str(database))
    assert result.status == 1
    assert "there is no guard; `arrowproof guard` writes one" in result.out


def test_a_guard_of_which_nothing_could_be_tried_is_not_said_to_be_missing(arrowproof, database):
    run(database, "CREATE TABLE more (id INTEGER PRIMARY KEY, status TEXT NOT NULL CHECK (status = 'x'))")
    binding = {"table": "more", "key": ["id"], "state": "status"}
    model = database.parent / "more.json"
    model.write_text(json.dumps({**json.loads((database.parent / "lifecycle.json").read_text()), "binding": binding}))
    result = arrowproof("guard", str(model), "--check", "--db", str(database))
    assert result.status == 1
    assert result.out.startswith("it is not known whether job is guarded: 0 of ")
    assert "there is no guard" not in result.out
    assert "not tried   created -> todo by a plain statement was not tried" in result.out


def test_the_check_as_json_holds_every_trial(arrowproof, database):
    run(database, arrowproof("guard").out)
    said = json.loads(arrowproof("guard", "--check", "--db", str(database), "--json").out)
    assert (said["format"], said["verdict"], said["tried"], said["refused"]) == ("arrowproof.guard/1", "holds", 45, 45)
    assert said["trials"][1] == {
        "name": "created -> todo by OR IGNORE",
        "wanted": "let through",
        "outcome": "let through",
        "said": "",
    }


def test_the_guard_of_a_model_of_postgresql_is_in_its_dialect(arrowproof, folder):
    (folder / "lifecycle.json").write_text(json.dumps({**MODEL, "dialect": "postgresql"}))
    assert "ENABLE ALWAYS TRIGGER" in arrowproof("guard").out
    assert "RAISE(ABORT" in arrowproof("guard", "--dialect", "sqlite").out


def test_the_unique_indexes_come_from_the_sources_or_from_a_database(arrowproof, folder, database):
    (folder / "more.sql").write_text("CREATE UNIQUE INDEX more ON jobs (code, status);\n")
    assert "arrowproof_guarded_unique_1_jobs" in arrowproof("guard").out
    assert "arrowproof_guarded_unique_1_jobs" not in arrowproof("guard", "--db", str(database)).out
    (folder / "schema.sql").write_text("-- nothing\n")
    (folder / "more.sql").unlink()
    result = arrowproof("guard")
    assert result.status == 2
    assert "no .sql file among the lifecycle's sources makes the table 'jobs'" in result.err
    assert "--db FILE" in result.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "is_told"),
    [
        ([], True),
        (["-o", "guard.sql"], True),
        (["--migration"], True),
        (["--old-sqlite"], False),
        (["--remove"], False),
        (["--dialect", "postgresql"], False),
    ],
)
def test_whoever_writes_a_guard_that_an_old_sqlite_cannot_read_is_told(arrowproof, options, is_told):
    result = arrowproof("guard", *options)
    assert result.status == 0
    assert ("needs SQLite 3.47 or newer" in result.err and "--old-sqlite" in result.err) is is_told


def test_a_dash_is_standard_output(arrowproof, folder):
    assert arrowproof("guard", "-o", "-").out == arrowproof("guard").out
    assert not (folder / "-").exists()


def test_a_file_of_somebody_else_is_not_replaced(arrowproof, folder):
    (folder / "guard.sql").write_text("SELECT 1;\n")
    result = arrowproof("guard", "-o", "guard.sql")
    assert result.status == 2
    assert "--force" in result.err
    assert arrowproof("guard", "-o", "guard.sql", "--force").status == 0
    assert arrowproof("guard", "-o", "guard.sql").status == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--check"], "--db FILE or --db URL"),
        (["--check", "--db", "jobs.sqlite3", "--remove"], "--check writes no SQL"),
        (["--check", "--db", "nowhere.sqlite3"], "nowhere.sqlite3 is no database file"),
        (["--remove", "--migration"], "both ways already"),
        (["--json"], "--json goes with --check"),
    ],
)
def test_options_that_do_not_go_together_are_an_error_with_a_way_out(arrowproof, options, said):
    result = arrowproof("guard", *options)
    assert result.status == 2
    assert said in result.err
