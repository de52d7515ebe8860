from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arrowproof.conformance.output import MARKER, open_output
from arrowproof.errors import InputError


def test_the_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    with open_output(tmp_path / "a" / "b") as output:
        assert output.write("report.json", "{}\n").read_text() == "{}\n"


def test_a_written_file_replaces_its_namesake_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with open_output(tmp_path) as output:
        output.write("report.json", "first")
        output.write("report.json", "second")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"mine.txt": "keep", "report.json": "second"}


def test_what_utf8_cannot_hold_is_written_as_its_escape(tmp_path: Path) -> None:
    with open_output(tmp_path) as output:
        assert output.write("evidence.json", '"\ud800é"').read_bytes() == b'"\\ud800\xc3\xa9"'


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")

    with pytest.raises(InputError, match=r"cannot use .*out as output folder"), open_output(tmp_path / "out"):
        pass


def test_a_folder_in_place_of_a_report_is_refused_and_no_temporary_file_stays(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()

    with open_output(tmp_path) as output, pytest.raises(InputError, match=r"cannot write .*report\.json"):
        output.write("report.json", "{}")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_the_run_before_is_removed_whole(tmp_path: Path) -> None:
    with open_output(tmp_path) as output:
        run = output.new_run()
        (run / "old" / "deep").mkdir(parents=True)
        (run / "old" / "service.sqlite3").write_text("old")
        again = output.new_run()

    assert [path.name for path in again.iterdir()] == [MARKER]


def test_a_run_folder_of_someone_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("three years of work")

    with open_output(tmp_path) as output, pytest.raises(InputError, match="files of someone else"):
        output.new_run()
    assert (tmp_path / "run" / "thesis.txt").read_text() == "three years of work"


def test_a_file_of_someone_else_is_refused_and_all_are_left_alone(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "report.json", tmp_path / "junit.xml"
    ours.write_text('{"format": "arrowproof.report/2"}')
    theirs.write_text("<testsuites><testsuite name='pytest'/></testsuites>")

    with open_output(tmp_path) as output:
        with pytest.raises(InputError, match=r"junit\.xml is there and was not made by a proof"):
            output.discard("report.json", "junit.xml", "report.md")
        assert ours.exists()
        theirs.write_text("")
        output.discard("report.json", "junit.xml", "report.md")
    assert list(tmp_path.iterdir()) == []


def test_a_link_named_run_is_never_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / MARKER).write_text("looks like ours")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run").symlink_to(elsewhere)

    with open_output(tmp_path / "out") as output, pytest.raises(InputError, match="no folder of ours"):
        output.new_run()
    assert (elsewhere / MARKER).exists()


def test_two_proofs_never_write_to_one_folder_at_once(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys\n"
        "from arrowproof.conformance.output import open_output\n"
        "from arrowproof.errors import InputError\n"
        "try:\n"
        "    with open_output(pathlib.Path(sys.argv[1])): print('entered')\n"
        "except InputError as error: print(error)\n"
    )

    def other() -> str:
        return subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
        ).stdout

    with open_output(tmp_path):
        assert other().startswith("another proof writes to ")
    assert other() == "entered\n"


def test_discarding_takes_only_what_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("old verdict of Arrowproof")
    (tmp_path / "mine.txt").write_text("keep")
    with open_output(tmp_path) as output:
        output.discard("report.json", "report.html")

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
