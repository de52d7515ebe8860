from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import httpx

MODEL = Path(str(files("arrowproof"))) / "service" / "notes-job.lifecycle.json"


def test_view_serves_the_drawn_model_on_loopback_until_ctrl_c(tmp_path):
    shutil.copy(MODEL, tmp_path / "lifecycle.json")
    process = subprocess.Popen(
        [sys.executable, "-m", "arrowproof", "view", "--no-open", "--lang", "ja"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        shell = httpx.get(address)
        assert shell.status_code == 200
        assert '<html lang="ja">' in shell.text
        assert "切断されました" in shell.text
        assert '<html lang="ja">' in httpx.get(f"{address}page").text
    finally:
        process.send_signal(signal.SIGINT)
        _out, err = process.communicate(timeout=90)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert re.search(r"^drawn in \d+\.\d s$", err, re.MULTILINE)


def test_view_of_a_missing_file_is_wrong_input(arrowproof):
    result = arrowproof("view", "nowhere.json", "--no-open")
    assert result.status == 2
    assert "nowhere.json" in result.err


def test_view_of_an_impossible_name_is_wrong_input(arrowproof):
    result = arrowproof("view", "x" * 5000, "--no-open")
    assert result.status == 2
    assert "File name too long" in result.err


def test_view_of_a_model_that_is_broken_from_the_start_says_why(tmp_path):
    (tmp_path / "lifecycle.json").write_text("{")
    command = [sys.executable, "-m", "arrowproof", "view", "--no-open"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("serving http://127.0.0.1:")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=90)
    # A machine that is busy says first that it is drawing.
    assert err.removeprefix("drawing…\n").startswith("error: lifecycle.json has 1 error\n")


def test_view_of_a_page_that_is_too_large_says_so(tmp_path):
    with (tmp_path / "page.html").open("wb") as file:
        file.truncate(40 * 2**20)
    command = [sys.executable, "-m", "arrowproof", "view", "page.html", "--no-open"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("serving http://127.0.0.1:")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=90)
    assert err.removeprefix("drawing…\n").startswith("error: page.html is larger than 32 MiB")
