from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arrowproof import __version__
from arrowproof.cli import main as cli_main
from arrowproof.errors import INTERNAL, INTERRUPTED, InternalError


def test_the_version_is_the_packages(arrowproof):
    result = arrowproof("--version")
    assert (result.status, result.out) == (0, f"arrowproof, version {__version__}\n")


def test_help_lists_every_command_and_the_exit_statuses(arrowproof):
    result = arrowproof("--help")
    assert result.status == 0
    for name in cli_main.COMMANDS:
        assert f"\n  {name} " in result.out
    assert "130 interrupted" in result.out


def test_the_short_help_of_every_command_stands_in_full(arrowproof):
    listed = arrowproof("--help").out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert len(listed.splitlines()) == len(cli_main.COMMANDS)
    assert "..." not in listed


@pytest.mark.parametrize("name", cli_main.COMMANDS)
def test_every_command_has_help_with_an_example(arrowproof, name):
    result = arrowproof(name, "--help")
    assert result.status == 0
    assert "Example:\n" in result.out


def test_an_unknown_command_is_wrong_input_and_names_itself(arrowproof):
    result = arrowproof("rendre")
    assert result.status == 2
    assert "rendre" in result.err


@pytest.mark.parametrize(("word", "meant"), [("lnit", "lint"), ("rendre", "render"), ("proove", "prove")])
def test_a_misspelt_command_is_answered_with_the_one_that_is_near(arrowproof, word, meant):
    assert f"No such command '{word}'. Did you mean `{meant}`?" in arrowproof(word).err


def test_without_a_model_the_message_says_the_three_ways_out(arrowproof):
    result = arrowproof("lint")
    assert result.status == 2
    assert "no lifecycle.json" in result.err
    assert "arrowproof init" in result.err
    assert "`notes`" in result.err


def test_an_error_with_json_is_one_object_on_standard_output(arrowproof):
    result = arrowproof("lint", "nowhere.json", "--json")
    assert result.status == 2
    said = json.loads(result.out)
    assert (said["format"], said["verdict"], said["status"]) == ("arrowproof.error/1", "error", 2)
    assert "nowhere.json" in said["message"]


def test_a_models_problems_stand_in_the_json_error_with_their_places(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text('{"format": "arrowproof.lifecycle/1", "id": 7}')
    result = arrowproof("lint", "--json")
    assert result.status == 2
    problems = json.loads(result.out)["problems"]
    assert {problem["path"] for problem in problems} >= {"$.id"}
    assert all(problem["line"] == 1 and problem["fix"] for problem in problems)


def test_a_bug_is_exit_4_and_says_how_to_report_it(monkeypatch, capsys):
    def broken(**_: object) -> None:
        raise RuntimeError("the impossible")

    monkeypatch.setattr(cli_main.cli, "main", broken)
    assert cli_main.status_of(["lint"]) == INTERNAL
    said = capsys.readouterr().err
    assert "the impossible" in said
    assert "issue tracker" in said


@pytest.mark.parametrize("error", [RuntimeError("the impossible"), InternalError("the impossible")])
def test_a_bug_with_json_is_one_object_on_standard_output(monkeypatch, capsys, error):
    def broken(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli_main.cli, "main", broken)
    assert cli_main.status_of(["lint", "--json"]) == INTERNAL
    said = capsys.readouterr()
    assert json.loads(said.out)["status"] == INTERNAL
    assert "issue tracker" in said.err


def test_a_wrong_option_with_json_is_one_object_on_standard_output(arrowproof):
    result = arrowproof("lint", "--jsno", "--json")
    assert result.status == 2
    assert "--jsno" in json.loads(result.out)["message"]


def test_ctrl_c_is_exit_130_without_a_trace(monkeypatch, capsys):
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_main.cli, "main", interrupted)
    assert cli_main.status_of(["lint"]) == INTERRUPTED
    assert capsys.readouterr().err == "\ninterrupted\n"


def test_a_reader_that_goes_away_gets_no_trace_and_no_verdict(tmp_path):
    command = f"{sys.executable} -m arrowproof completion bash | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (cli_main.PIPE_CLOSED, b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed_for_each_shell(shell):
    result = CliRunner().invoke(cli_main.cli, ["completion", shell])
    assert result.exit_code == 0
    assert "_ARROWPROOF_COMPLETE" in result.output


def test_completion_knows_the_commands(arrowproof):
    env = {"_ARROWPROOF_COMPLETE": "bash_complete", "COMP_WORDS": "arrowproof re", "COMP_CWORD": "1"}
    result = arrowproof(env=env, cwd=Path("/"))
    assert (result.status, result.out) == (0, "plain,render\nplain,report\n")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", ["plain,notes", "plain,job.json"]),
        ("n", ["plain,notes"]),
        ("models/", ["plain,models/a.json"]),
        ("x", ["file,x"]),
        ("nowhere/", ["file,nowhere/"]),
    ],
)
def test_completion_offers_models(arrowproof, tmp_path, typed, offered):
    (tmp_path / "models").mkdir()
    for name in ("job.json", "other.txt", "models/a.json"):
        (tmp_path / name).touch()
    words = f"arrowproof lint {typed}"
    env = {"_ARROWPROOF_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "2"}
    assert arrowproof(env=env).out.split() == offered


@pytest.mark.parametrize(
    "arguments", [["lint", "notes"], ["lint", "notes", "--json"], ["doctor", "--json"], ["--help"]]
)
def test_output_that_cannot_be_written_is_no_verdict_and_no_bug(tmp_path, arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "arrowproof", *arguments],
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("target", ["/dev/full", "|true"])
def test_an_error_whose_object_cannot_be_written_keeps_its_status(tmp_path, target):
    command = f"sleep 0.2; {sys.executable} -m arrowproof lint nowhere.json --json"
    line = f"({command}) {target}" if target.startswith("|") else f"{command} > {target}"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_output_in_another_encoding_is_escaped_and_its_json_stays_json(arrowproof, tmp_path):
    model = {"id": "受注", "title": "t", "states": [{"id": "s", "kind": "success"}], "arrows": [{"id": "a", "to": "s"}]}
    text = json.dumps({"format": "arrowproof.lifecycle/1", **model}, ensure_ascii=False)
    (tmp_path / "lifecycle.json").write_text(text, encoding="utf-8")
    latin = {"PYTHONIOENCODING": "latin-1"}
    assert arrowproof("lint", env=latin).out == "\\u53d7\\u6ce8 holds: 1 state, 1 arrow, 1 transition\n"
    result = arrowproof("render", "-o", "受注.html", "--json", env=latin)
    assert (result.status, json.loads(result.out)["page"]) == (0, "受注.html")


def test_a_file_name_that_is_no_text_stays_json(tmp_path):
    command = [sys.executable, "-m", "arrowproof", "render", "notes", "-o", b"\xff.html", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, json.loads(done.stdout.decode())["page"]) == (0, "\udcff.html")


def test_an_interrupt_with_json_is_one_object_too(monkeypatch, capsys):
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_main.cli, "main", interrupted)
    assert cli_main.status_of(["lint", "--json"]) == INTERRUPTED
    assert json.loads(capsys.readouterr().out)["status"] == INTERRUPTED


def test_an_interrupt_while_it_starts_leaves_no_trace(tmp_path):
    code = (
        "import sys; from arrowproof import __main__\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'arrowproof.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt()); __main__.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_folder_that_may_not_be_entered_is_wrong_input(tmp_path):
    (tmp_path / "lifecycle.json").write_text("{}")
    tmp_path.chmod(0o700)
    code = (
        "import os, sys; from arrowproof.cli import lint, main\n"
        f"os.chdir({str(tmp_path)!r}); os.setuid(65534); sys.exit(main.status_of(['lint']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.split(".")[0]) == (2, "error: lifecycle")
    assert "may not be read by this user" in done.stderr
