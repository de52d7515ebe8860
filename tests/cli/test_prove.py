"""`prove` as a whole process: on the bundled service, and on three of the mutants of `tests/mutants`."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.copies import Copies
from tests.mutants.table import read_mutants

MUTANTS = {mutant.id: mutant for mutant in read_mutants()}


@pytest.fixture
def spoilt(tmp_path):
    """Makes a copy of the package with a mutant of the table in it, and gives the folder that it stands in."""
    return lambda name: Copies(tmp_path / "copies").make(MUTANTS[name].change)


def place(folder: Path, name: str) -> str:
    """Where the statement of this name stands in the worker's SQL."""
    lines = (folder / "arrowproof/service/sql/worker.sql").read_text().splitlines()
    at = next(
        number for number in range(lines.index(f"-- name: {name}"), len(lines)) if not lines[number].startswith("--")
    )
    return f"sql/worker.sql:{at + 1}"


def test_the_bundled_service_is_proven_with_thirteen_of_thirteen(arrowproof, tmp_path):
    result = arrowproof("prove", "notes", "--out", "proof")
    assert result.status == 0, result.out + result.err
    assert result.out.startswith("Proven: Note job, 13 of 13 transitions walked\n")
    assert "26 of 26 kills survived, 17 of 17 illegal events without effect, 0 sneak paths" in result.out
    evidence = json.loads((tmp_path / "proof" / "evidence.json").read_text())
    assert (evidence["verdict"], evidence["reasons"]) == ("proven", [])
    assert all(item["written"] and item["walks"] and len(item["kills"]) == 2 for item in evidence["transitions"])
    assert evidence["environment"]["wal_reset"] == "not affected"
    assert (tmp_path / "proof" / "report.html").exists()


def test_a_seed_without_walks_is_refused(arrowproof):
    result = arrowproof("prove", "notes", "--seed", "7")
    assert (result.status, result.out) == (2, "")
    assert "add --walks N" in result.err


def test_pairs_and_random_walks_are_made_when_they_are_asked_for(arrowproof, tmp_path):
    ticket = Path(__file__).parents[2] / "examples" / "ticket" / "lifecycle.json"
    result = arrowproof("prove", str(ticket), "--pairs", "--walks", "3", "--seed", "5", "--out", "proof", "--json")
    report = json.loads(result.out)
    assert (result.status, report["verdict"]) == (0, "proven")
    assert [path.name for path in tmp_path.iterdir()] == ["proof"]
    assert report["coverage"]["pairs"] == {"covered": 2, "total": 2}
    assert (report["random_walks"]["asked"], report["random_walks"]["seed"]) == (3, 5)
    assert report["random_walks"]["problem"] is None


LOUD = """
import os, subprocess
from ticket_driver import TicketDriver

class Loud(TicketDriver):
    def start(self, folder):
        os.chdir(folder)
        subprocess.run(["echo", "made"], check=True)
        return super().start(folder)
"""


def test_a_driver_whose_processes_write_and_that_leaves_for_another_folder_spoils_nothing(arrowproof, tmp_path):
    shutil.copytree(Path(__file__).parents[2] / "examples" / "ticket", tmp_path / "ticket")
    (tmp_path / "ticket" / "loud.py").write_text(LOUD)
    result = arrowproof("prove", "ticket/lifecycle.json", "--driver", "loud:Loud", "--out", "proof", "--json")
    assert (result.status, json.loads(result.out)["verdict"]) == (0, "proven")
    assert "made" in result.err.splitlines()


def test_a_sneak_path_that_is_possible_is_red_with_the_place_of_its_statement(arrowproof, spoilt):
    copy = spoilt("complete-from-any-state")
    result = arrowproof("prove", "notes", "--out", "proof", cwd=copy)
    assert result.status == 1
    assert "failed -> completed" in result.out
    assert place(copy, "complete_job") in result.out
    assert "Proven" not in result.out


@pytest.mark.parametrize(
    "name",
    [
        "an-attempt-adds-nothing",  # no statement makes a wrong transition: only a service that runs it shows it
        "commit-ahead-of-the-end",  # only a kill finds a row that has moved already
    ],
)
def test_what_a_whole_proof_finds_in_a_mutant_stands_in_its_report(arrowproof, spoilt, name):
    copy = spoilt(name)
    result = arrowproof("prove", "notes", "--json", "--out", "proof", cwd=copy)
    assert result.status == 1
    report = json.loads(result.out)
    assert report == json.loads((copy / "proof" / "report.json").read_text())
    assert (report["verdict"], report["sneak_paths"]) == ("not proven", [])
    assert any(MUTANTS[name].reason in reason for reason in report["reasons"])


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


def test_several_workers_are_asked_for_and_what_the_driver_cannot_do_is_said(arrowproof):
    ticket = str(Path(__file__).parents[2] / "examples" / "ticket" / "lifecycle.json")
    result = arrowproof("prove", ticket, "--interleavings", "--out", "proof")
    assert result.status == 0, result.out + result.err
    assert "Interleavings were not tried: the driver has no set_off()." in result.out
