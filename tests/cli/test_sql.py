from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

SERVICE = Path(str(files("arrowproof"))) / "service"


@pytest.fixture
def subject(tmp_path):
    """A copy of the bundled model and its sources, to be spoilt."""
    shutil.copy(SERVICE / "notes-job.lifecycle.json", tmp_path / "lifecycle.json")
    shutil.copytree(SERVICE, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def change(path: Path, old: str, new: str) -> int:
    """Replace a text that stands exactly once; return its line."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def test_the_bundled_sql_makes_the_thirteen_transitions_and_no_other(arrowproof):
    result = arrowproof("sql", "notes")
    assert result.status == 0
    first, *lines = result.out.splitlines()
    assert first == (
        "notes-job holds: 13 of 13 transitions written, 0 sneak paths possible, 0 undecided, 0 with a dynamic target"
    )
    assert [line.split()[0] for line in lines] == ["written"] * 13


def test_json_names_file_and_line_of_each_statement(arrowproof):
    said = json.loads(arrowproof("sql", "notes", "--json").out)
    assert said["format"] == "arrowproof.sql/1"
    assert said["verdict"] == "holds"
    worker = (SERVICE / "sql" / "worker.sql").read_text().splitlines()
    for transition in said["transitions"]:
        for statement in transition["written"]:
            if statement["place"]["file"] == "sql/worker.sql":
                assert worker[statement["place"]["line"] - 1].startswith("UPDATE jobs")


def test_a_dropped_state_predicate_names_the_sneak_paths_with_file_and_line(arrowproof, subject):
    sql = subject / "sql" / "worker.sql"
    line = change(
        sql,
        "SET status = 'completed', next_run_at = NULL, last_error = NULL, finished_at = :now\n"
        "WHERE id = :job_id\n  AND status IN ('pending', 'retry_wait');",
        "SET status = 'completed', next_run_at = NULL, last_error = NULL, finished_at = :now\nWHERE id = :job_id;",
    )
    result = arrowproof("sql")
    assert result.status == 1
    assert "notes-job does not hold" in result.out
    assert f"sneak path failed -> completed sql/worker.sql:{line - 1}" in " ".join(result.out.split())
    assert result.out.count("  way out     name in the statement's WHERE the states that it may leave") == 1


def test_an_explicit_path_is_read_instead_of_the_models_sources(arrowproof, subject):
    (subject / "extra.sql").write_text("-- name: oops\nUPDATE jobs SET status = 'pending' WHERE id = ?;\n")
    result = arrowproof("sql", "lifecycle.json", "extra.sql")
    assert result.status == 1
    assert "failed -> pending" in result.out
    assert "extra.sql:2" in result.out
    assert "missing" in result.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["sql/worker.sql"], "lifecycle.json sql/worker.sql"),
        (["sql"], "lifecycle.json sql"),
        (["sql", "more queries.sql"], "lifecycle.json sql 'more queries.sql'"),
        (["sql/worker.sql", "other.json"], "other.json sql/worker.sql"),
    ],
)
@pytest.mark.usefixtures("subject")
def test_sql_where_the_model_belongs_is_answered_with_the_right_order(arrowproof, given, said):
    result = arrowproof("sql", *given)
    assert (result.status, result.err) == (2, f"error: MODEL comes first: arrowproof sql {said}\n")


def test_code_is_read_like_sql_and_of_many_places_the_first_are_shown(arrowproof, subject):
    (subject / "app.py").write_text("def drop(db):\n" + '    db.execute("DELETE FROM jobs")\n' * 12)
    result = arrowproof("sql", "lifecycle.json", "sql", "app.py")
    assert result.status == 1
    (line,) = [line for line in result.out.splitlines() if "pending -> removed" in line]
    assert line.split()[5:] == [f"app.py:{number}" for number in range(2, 10)] + ["and", "4", "more"]


def test_the_dialect_of_the_files_can_be_said_and_what_is_only_in_a_race_says_so(arrowproof, tmp_path):
    states = ("todo", "done")
    model = {
        "format": "arrowproof.lifecycle/1",
        "id": "task",
        "title": "Task",
        "binding": {"table": "task", "key": ["id"], "state": "status"},
        "states": [{"id": state, "kind": "neutral"} for state in states],
        "arrows": [{"id": "end", "from": "done", "event": "x"}],
    }
    (tmp_path / "lifecycle.json").write_text(json.dumps(model))
    table = "CREATE TABLE task (id int PRIMARY KEY, status text DEFAULT 'a'::text);\n"
    look = "SELECT id FROM task WHERE status = 'done'"
    (tmp_path / "a.sql").write_text(f"{table}DELETE FROM task WHERE id IN ({look} LIMIT $1);")

    assert "undecided   a.sql:1" in arrowproof("sql", "lifecycle.json", "a.sql", "--dialect", "sqlite").out
    result = arrowproof("sql", "lifecycle.json", "a.sql", "--dialect", "postgresql")
    assert result.status == 1
    assert "sneak path  todo -> removed  a.sql:2 (only in a race)" in result.out
    assert [line.split()[:5] for line in result.out.splitlines() if "way out" in line] == [
        ["way", "out", "of", "a", "race:"]
    ]
    said = json.loads(arrowproof("sql", "lifecycle.json", "a.sql", "--dialect", "postgresql", "--json").out)
    assert [path["only_in_race"] for path in said["sneak_paths"]] == [True]
    result = arrowproof("sql", "lifecycle.json", "a.sql", "--dialect", "mysql")
    assert "note        MySQL is read by rules that were never held against a server" in result.out
