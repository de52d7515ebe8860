"""What docs/service.md says is what the service does: its commands, routes, metrics and states, and what it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import arrowproof.service
from arrowproof.service.address import Address
from arrowproof.service.begun_file import begun_file
from arrowproof.service.companions import OF_SQLITE
from arrowproof.service.metrics import Metrics
from arrowproof.service.note_request import LARGEST_BODY_BYTES
from arrowproof.service.open_files import MOST_CLIENTS, own_files
from arrowproof.service.pool import MONITOR_CONNECTIONS, USUAL_CONNECTIONS
from arrowproof.service.states import STATES
from arrowproof.service.wake_fifo import wake_file
from arrowproof.service.web import IDLE_SECONDS
from arrowproof.service.wire import (
    LARGEST_HEAD_BYTES,
    LONGEST_CHUNK_LINE_BYTES,
    LONGEST_REQUEST_LINE_BYTES,
    MOST_CHUNKS,
    MOST_HEADERS,
)
from tests.service.engines import only_sqlite

PROJECT = Path(__file__).parents[2]
SERVICE = Path(arrowproof.service.__file__).parent
DOCUMENT = (PROJECT / "docs" / "service.md").read_text(encoding="utf-8")
EXAMPLE = "http://127.0.0.1:8765"


def section(title):
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(head, text=DOCUMENT):
    """The first cell of each row of the tables whose first heading is this one."""
    tables = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [line.split("|")[1].strip(" `") for table in tables for line in table.splitlines()]


def blocks(language, text=DOCUMENT):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def options_of(module):
    run = [sys.executable, "-m", f"arrowproof.service.{module}", "--help"]
    said = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout
    return set(re.findall(r"--[a-z-]+", said.partition("options:")[2])) - {"--help"}


@pytest.mark.parametrize(
    ("module", "title"), [("worker", "The worker"), ("server", "The server"), ("retention", "Retention")]
)
def test_the_table_of_a_command_names_every_option_and_no_other(module, title):
    assert set(first_cells("option", section(title))) == options_of(module)


def test_a_command_without_a_table_has_no_option():
    assert options_of("tokens") == set()
    commands = set(re.findall(r"python -m arrowproof\.service\.(\w+)", DOCUMENT))
    assert commands == {file.stem for file in SERVICE.glob("*.py") if '__name__ == "__main__"' in file.read_text()}


def test_every_state_is_in_the_table_of_states():
    assert sorted(first_cells("state")) == sorted(STATES)


def test_it_names_every_route(server):
    described = server.client.get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}" for path, operations in described.items() for method in operations}
    assert set(first_cells("route")) == routes


def test_it_names_every_metric():
    text = Metrics({"pending": 1}, {"completed": 1}, 0.0, 0).exposition().decode()
    metrics = {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}
    assert set(first_cells("metric")) == metrics


def test_it_names_the_limits_of_http():
    said = {int(number) for cell in first_cells("limit") for number in re.findall(r"[0-9]+", cell)}
    assert said == {
        MOST_CLIENTS,
        own_files(USUAL_CONNECTIONS + MONITOR_CONNECTIONS) + MOST_CLIENTS,
        LONGEST_REQUEST_LINE_BYTES,
        LARGEST_HEAD_BYTES,
        MOST_HEADERS,
        LARGEST_BODY_BYTES,
        MOST_CHUNKS,
        LONGEST_CHUNK_LINE_BYTES,
        IDLE_SECONDS,
    }


def test_it_names_every_file_beside_a_sqlite_database():
    file = Path("notes.sqlite3")
    beside = {f"{file}{ending}" for ending in OF_SQLITE} | {begun_file(file).name, wake_file(file).name}
    assert set(first_cells("file")) == beside


def run_in(folder, command):
    """Run a command of the document as a user would, with this Python and this service; what it prints."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT),
        "no_proxy": "127.0.0.1",
    }
    return subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=60
    ).stdout


@only_sqlite
def test_what_it_shows_is_what_is_answered(notes, tmp_path):
    server = notes.server(db=tmp_path / "notes.sqlite3")
    (shown,) = blocks("console", section("Start it"))
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", shown, re.MULTILINE)
    assert len(steps) == 8
    for command, expected in steps:
        said = run_in(tmp_path, command.replace(EXAMPLE, server.ready["ready"]))
        pattern = re.escape(expected.strip()).replace("…", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
        assert re.fullmatch(pattern, said.strip()), (command, said)


@only_sqlite
def test_a_job_fails_and_is_completed_as_it_says(notes, tmp_path):
    server = notes.server(db=tmp_path / "notes.sqlite3")
    refuse, allow = blocks("sh", section("What happens to a job"))
    look = "python -m arrowproof.service.worker --db ./notes.sqlite3 --max-polls 1 --retry-delay 0"
    job_id = server.accept()["job_id"]
    run_in(tmp_path, refuse)
    assert [json.loads(run_in(tmp_path, look))["outcome"] for _ in range(3)] == ["retry_wait", "retry_wait", "failed"]
    run_in(tmp_path, allow)
    assert server.client.post(f"/jobs/{job_id}/retry").status_code == 200
    assert json.loads(run_in(tmp_path, look)) == {"outcome": "completed", "job_id": job_id}


@only_sqlite
def test_a_backup_that_is_made_as_it_says_is_a_notes_database_with_what_was_accepted(notes, tmp_path):
    server = notes.server(db=tmp_path / "notes.sqlite3")
    accepted = server.accept()
    (command,) = [block for block in blocks("sh", section("The database")) if "VACUUM" in block]
    run_in(tmp_path, command)
    server.accept("later")
    with closing(Address(str(tmp_path / "backup.sqlite3")).open()) as backup:
        assert backup.rows("find_accepted_note", client="", idempotency_key="later") == []
        ((note_id, job_id, _),) = backup.rows("find_accepted_note", client="", idempotency_key="key")
    assert (note_id, job_id) == (accepted["note_id"], accepted["job_id"])


def lines(files):
    return sum(file.read_bytes().count(b"\n") for file in files)


def test_it_says_how_large_the_service_is():
    said = re.search(
        r"about (\d+) lines of Python and (\d+) of SQL.*?tests are\s+about (\d+) lines", DOCUMENT, re.DOTALL
    )
    measured = [
        lines(SERVICE.glob("*.py")),
        lines(SERVICE.rglob("*.sql")),
        lines((PROJECT / "tests" / "service").rglob("*.py")),
    ]
    assert [int(number) for number in said.groups()] == pytest.approx(measured, rel=0.1)
