"""What the scan cannot decide, and what triggers, foreign keys and the table itself do to the bound rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Arrow, Binding, Kind, State
from tests.conformance.matrices import DDL, GOOD, STATES, Judge, leaving, possible

UNDECIDED = {
    "UPDATE {table} SET status = 'failed'": "SQLite cannot read '{'",
    "UPDATE ? SET status = 'failed'": "not named",
    "UPDATE jobs SET status = 'failed' UPDATE jobs SET y = 1": "2 data-changing keywords",
    "SELECT 1 DELETE FROM jobs": "1 data-changing keywords, and no statement",
    "MERGE INTO jobs USING a ON b WHEN MATCHED THEN DELETE": "not a statement of SQLite",
    "WITH d AS (DELETE FROM jobs RETURNING id) SELECT * FROM d": "1 data-changing keywords",
    "UPDATE jobs SET y = 1 WHERE status = 'a' IS NULL": "follow each other without parentheses",
    "UPDATE jobs SET id = 4 WHERE status = 'pending'": "it changes id, the key",
    "UPDATE jobs SET rowid = 4 WHERE status = 'pending'": "it changes rowid, the key",
    "UPDATE jobs SET 'status' = 'failed'": "not a plain name",
    "INSERT INTO jobs (status) VALUES ('pending') ON CONFLICT (id) DO NOTHING ON CONFLICT DO NOTHING": "cannot read it",
    "UPDATE temp.jobs SET y = 1": "in the schema temp",
    "CREATE TEMP TABLE jobs (a)": "another table that is named jobs",
    "CREATE TABLE jobs AS SELECT 1": "creates jobs with rows",
    "CREATE VIEW jobs AS SELECT 1": "not an ordinary table",
    "CREATE VIRTUAL TABLE jobs USING fts5 (a)": "not an ordinary table",
    "DROP TABLE IF EXISTS jobs": "drops the table jobs",
    "ALTER TABLE new_jobs RENAME TO jobs": "renamed to jobs",
    "ALTER TABLE jobs RENAME COLUMN y TO status": "alters the table jobs",
    "ALTER TABLE jobs ADD COLUMN z REFERENCES a ON DELETE CASCADE": "alters the table jobs",
    "ALTER TABLE jobs ADD COLUMN status TEXT": "adds the state column",
    "PRAGMA writable_schema = 1": "writable_schema",
    "ATTACH 'x' AS y": "ATTACH",
    "UPDATE sqlite_schema SET sql = ''": "the schema itself",
    ".read more.sql": "command of the sqlite3 shell",
    "CREATE TRIGGER t AFTER UPDATE ON jobs BEGIN UPDATE jobs SET status = 'failed' WHERE y; END": "no longer holds",
    "UPDATE jobs SET status = 'failed' WHERE " + "(" * 70 + "1" + ")" * 70: "parentheses within each other",
    "UPDATE jobs SET status = 'failed' WHERE " + "NOT " * 3_000 + "1": "nested too deeply",
}


@pytest.mark.parametrize("statement", UNDECIDED)
def test_what_is_not_understood_is_undecided_with_its_place_and_reason(judge: Judge, statement: str) -> None:
    matrix = judge(GOOD + statement)
    assert any(UNDECIDED[statement] in each.reason for each in matrix.undecided), matrix.undecided
    assert {str(each.statement.place) for each in matrix.undecided} == {"queries.sql:6"}
    assert not matrix.holds


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT replace(y, 'UPDATE jobs', '') FROM jobs -- DELETE FROM jobs",
        "EXPLAIN UPDATE jobs SET status = 'failed'",
        "INSERT INTO jobs_archive SELECT * FROM jobs WHERE a = b IS NULL",
        "ALTER TABLE jobs ADD COLUMN z TEXT",
        "CREATE INDEX i ON jobs (y)",
        "CREATE TRIGGER t AFTER UPDATE ON jobs BEGIN INSERT INTO log VALUES (NEW.status); END",
        "DELETE FROM notes",
        "PRAGMA foreign_keys = ON; BEGIN IMMEDIATE; COMMIT; SAVEPOINT a; RELEASE a; VACUUM; ANALYZE",
        "DROP TABLE notes",
    ],
)
def test_a_statement_that_cannot_touch_the_table_does_no_harm(judge: Judge, statement: str) -> None:
    assert judge(GOOD + statement).holds


@pytest.mark.parametrize(
    ("name", "ddl"),
    [
        ("undeclared", "CREATE TABLE jobs (id INT)"),
        ("generated", "CREATE TABLE jobs (id INT, status TEXT AS (CASE WHEN y THEN 'a' END), y)"),
    ],
)
def test_a_table_whose_state_is_not_a_stored_column_is_undecided(judge: Judge, name: str, ddl: str) -> None:
    assert [str(each.statement.place) for each in judge(GOOD, ddl).undecided] == ["schema.sql:1"], name


def test_a_binding_to_a_column_that_the_table_has_not_is_told_with_the_columns_that_it_has(judge: Judge) -> None:
    (undecided,) = judge("", "CREATE TABLE jobs (id INT, state TEXT)").undecided
    assert undecided.reason == (
        "the table has no column status, in which the binding looks for the state: it has id, state"
    )
    many = "CREATE TABLE jobs (" + ", ".join(f"c{number} INT" for number in range(14)) + ")"
    assert judge("", many).undecided[0].reason.endswith("c11 and 2 more")


def test_a_binding_to_a_table_that_nobody_writes_is_noted_with_the_tables_that_are_written(judge: Judge) -> None:
    sql = "UPDATE b SET status = 'x'; INSERT INTO a (status) VALUES ('x'); DELETE FROM b"
    assert judge(sql, "").notes[-1] == "no statement names jobs; the sources write a, b"
    assert judge(sql).notes == ("no statement writes jobs; the sources write a, b",)
    many = "".join(f"DELETE FROM t{number:02};" for number in range(14))
    assert judge(many).notes[0].endswith("t11 and 2 more")
    assert judge("SELECT 1").notes == ()
    assert judge(GOOD + sql).notes == ()


def test_a_state_value_that_the_column_would_change_is_undecided(judge: Judge) -> None:
    states = (State("open", Kind.WAITING, "Open", 1), State("shut", Kind.SUCCESS, "Shut", 2))
    changes = {"states": states, "arrows": (Arrow("a", None, "open"), Arrow("b", "open", "shut"))}
    sql = "INSERT INTO jobs (status) VALUES ('1'); UPDATE jobs SET status = status + 1 WHERE status < 2"
    assert judge(sql, "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status INTEGER)", **changes).holds
    assert (
        "holds '1' for the value of open"
        in judge(sql, "CREATE TABLE jobs (status TEXT)", **changes).undecided[0].reason
    )


def test_a_trigger_on_another_table_is_judged_by_the_statements_of_its_body(judge: Judge) -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON note_events BEGIN\nUPDATE jobs SET status = 'completed'{};\nEND;"
    assert judge(GOOD + trigger.format(" WHERE id = NEW.job_id AND status = 'pending'")).holds
    matrix = judge(GOOD + trigger.format(" WHERE id = NEW.job_id AND NEW.status = 'pending'"))
    assert [str(each.place) for path in matrix.sneak_paths for each in path.possible] == ["queries.sql:7"]


def test_a_replacing_statement_replaces_in_the_bodies_of_triggers_too(judge: Judge) -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO jobs (status) VALUES ('pending'); END;"
    assert judge(GOOD + trigger).holds
    assert "failed>-" in possible(judge(GOOD + trigger + "INSERT OR REPLACE INTO a VALUES (1)"))


def test_a_cascade_removes_rows_when_a_statement_deletes_a_parent(judge: Judge) -> None:
    parents = "CREATE TABLE notes (id INTEGER PRIMARY KEY, book INT REFERENCES books ON DELETE CASCADE);"
    ddl = parents + DDL.replace("REFERENCES notes (id)", "REFERENCES notes (id) ON DELETE CASCADE")
    assert judge(GOOD, ddl).holds
    for statement in ("DELETE FROM notes", "DELETE FROM books", "REPLACE INTO notes VALUES (1)"):
        assert leaving(" ".join(STATES), "-") < possible(judge(GOOD + statement, ddl))
    assert "refer to it" in judge(GOOD + "DROP TABLE notes", ddl).undecided[0].reason


def test_a_foreign_key_on_the_state_that_follows_its_parent_is_undecided(judge: Judge) -> None:
    ddl = "CREATE TABLE jobs (id INT, status TEXT REFERENCES s (name) ON UPDATE CASCADE, attempts, note_id, y)"
    assert judge(GOOD, ddl).holds
    assert "changes the state with its parent" in judge(GOOD + "UPDATE s SET name = 'x'", ddl).undecided[0].reason


STATE_OF_S = "CREATE TABLE jobs (id INT, status TEXT REFERENCES s (name) {action}, attempts, note_id, y);"


@pytest.mark.parametrize(
    ("action", "parent", "statement"),
    [
        ("ON UPDATE CASCADE", "", "INSERT INTO s VALUES ('x') ON CONFLICT (name) DO UPDATE SET name = 'y'"),
        ("ON DELETE SET NULL", "", "DROP TABLE s"),
        ("ON DELETE SET NULL", "CREATE TABLE s (name PRIMARY KEY ON CONFLICT REPLACE);", "INSERT INTO s VALUES ('x')"),
        ("ON UPDATE CASCADE", "CREATE TABLE s (name REFERENCES g ON UPDATE CASCADE);", "UPDATE g SET name = 'x'"),
        ("ON DELETE SET NULL", "CREATE TABLE s (name REFERENCES g ON DELETE CASCADE);", "DELETE FROM g"),
    ],
)
def test_a_foreign_key_on_the_state_follows_its_parent_however_that_changes(
    judge: Judge, action: str, parent: str, statement: str
) -> None:
    ddl = parent + STATE_OF_S.format(action=action)
    assert judge(GOOD, ddl).holds
    assert "changes the state with its parent" in judge(f"{GOOD};{statement}", ddl).undecided[0].reason


@pytest.mark.parametrize("action", ["ON UPDATE CASCADE", "ON DELETE SET NULL"])
def test_a_foreign_key_on_the_key_that_follows_its_parent_is_undecided(judge: Judge, action: str) -> None:
    ddl = f"CREATE TABLE jobs (id INT UNIQUE REFERENCES notes (id) {action}, status TEXT, attempts, note_id, y)"
    assert judge(f"{GOOD};INSERT INTO notes VALUES (1)", ddl).holds
    for statement in ("UPDATE notes SET id = id + 1", "DELETE FROM notes"):
        assert "changes the key with its parent" in judge(f"{GOOD};{statement}", ddl).undecided[0].reason


def test_names_that_differ_by_case_beyond_ascii_are_two_columns_and_two_tables(judge: Judge) -> None:
    sql = "UPDATE jobs SET status = 'completed' WHERE \u00e9tat IN ('pending', 'retry_wait');"
    binding = Binding("jobs", ("id",), "\u00c9tat", watch=("attempts",))
    ddl = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, \u00c9tat TEXT, \u00e9tat TEXT, attempts INT)"
    wide = judge(sql.replace("status", "\u00c9tat"), ddl, binding=binding)
    assert possible(wide) == leaving("pending retry_wait failed", "completed")
    assert possible(judge("DELETE FROM \u212a", "", binding=Binding("k", ("id",), "status"))) == set()


def test_without_a_declaration_the_predicates_still_count_and_a_note_says_so(judge: Judge) -> None:
    matrix = judge(GOOD, "")
    assert matrix.holds
    assert "no CREATE TABLE jobs" in matrix.notes[0]


def test_a_derived_state_is_undecided_at_its_place_in_the_model(judge: Judge) -> None:
    matrix = judge(GOOD, binding=Binding("jobs", ("id",), state_sql="CASE WHEN done THEN 1 END"))
    (undecided,) = matrix.undecided
    assert "state_sql" in undecided.reason
    assert (undecided.statement.place.file, undecided.statement.sql) == ("lifecycle.json", "CASE WHEN done THEN 1 END")
    assert not matrix.holds


def test_a_lifecycle_without_a_binding_is_an_error(judge: Judge) -> None:
    with pytest.raises(InputError, match="no binding: add"):
        judge(GOOD, binding=None)


def test_code_is_read_like_sql_and_what_looks_like_sql_in_another_kind_of_file_is_undecided(
    judge: Judge, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text("db.execute('DELETE FROM jobs')", encoding="utf-8")
    assert leaving(" ".join(STATES), "-") <= possible(judge(GOOD, sources=("*.sql", "app.py")))
    (tmp_path / "app.yaml").write_text("a: 1\nquery: DELETE FROM jobs WHERE id = 1\n", encoding="utf-8")
    (undecided,) = judge(GOOD, sources=("*.sql", "app.yaml")).undecided
    assert str(undecided.statement.place) == "app.yaml:2"
    assert undecided.reason == "the literals of this kind of file are not known: put the SQL into a .sql file"


def test_a_dump_is_looked_into_up_to_a_bound_and_the_rest_is_undecided_once(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arrowproof.conformance.findings.MAX_DIFFERENT", 6)
    dump = "".join(f"UPDATE jobs SET status = 'failed' WHERE id = {number};\n" for number in range(5))
    matrix = judge(DDL + GOOD + dump)
    assert [each.reason for each in matrix.undecided] == [
        "more than 6 different statements change jobs: from here on 4 are not looked into"
    ]
    assert not matrix.holds


def test_a_statement_of_more_words_than_the_parser_is_given_is_undecided(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arrowproof.conformance.strain.MAX_TOKENS", 60)
    matrix = judge(DDL + GOOD + "INSERT INTO jobs (status) VALUES ('pending')" + ", ('pending')" * 20)
    assert [each.reason for each in matrix.undecided] == [
        "it has more than 60 words and signs: write it as several statements"
    ]
