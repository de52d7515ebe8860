from __future__ import annotations

import re
import subprocess
import sys
from argparse import ArgumentTypeError

import pytest

from arrowproof.service.options import command_parser, positive_seconds, seconds, whole_number

COMMANDS = ("server", "worker", "retention", "tokens")


def test_a_whole_number_within_its_bounds_is_taken():
    assert [whole_number(1, 5)(text) for text in ("1", "5")] == [1, 5]


@pytest.mark.parametrize("text", ["0", "6", "-1", "1.0", "", " 1", "1_0", "٣", "²", "9" * 5000])
def test_any_other_number_is_an_error_that_shows_it(text):
    with pytest.raises(ArgumentTypeError, match=r"no whole number from 1 to 5"):
        whole_number(1, 5)(text)


def test_a_time_from_nothing_to_a_million_seconds_is_taken():
    assert [seconds(text) for text in ("0", "0.25", "1000000")] == [0.0, 0.25, 1_000_000.0]


@pytest.mark.parametrize("text", ["-0.1", "nan", "inf", "1e7", "soon", ""])
def test_any_other_time_is_an_error(text):
    with pytest.raises(ArgumentTypeError, match="no time in seconds"):
        seconds(text)


def test_where_no_time_at_all_makes_no_sense_it_is_an_error():
    assert positive_seconds("0.25") == 0.25
    with pytest.raises(ArgumentTypeError, match="'0' leaves no time"):
        positive_seconds("0")


def test_an_example_stands_in_one_line_however_long_it_is():
    long = f"--db ./{'n' * 200}.sqlite3"
    assert f"\n  python -m arrowproof.service.worker {long}\n" in command_parser("worker", "Work.", long).format_help()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_a_command_as_it_is_run_and_shows_examples_of_its_options(command):
    program = f"python -m arrowproof.service.{command}"
    run = [sys.executable, *program.split()[1:], "--help"]
    said = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout
    described, _, shown = said.partition("\nexamples:\n")
    assert described.startswith(f"usage: {program} ")
    examples = shown.strip().splitlines()
    assert examples
    for example in examples:
        assert example.strip().startswith(f"{program} ")
        assert set(re.findall(r"--[a-z-]+", example)) <= set(re.findall(r"--[a-z-]+", described))
