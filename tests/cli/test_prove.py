"""`prove` on the bundled service, and on copies of it that were spoilt: each must turn the verdict red."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

PACKAGE = Path(str(files("arrowproof")))

DROPPED = """SET status = 'completed', next_run_at = NULL, last_error = NULL, finished_at = :now
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait');"""


@pytest.fixture
def spoilt(tmp_path):
    """A whole copy of the package, in which the service can be changed; with what was compiled of it."""
    shutil.copytree(PACKAGE, tmp_path / "arrowproof")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def place(folder: Path, name: str) -> str:
    """Where the statement of this name stands in the worker's SQL."""
    lines = (folder / "arrowproof/service/sql/worker.sql").read_text().splitlines()
    at = next(
        number for number in range(lines.index(f"-- name: {name}"), len(lines)) if not lines[number].startswith("--")
    )
    return f"sql/worker.sql:{at + 1}"


def change_model(folder: Path, edit) -> Path:
    path = folder / "arrowproof" / "service" / "notes-job.lifecycle.json"
    model = json.loads(path.read_text())
    edit(model)
    path.write_text(json.dumps(model))
    return path


def test_the_bundled_service_is_proven_with_thirteen_of_thirteen(arrowproof, tmp_path):
    result = arrowproof("prove", "notes", "--out", "proof")
    assert result.status == 0, result.out + result.err
    assert result.out.startswith("Proven: Note job, 13 of 13 transitions walked\n")
    assert "26 of 26 kills survived, 0 sneak paths" in result.out
    evidence = json.loads((tmp_path / "proof" / "evidence.json").read_text())
    assert (evidence["verdict"], evidence["reasons"]) == ("proven", [])
    assert all(item["written"] and item["walks"] and len(item["kills"]) == 2 for item in evidence["transitions"])
    assert evidence["environment"]["wal_reset"] == "not affected"
    assert (tmp_path / "proof" / "report.html").exists()


def test_a_dropped_state_predicate_is_red_with_file_line_and_sneak_paths(arrowproof, spoilt):
    change(spoilt / "arrowproof/service/sql/worker.sql", DROPPED, DROPPED.replace(DROPPED.splitlines()[2], "  AND 1;"))
    result = arrowproof("prove", "notes", "--out", "proof", cwd=spoilt)
    assert result.status == 1
    assert "failed -> completed" in result.out
    assert place(spoilt, "complete_job") in result.out
    assert "Proven" not in result.out


def test_a_renamed_target_of_an_arrow_is_red(arrowproof, spoilt):
    def rename(model):
        next(arrow for arrow in model["arrows"] if arrow["id"] == "succeed")["to"] = "failed"

    change_model(spoilt, rename)
    result = arrowproof("prove", "notes", "--out", "proof", cwd=spoilt)
    assert result.status == 1
    assert "pending -> completed" in result.out
    assert place(spoilt, "complete_job") in result.out


def test_a_deleted_arrow_is_red(arrowproof, spoilt):
    def delete(model):
        model["arrows"] = [arrow for arrow in model["arrows"] if arrow["id"] != "retry"]
        del model["views"]  # one of them names the arrow

    change_model(spoilt, delete)
    result = arrowproof("prove", "notes", "--out", "proof", cwd=spoilt)
    assert result.status == 1
    assert "pending -> retry_wait" in result.out
    assert place(spoilt, "retry_job") in result.out


def test_an_attempt_that_is_not_counted_is_red(arrowproof, spoilt):
    """No statement makes a wrong transition here: only a service that really runs this SQL shows it."""
    change(spoilt / "arrowproof/service/sql/worker.sql", "SET attempts = attempts + 1", "SET attempts = attempts + 0")
    result = arrowproof("prove", "notes", "--out", "proof", cwd=spoilt)
    assert result.status == 1
    assert "0 sneak paths" in result.out
    assert "attempts" in result.out


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("sql/sqlite/schema.sql", "job_id INTEGER NOT NULL UNIQUE", "job_id INTEGER NOT NULL", "second history row"),
        ("sql/sqlite/schema.sql", "UNIQUE (client, idempotency_key)", "CHECK (true)", "POST /notes answered 50"),
        (
            "sql/sqlite/schema.sql",
            "note_id INTEGER NOT NULL UNIQUE",
            "note_id INTEGER NOT NULL",
            "second job of one note",
        ),
        ("attempt.py", 'self.database.later("rollback_to_savepoint")', "pass", "name the attempts [1], not []"),
        (
            "attempt.py",
            "is_the_one = len(on_record) == 1",
            "raise DatabaseError(error)",
            "pending -> failed is not walked",
        ),
        ("notes.py", "raise KeyTakenError(sent.key)", "pass", "expected 409"),
        (
            "sql/server.sql",
            "max_attempts = attempts + :more_attempts",
            "max_attempts = :more_attempts",
            "max_attempts 3",
        ),
        ("attempt.py", "MOST_CRASHES = 3", "MOST_CRASHES = 2", "did not come to after-history.held"),
        ("sql/begun.sql", "WHERE job_id = :job_id AND attempts = :attempts;", "WHERE false;", "A tour did not end"),
        (
            "retention.py",
            "timedelta(seconds=self.keep_seconds)",
            "timedelta()",
            "says {'removed': 1}; expected 0 removed",
        ),
        ("retention.py", 'self.database.change("remove_note", note_id=note_id)', "pass", "left a note behind"),
    ],
    ids=[
        "history",
        "key",
        "job",
        "savepoint",
        "lost transaction",
        "conflict",
        "attempts of a retry",
        "crashes",
        "forgotten crashes",
        "age",
        "key of a removed job",
    ],
)
def test_a_guard_that_is_taken_away_is_red_before_anything_goes_wrong(arrowproof, spoilt, file, old, new, reason):
    change(spoilt / "arrowproof/service" / file, old, new)
    result = arrowproof("prove", "notes", "--out", "proof", cwd=spoilt)
    assert result.status == 1
    assert reason in result.out


def test_a_commit_ahead_of_the_last_statement_is_red(arrowproof, spoilt):
    """The state in a transaction of its own: a kill ahead of the second commit finds a row that has moved already."""
    change(
        spoilt / "arrowproof/service/attempt.py",
        'self.hold.reached("after-state", self.database)',
        'self.database.rows("commit"); self.hold.at("after-state"); self.database.rows("begin")',
    )
    result = arrowproof("prove", "notes", "--out", "proof", cwd=spoilt)
    assert result.status == 1
    assert "before commit" in result.out


def test_without_a_driver_the_way_out_is_named(arrowproof):
    arrowproof("init")
    result = arrowproof("prove")
    assert result.status == 2
    assert "--driver" in result.err


def test_a_folder_of_someone_else_is_left_alone(arrowproof, tmp_path):
    (tmp_path / "proof" / "run").mkdir(parents=True)
    (tmp_path / "proof" / "run" / "precious").write_text("mine")
    result = arrowproof("prove", "notes", "--out", "proof")
    assert result.status == 2
    assert (tmp_path / "proof" / "run" / "precious").read_text() == "mine"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_every_process_and_leaves_no_verdict(tmp_path, number, status):
    process = subprocess.Popen(
        [sys.executable, "-m", "arrowproof", "prove", "notes", "--out", "proof"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    while "walk" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=90)
    assert process.returncode == status, err
    assert out == ""
    assert not (tmp_path / "proof" / "evidence.json").exists()
    assert not _processes_with(str(tmp_path))


def _processes_with(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if entry.name.isdigit() and text in command:
            found.append(command)
    return found
