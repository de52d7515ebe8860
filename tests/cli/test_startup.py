"""What a command pays for: nothing that it does not use is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from arrowproof.cli.main import COMMANDS

LOADED = """
import sys
from arrowproof.cli.main import status_of
assert status_of(sys.argv[1:]) == 0
print("LOADED", *(name for name, module in sys.modules.items() if getattr(module, "__spec__", None)), sep="\\n")
"""


def loaded_by(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> set[str]:
    """The modules that a process has once the command is done, without what a library keeps among them of its own."""
    command = [sys.executable, "-c", LOADED, *arguments]
    surroundings = {**os.environ, **(environment or {})}
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.partition("LOADED\n")[2].splitlines())


def not_of_python(loaded: set[str]) -> set[str]:
    """The packages that are neither Python's nor what an installation loads into every process."""
    return {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names - every_process()


@cache
def every_process() -> set[str]:
    """What a process has that was asked for nothing."""
    command = [sys.executable, "-c", "import sys; print(*sys.modules, sep='\\n')"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return {name.partition(".")[0] for name in done.stdout.splitlines()}


def ours(loaded: set[str], *packages: str) -> set[str]:
    return {name for name in loaded if name.startswith(tuple(f"arrowproof.{package}." for package in packages))}


HEAVY = {
    *("asyncio", "concurrent", "ctypes", "decimal", "email", "html", "http", "importlib.metadata"),
    *("importlib.resources", "logging", "multiprocessing", "queue", "socket", "sqlite3", "ssl", "statistics"),
    *("subprocess", "unittest", "xml"),
}
"""What Python itself has that takes milliseconds, and that drawing a page has no use for."""


def test_a_page_without_evidence_loads_neither_what_a_proof_needs_nor_what_other_commands_do(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "render", "notes", "-o", "page.html")
    assert not_of_python(loaded) == {"arrowproof", "click", "jinja2", "markupsafe"}
    assert loaded & HEAVY == set()
    assert ours(loaded, "conformance", "service") == set()
    others = {f"arrowproof.cli.{name}" for name in COMMANDS if name != "render"}
    assert loaded & others == set()
    proof = {name for name in ours(loaded, "render") if name.startswith("arrowproof.render.proof_")}
    assert proof == set()
    assert (
        loaded
        & {
            "arrowproof.model.evidence",
            "arrowproof.model.staleness",
            "arrowproof.render.chromium",
            "arrowproof.render.scenes",
        }
        == set()
    )


def test_lint_loads_nothing_that_draws_or_writes(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "lint", "notes")
    assert not_of_python(loaded) == {"arrowproof", "click"}
    assert loaded & (HEAVY | {"tempfile"}) == set()
    assert ours(loaded, "render", "conformance", "service") == set()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_version_and_the_list_of_commands_load_no_command(tmp_path: Path, option: str) -> None:
    loaded = loaded_by(tmp_path, option)
    assert not_of_python(loaded) == {"arrowproof", "click"}
    assert loaded & (HEAVY | {"json", "tempfile"}) == set()
    assert ours(loaded, "model", "render", "conformance", "service") == set()
    assert ours(loaded, "cli") == {"arrowproof.cli.main", "arrowproof.cli.output"}


def test_a_word_is_completed_without_any_command_that_it_could_be(tmp_path: Path) -> None:
    asked = {"_ARROWPROOF_COMPLETE": "bash_complete", "COMP_WORDS": "arrowproof re", "COMP_CWORD": "1"}
    loaded = loaded_by(tmp_path, environment=asked)
    assert not_of_python(loaded) == {"arrowproof", "click"}
    assert ours(loaded, "cli") == {"arrowproof.cli.main", "arrowproof.cli.output"}


COLLECTIONS = """
import atexit, gc
from arrowproof.__main__ import main

def looked():
    return sum(age["collections"] for age in gc.get_stats())

before = looked()
atexit.register(lambda: print("LOOKED", looked() - before, len(gc.get_objects())))
main()
"""


def test_python_looks_for_cycles_neither_while_it_draws_nor_through_everything_at_its_end(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COLLECTIONS, "render", "notes", "-o", "page.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    looked, left = map(int, done.stdout.partition("LOOKED ")[2].split())
    assert looked <= 2
    assert left < 1000
