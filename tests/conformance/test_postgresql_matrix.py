"""The matrix over sources of PostgreSQL: what only all of them together say, and drift of real projects, rebuilt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arrowproof.conformance.matrix import Matrix, build_matrix, scan
from arrowproof.conformance.verdict import judge
from arrowproof.model.lifecycle import Arrow, Binding, Dialect, Kind, Lifecycle, Origin, State
from arrowproof.model.loader import parse_lifecycle

STATES = ("todo", "doing", "done", "failed")
DDL = """CREATE TYPE state AS ENUM ('todo', 'doing', 'done', 'failed');
CREATE TABLE task (id bigserial PRIMARY KEY, owner int REFERENCES person (id), status state NOT NULL DEFAULT 'todo');
"""
SERVICE = Path(__file__).parents[2] / "arrowproof" / "service"

Judge = Callable[[str], Matrix]


@pytest.fixture
def judge_sql(tmp_path: Path) -> Judge:
    """The matrix of the task table's sources with ``sql`` among them; its line 1 is line 3 of the file."""

    def run(sql: str) -> Matrix:
        (tmp_path / "app.sql").write_text(DDL + sql, encoding="utf-8")
        arrows = (Arrow("new", None, "todo"), Arrow("claim", "todo", "doing"), Arrow("end", "doing", "done"))
        lifecycle = Lifecycle(
            "task",
            "Task",
            tuple(State(each, Kind.NEUTRAL, each, each) for each in STATES),
            arrows,
            binding=Binding("task", ("id",), "status"),
            sources=("*.sql",),
            dialect=Dialect.POSTGRESQL,
            origin=Origin(path=tmp_path / "lifecycle.json"),
        )
        return build_matrix(lifecycle, scan(lifecycle))

    return run


def sneak_paths(matrix: Matrix) -> str:
    return " ".join(
        f"{path.source or '+'}>{path.target or '-'}{'!' if path.only_in_race else ''}"
        f"@{','.join(str(each.place.line) for each in path.possible)}"
        for path in matrix.sneak_paths
    )


def undecided(matrix: Matrix) -> list[tuple[int, str]]:
    return [(each.statement.place.line, each.reason) for each in matrix.undecided]


def test_the_bundled_service_holds_on_postgresql() -> None:
    model = json.loads((SERVICE / "notes-job.lifecycle.json").read_text(encoding="utf-8"))
    lifecycle = parse_lifecycle(json.dumps({**model, "dialect": "postgresql"}).encode(), source="notes")
    paths = [SERVICE / "sql" / "postgresql", *(SERVICE / "sql").glob("*.sql")]
    matrix = build_matrix(lifecycle, scan(lifecycle, paths))
    assert (matrix.holds, len(matrix.written), undecided(matrix)) == (True, 13, [])


FINISH = """CREATE FUNCTION finish(task_id bigint, outcome state, gone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF gone THEN
        DELETE FROM task WHERE id = task_id AND status IN ('todo', 'doing');
    ELSE
        UPDATE task SET status = outcome WHERE id = task_id AND status IN ('todo', 'doing');
    END IF;
END $$;
CREATE FUNCTION again(task_id bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    UPDATE task SET status = 'todo' WHERE id = task_id AND status = 'failed'; END $$;
"""


def test_a_function_that_finishes_what_was_never_begun_is_found_with_its_line(judge_sql: Judge) -> None:
    matrix = judge_sql(FINISH)
    assert sneak_paths(matrix) == "todo>-@6 doing>-@6 failed>todo@12"
    assert [(each.statement.place.line, each.statement.place.name, each.sources) for each in matrix.dynamic] == [
        (8, "finish", ("todo", "doing"))
    ]


def test_a_removal_by_states_that_are_a_parameter_is_possible_from_any(judge_sql: Judge) -> None:
    sql = "DELETE FROM task WHERE id IN (SELECT job.id FROM (SELECT DISTINCT ON (t.id) t.* FROM task t JOIN event e"
    matrix = judge_sql(f"{sql} ON e.task = t.id) AS job WHERE job.status = ANY(%(statuses)s::state[]));")
    assert sneak_paths(matrix) == "todo>-@3 doing>-@3 done>-@3 failed>-@3"


RESCUE = """WITH given AS (SELECT unnest(@id::bigint[]) AS id, unnest(@state::text[])::state AS state)
UPDATE task SET status = given.state FROM given WHERE task.id = given.id;
"""


def test_a_rescue_without_a_source_state_is_dynamic_from_every_state(judge_sql: Judge) -> None:
    (dynamic,) = judge_sql(RESCUE).dynamic
    assert (dynamic.statement.place.line, dynamic.sources) == (4, STATES)


CLEAN = "DELETE FROM task WHERE id IN (SELECT id FROM task WHERE status = 'done' ORDER BY id LIMIT @max{});"


def test_a_removal_by_a_look_without_a_lock_is_a_sneak_path_in_a_race(judge_sql: Judge) -> None:
    matrix = judge_sql(CLEAN.format(""))
    assert sneak_paths(matrix) == "todo>-!@3 doing>-!@3 done>-@3 failed>-!@3"
    assert not matrix.holds
    reasons = judge((), matrix.sneak_paths)[1]
    assert "lock it (FOR UPDATE), or name the source states in the outer WHERE." in reasons[0]
    assert sneak_paths(judge_sql(CLEAN.format(" FOR UPDATE SKIP LOCKED"))) == "done>-@3"


CLAIM = """WITH due AS (SELECT * FROM task WHERE status = 'todo' LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE task SET status = 'doing' FROM due WHERE task.id = due.id RETURNING task.*;
INSERT INTO task (owner) VALUES ($1);
UPDATE task SET status = 'done' WHERE id = $1 AND status = 'doing';
"""


def test_a_claim_under_a_lock_holds(judge_sql: Judge) -> None:
    matrix = judge_sql(CLAIM)
    assert (matrix.holds, undecided(matrix), matrix.notes) == (True, [], ())


TRIGGER = """CREATE FUNCTION set_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.status := {}; RETURN {}; END $$;
"""
USE = "CREATE TRIGGER x BEFORE {} ON {} FOR EACH ROW EXECUTE FUNCTION set_it();"


@pytest.mark.parametrize(
    ("value", "use", "expected"),
    [
        ("'done'", USE.format("INSERT", "task"), "+>done@4"),
        ("'done'", USE.format("UPDATE OF owner", "task"), "todo>done@4 failed>done@4"),
        ("'done'", "", "+>done@4 todo>done@4 failed>done@4"),
        ("'done'", USE.format("UPDATE", "person"), ""),
        ("'done'", USE.format("UPDATE", "task").replace("BEFORE", "AFTER"), ""),
    ],
)
def test_what_a_trigger_function_assigns_is_a_target(value: str, use: str, expected: str, judge_sql: Judge) -> None:
    assert sneak_paths(judge_sql(TRIGGER.format(value, "NEW") + use)) == expected


@pytest.mark.parametrize("value", ["OLD.status", "status", "lower(TG_ARGV[0])"])
def test_what_a_trigger_function_computes_is_dynamic(value: str, judge_sql: Judge) -> None:
    matrix = judge_sql(TRIGGER.format(value, "NEW") + USE.format("UPDATE", "task"))
    assert [(each.statement.place.line, each.sources) for each in matrix.dynamic] == [(4, STATES)]


def test_a_state_that_gets_another_name_is_undecided(judge_sql: Judge) -> None:
    matrix = judge_sql("ALTER TYPE state RENAME VALUE 'done' TO 'over'; ALTER TYPE other RENAME VALUE 'a' TO 'b';")
    assert undecided(matrix) == [(3, "it renames state, the type of the state, or one of its values")]


def test_a_trigger_function_that_returns_another_row_is_undecided(judge_sql: Judge) -> None:
    matrix = judge_sql(TRIGGER.format("'todo'", "other") + USE.format("INSERT", "task"))
    assert undecided(matrix) == [(4, "this trigger function puts another row in the place of NEW")]


@pytest.mark.parametrize(
    ("definition", "kind"),
    [
        ("CREATE VIEW other AS SELECT * FROM task WHERE owner = 1;", "a view of"),
        ("CREATE VIEW other AS SELECT * FROM inner_view; CREATE VIEW inner_view AS TABLE task;", "a view of"),
        ("CREATE TABLE other PARTITION OF task FOR VALUES IN (1);", "a part of"),
        ("CREATE TABLE other (a int) INHERITS (task);", "a part of"),
    ],
)
def test_rows_that_are_written_under_another_name_are_undecided(definition: str, kind: str, judge_sql: Judge) -> None:
    matrix = judge_sql(f"{definition}\nUPDATE other SET status = 'done' WHERE status = 'doing';")
    assert undecided(matrix) == [(4, f"it writes other, {kind} task: write the table itself")]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("TRUNCATE person CASCADE;", True),
        ("TRUNCATE person;", False),
        ("TRUNCATE task, person;", True),
        ("DELETE FROM person;", False),
        ("ALTER TABLE task ADD FOREIGN KEY (owner) REFERENCES person ON DELETE CASCADE; DELETE FROM person;", True),
    ],
)
def test_what_empties_the_table_removes_from_every_state(sql: str, expected: bool, judge_sql: Judge) -> None:
    removed = "todo>-@3 doing>-@3 done>-@3 failed>-@3"
    assert sneak_paths(judge_sql(sql)) == (removed if expected else "")
