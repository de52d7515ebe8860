"""The README is checked: its commands run, answer what it shows, and its lifecycle lints strictly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def parse(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that stands below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


SIZE = re.compile(r"(?<=\()\d+(?= kB\))")


def steps(command: str) -> list[str]:
    """The command lines that a command of the README stands for: a script's own ones, without its set-up."""
    if command != "sh scripts/prove":
        return [command]
    script = (ROOT / "scripts" / "prove").read_text(encoding="utf-8")
    script = script.replace("$out", "arrowproof-out").replace('"', "")
    found = re.findall(r"^(?:\.venv/bin/)?((?:mkdir|arrowproof) .*?)(?: \$@ .*)?$", script, re.MULTILINE)
    page = re.findall(r"^printf 'page    %s, with its evidence\\n' (\S+)$", script, re.MULTILINE)
    assert len(found) == 4
    assert len(page) == 1
    return [*found, f"echo page    {page[0]}, with its evidence"]


def run(command: str, folder: Path) -> str:
    words = command.split(" ")
    if words[0] == "echo":
        return " ".join(words[1:]) + "\n"
    if words[0] == "mkdir":
        (folder / words[-1]).mkdir()
        return ""
    assert words[0] == "arrowproof", f"the README runs {words[0]}, which is not checked"
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0].removeprefix("$ "))
def test_each_console_block_shows_what_its_commands_answer(block, tmp_path):
    for command, shown in parse(block):
        said = "".join(run(step, tmp_path) for step in steps(command))
        assert SIZE.sub("", said) == SIZE.sub("", shown), command
        # The process ids of a proof have as many digits as a machine gives them, and its page is that much larger.
        sizes = zip(SIZE.findall(said), SIZE.findall(shown), strict=True)
        assert [pair for pair in sizes if abs(int(pair[0]) - int(pair[1])) > 1] == [], command


def test_the_lifecycle_of_the_readme_lints_strictly_and_renders(tmp_path):
    (model,) = re.findall(r"^```json\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (tmp_path / "lifecycle.json").write_text(model, encoding="utf-8")
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "tickets.sql").touch()
    assert run("arrowproof lint --strict", tmp_path) == "ticket holds: 2 states, 2 arrows, 2 transitions\n"
    run("arrowproof render", tmp_path)


def test_every_file_that_the_readme_links_to_is_there():
    targets = re.findall(r"\]\(([^)#:]+)\)|(?:src|srcset)=\"([^\"]+)\"", README)
    assert len(targets) > 5
    missing = [target for pair in targets for target in pair if target and not (ROOT / target).exists()]
    assert missing == []
