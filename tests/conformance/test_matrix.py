"""What SQL comes to, held against the note job: a job may leave pending and retry_wait, not completed or failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.conformance.matrix import MAX_NOTES, MAX_SQL, Matrix, build_matrix, scan
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import AcceptedSneakPath, Arrow, Binding, Kind, Lifecycle, Origin, State
from arrowproof.model.loader import load_lifecycle

DDL = """CREATE TABLE jobs (id INTEGER PRIMARY KEY, note_id INT UNIQUE REFERENCES notes (id), status TEXT NOT NULL,
    attempts INT, y TEXT);
"""
GOOD = """INSERT INTO jobs (note_id, status, attempts) VALUES (?, 'pending', 0);
UPDATE jobs SET status = 'completed' WHERE id = :id AND status IN ('pending', 'retry_wait');
UPDATE jobs SET status = 'retry_wait', y = ? WHERE status IN ('pending', 'retry_wait') AND id = ?;
UPDATE jobs SET status = 'failed' WHERE id = ? AND (status = 'pending' OR 'retry_wait' = status);
UPDATE jobs SET attempts = attempts + 1 WHERE id = ?;
"""
STATES = ("pending", "retry_wait", "completed", "failed")
MODEL = {
    (None, "pending"),
    *((source, target) for source in STATES[:2] for target in ("completed", "retry_wait", "failed")),
}

Judge = Callable[..., Matrix]


def note_job(folder: Path) -> Lifecycle:
    states = tuple(State(each, Kind.WAITING, each, each) for each in STATES)
    arrows = tuple(Arrow(f"{source}-{target}", source, target) for source, target in sorted(MODEL, key=str))
    return Lifecycle(
        "note-job",
        "Note job",
        states,
        arrows,
        binding=Binding("jobs", ("id",), "status", watch=("attempts",)),
        sources=("*.sql",),
        origin=Origin(path=folder / "lifecycle.json"),
    )


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Judge SQL, with the table's usual declaration in another file, and with the model changed by keywords."""

    def judge_sql(sql: str, ddl: str = DDL, **changes: object) -> Matrix:
        (tmp_path / "queries.sql").write_text(sql, encoding="utf-8")
        (tmp_path / "schema.sql").write_text(ddl, encoding="utf-8")
        lifecycle = replace(note_job(tmp_path), **changes)  # type: ignore[arg-type]
        return build_matrix(lifecycle, scan(lifecycle))

    return judge_sql


def possible(matrix: Matrix) -> set[str]:
    """Every pair that is written or possible, as text; + and - are creation and removal."""
    pairs = {pair for pair, statements in matrix.written.items() if statements}
    pairs |= {(path.source, path.target) for path in matrix.sneak_paths}
    return {f"{source or '+'}>{target or '-'}" for source, target in pairs}


def leaving(states: str, target: str) -> set[str]:
    return {f"{state}>{target}" for state in states.split()}


def test_the_bundled_sql_makes_the_seven_transitions_and_nothing_else() -> None:
    lifecycle = load_lifecycle(Path(__file__).parents[2] / "arrowproof" / "service" / "notes-job.lifecycle.json")
    matrix = build_matrix(lifecycle, scan(lifecycle))
    assert matrix.holds
    assert set(matrix.written) == MODEL
    assert all(len(statements) == 1 and statements[0].place.name for statements in matrix.written.values())
    assert (matrix.sneak_paths, matrix.undecided, matrix.dynamic, matrix.idle, matrix.notes) == ((), (), (), (), ())


def test_good_sql_holds_and_says_where_each_transition_is_written(judge: Judge) -> None:
    matrix = judge(GOOD)
    assert matrix.holds
    lines = {"pending": 1, "completed": 2, "retry_wait": 3, "failed": 4}
    places = {pair: [str(each.place) for each in found] for pair, found in matrix.written.items()}
    assert places == {(source, target): [f"queries.sql:{lines[target]}"] for source, target in MODEL}
    assert [(each.file, each.statements) for each in matrix.sources] == [("queries.sql", 5), ("schema.sql", 0)]


@pytest.mark.parametrize(
    ("good", "bad", "sneak_paths"),
    [
        (" AND status IN ('pending', 'retry_wait');", ";", {"failed>completed"}),
        ("IN ('pending', 'retry_wait');", "IN ('pending', 'retry_wait', 'failed');", {"failed>completed"}),
        ("AND status IN", "OR status IN", {"failed>completed"}),
        ("'retry_wait' = status)", "'retry_wait' = status OR id = 1)", {"completed>failed"}),
        ("SET status = 'failed'", "SET status = 'pending'", {"pending>pending", "retry_wait>pending"}),
        ("SET status = 'failed'", "SET status = 'fialed'", {"pending>fialed", "retry_wait>fialed"}),
        ("'pending', 0", "'failed', 0", {"+>failed"}),
        ("SET attempts = attempts + 1", "SET status = 'failed'", {"completed>failed"}),
        ("UPDATE jobs SET attempts = attempts + 1", "DELETE FROM jobs", leaving(" ".join(STATES), "-")),
        ("= 'completed' WHERE id = :id AND", "= 'completed' WHERE NOT", {"failed>completed"}),
    ],
)
def test_a_mutant_of_good_sql_does_not_hold_and_names_its_sneak_path(
    judge: Judge, good: str, bad: str, sneak_paths: set[str]
) -> None:
    assert good in GOOD
    matrix = judge(GOOD.replace(good, bad, 1))
    found = {f"{path.source or '+'}>{path.target or '-'}" for path in matrix.sneak_paths}
    assert not matrix.holds
    assert found & sneak_paths == sneak_paths - {"pending>pending"}
    assert all(path.possible for path in matrix.sneak_paths)


def test_a_statement_taken_away_leaves_its_transitions_missing(judge: Judge) -> None:
    matrix = judge("\n".join(GOOD.splitlines()[1:]))
    assert [each.pair for each in matrix.missing] == [(None, "pending")]
    assert not matrix.holds


def test_an_arrow_taken_from_the_model_makes_its_transition_a_sneak_path(judge: Judge, tmp_path: Path) -> None:
    arrows = tuple(each for each in note_job(tmp_path).arrows if (each.source, each.target) != ("pending", "failed"))
    matrix = judge(GOOD, arrows=arrows)
    (path,) = matrix.sneak_paths
    assert (path.source, path.target, str(path.possible[0].place)) == ("pending", "failed", "queries.sql:4")
    accepted = judge(GOOD, arrows=arrows, accepted_sneak_paths=(AcceptedSneakPath("pending", "failed", "support"),))
    assert (accepted.holds, accepted.sneak_paths[0].accepted) == (True, "support")


def test_a_misspelt_source_state_is_reported_as_idle(judge: Judge) -> None:
    matrix = judge("UPDATE jobs SET status = 'failed' WHERE status = 'pendign'")
    assert [str(each.place) for each in matrix.idle] == ["queries.sql:1"]
    assert judge("UPDATE jobs SET y = 'failed' WHERE status = 'pendign'").idle == ()


@pytest.mark.parametrize(
    ("sql", "notes"),
    [
        ("UPDATE jobs SET status = 'fialed' WHERE status = 'pending'", [("stores 'fialed'", "failed")]),
        ("INSERT INTO jobs (status) VALUES ('Pending')", [("stores 'Pending'", "pending")]),
        (
            "UPDATE jobs SET status = CASE WHEN y THEN 'faild' ELSE 'failed' END WHERE status = 'pending'",
            [("stores 'faild'", "failed")],
        ),
        (
            "UPDATE jobs SET status = 'failed' WHERE status IN ('pending', 'retry-wait')",
            [("asks for 'retry-wait'", "retry_wait")],
        ),
        ("UPDATE jobs SET y = 1 WHERE 'compleetd' <> jobs.status", [("asks for 'compleetd'", "completed")]),
        ("DELETE FROM jobs WHERE status = 'pendign'", [("asks for 'pendign'", "pending")]),
        (
            "UPDATE jobs SET status = CASE status WHEN 'pendin' THEN 'failed' ELSE 'failed' END WHERE id = 1",
            [("asks for 'pendin'", "pending")],
        ),
        (
            "INSERT INTO jobs (id, status) VALUES (1, 'pending') ON CONFLICT (id) DO UPDATE SET status = 'faild'",
            [("stores 'faild'", "failed")],
        ),
        ("UPDATE jobs SET status = 'paused' WHERE y = 'fialed' AND status = 'pending'", []),
    ],
)
def test_a_value_that_is_nearly_a_state_is_noted_with_the_state(
    judge: Judge, sql: str, notes: list[tuple[str, str]]
) -> None:
    assert list(judge(sql).notes) == [
        f"queries.sql:1: it {did}, and no state has this value; did you mean {near}?" for did, near in notes
    ]


def test_a_dump_of_misspelt_values_is_noted_in_part(judge: Judge) -> None:
    rows = ", ".join(f"('pending{number}')" for number in range(100))
    assert len(judge(f"INSERT INTO jobs (status) VALUES {rows}").notes) == MAX_NOTES


def test_a_statement_is_pinned_when_naming_sources_would_not_help(judge: Judge) -> None:
    pinned = [
        "UPDATE jobs SET status = 'failed' WHERE status = 'pending'",
        "UPDATE jobs SET status = 'failed' WHERE status <> 'failed'",
        "DELETE FROM jobs WHERE status = 'failed'",
        "INSERT INTO jobs (status) VALUES ('failed')",
        "REPLACE INTO jobs (status) VALUES ('failed')",
    ]
    wide = [
        "UPDATE jobs SET status = 'failed' WHERE id = ?",
        "DELETE FROM jobs",
        "INSERT INTO jobs (id, status) VALUES (1, 'failed') ON CONFLICT (id) DO UPDATE SET status = 'failed'",
    ]
    assert [each.sql for each in judge(";\n".join([*pinned, *wide])).pinned] == pinned


def test_a_parameter_as_target_is_dynamic_with_its_sources(judge: Judge) -> None:
    matrix = judge("UPDATE jobs SET status = :to WHERE status = 'pending'; INSERT INTO jobs (status) VALUES (?)")
    assert [each.sources for each in matrix.dynamic] == [("pending",), (None,)]
    assert (matrix.holds, possible(matrix)) == (False, set())
    assert {each.reason for each in matrix.dynamic} == {
        "the target state is not a constant in the statement:"
        " write the target as a literal: one statement for each target, or CASE with literals"
    }


@pytest.mark.parametrize(
    ("sql", "ddl", "reason"),
    [
        (
            "INSERT INTO jobs (y) VALUES (1)",
            "",
            "the column is not given, and no CREATE TABLE in the sources says its default",
        ),
        (
            "INSERT INTO jobs DEFAULT VALUES",
            "",
            "the column is not given, and no CREATE TABLE in the sources says its default",
        ),
        (
            "INSERT INTO jobs VALUES (1, 'pending')",
            "",
            "the INSERT names no columns, and no CREATE TABLE in the sources says their order",
        ),
        (
            "INSERT INTO jobs (y) VALUES (1)",
            DDL + "CREATE TABLE jobs (id INT, status TEXT);",
            "the column is not given, and the CREATE TABLEs in the sources differ on its default",
        ),
        (
            "INSERT INTO jobs (y) VALUES (1)",
            DDL.replace("NOT NULL", "DEFAULT (lower('X'))"),
            "the column is not given, and its default is not a constant: give it as a literal",
        ),
    ],
)
def test_a_state_that_an_insert_leaves_to_the_table_says_what_hides_it(
    judge: Judge, sql: str, ddl: str, reason: str
) -> None:
    assert [each.reason for each in judge(sql, ddl).dynamic] == [reason]


@pytest.mark.parametrize(
    ("statement", "parameter"),
    [
        ("UPDATE jobs SET status = 'failed' WHERE id = %s AND status = 'pending'", "%s"),
        ("UPDATE jobs\n  SET status = %(to)s WHERE id = 1", "%(to)s"),
        ("INSERT INTO jobs (id, status) VALUES (%s, 'pending')", "%s"),
        ("DELETE FROM jobs WHERE id IN (%s, %s)", "%s"),
        ("DELETE FROM jobs WHERE id = %d", "%d"),
    ],
)
def test_a_parameter_of_another_driver_is_named_with_what_to_write(
    judge: Judge, statement: str, parameter: str
) -> None:
    (undecided,) = judge(f"SELECT 1;\n{statement}").undecided
    assert undecided.reason == f"`{parameter}` is no SQLite parameter; write ? or :name"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jobs SET status = WHERE id = 1",
        "UPDATE jobs SET status = 'failed' WHERE id = 4 %",
        "INSERT INTO jobs (status) VALUES ('pending'",
        "DELETE FROM jobs WHERE",
        "DELETE FROM jobs WHERE id BETWEEN 1",
        "UPDATE jobs SET status = CASE WHEN THEN 1 END",
    ],
)
def test_what_the_parser_cannot_read_shows_none_of_the_parsers_own_names(judge: Judge, statement: str) -> None:
    for each in judge(statement).undecided:
        assert "class" not in each.reason
        assert "sqlglot" not in each.reason
        assert "\x1b" not in each.reason


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE jobs SET status = 'pending' WHERE status = 'pending'", set()),
        ("UPDATE jobs SET status = 'pending', attempts = 0 WHERE status = 'pending'", {"pending>pending"}),
        ("UPDATE jobs SET status = status WHERE status IN ('failed', 'retry_wait')", {"retry_wait>retry_wait"}),
        ("UPDATE jobs SET attempts = 0", set()),
    ],
)
def test_an_unchanged_state_is_a_self_transition_by_the_rule_of_the_design(
    judge: Judge, statement: str, expected: set[str]
) -> None:
    assert possible(judge(statement)) == expected


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


def test_a_file_of_another_kind_is_undecided_and_not_skipped(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("db.execute('DELETE FROM jobs')", encoding="utf-8")
    (undecided,) = judge(GOOD, sources=("*.sql", "app.py")).undecided
    assert (undecided.statement.place.file, "only .sql files are read" in undecided.reason) == ("app.py", True)
    assert undecided.reason.endswith("take it out of sources, or move its SQL into a .sql file")


def test_names_are_compared_without_case_and_quotes(judge: Judge) -> None:
    sql = """INSERT INTO "JOBS" ([Status]) VALUES ('pending'); UPDATE 'Jobs' AS J SET `STATUS` = 'failed'
             WHERE j.Status = 'pending'"""
    assert possible(judge(sql)) == {"+>pending", "pending>failed"}


def test_a_state_of_null_is_a_state_like_others(judge: Judge) -> None:
    states = (State("new", Kind.WAITING, "New", None), State("done", Kind.SUCCESS, "Done", "done"))
    changes = {"states": states, "arrows": (Arrow("a", None, "new"), Arrow("b", "new", "done"))}
    ddl = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT)"
    assert judge(
        "INSERT INTO jobs DEFAULT VALUES; UPDATE jobs SET status = 'done' WHERE status IS NULL", ddl, **changes
    ).holds
    assert possible(judge("UPDATE jobs SET status = 'done' WHERE status = NULL", ddl, **changes)) == set()
    assert possible(judge("UPDATE jobs SET status = NULL WHERE status NOT IN ('x', NULL)", ddl, **changes)) == set()
    assert possible(judge("UPDATE jobs SET status = NULL WHERE status NOT IN ('x')", ddl, **changes)) == {"done>new"}


def test_the_text_of_an_endless_statement_is_cut_in_the_evidence(judge: Judge) -> None:
    rows = ", ".join(["(1, 'pending')"] * 2_000)
    ((statement,),) = (
        found for found in judge(f"INSERT INTO jobs (id, status) VALUES {rows}").written.values() if found
    )
    assert len(statement.sql) < MAX_SQL + 50
    assert "characters more" in statement.sql


def test_equal_input_gives_an_equal_matrix(judge: Judge) -> None:
    sql = GOOD + "REPLACE INTO jobs (status) VALUES ('a'), ('b'), ('failed'); UPDATE jobs SET status = 'z'"
    assert judge(sql) == judge(sql)
