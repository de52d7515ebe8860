"""Times `render` by size of the model as a whole process, against the limits, and states how the time grows.

.venv/bin/python bench/render.py [--rounds N]

The models are made here, the same each time: a main line, branches off it that end or come back, and groups of eight
states. Python and the templates keep their bytecode, as for everyone who runs a command twice.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from processes import seconds

ROOT = Path(__file__).resolve().parent.parent
SIZES = ((4, 5), (12, 25), (30, 60), (100, 200), (200, 400))
LIMITS = {"notes, 5 states": 0.25, "agent run, 12 states": 0.6, "200 states, 400 arrows": 20.0}
MODELS = {
    "notes, 5 states": ROOT / "arrowproof" / "service" / "notes-job.lifecycle.json",
    "agent run, 12 states": ROOT / "tests" / "render" / "cases" / "agent-run.json",
}
LONG = 3.0
"""Seconds after which one run of a case is taken for all its rounds."""


def model(states: int, arrows: int) -> dict[str, object]:
    """A lifecycle of this size: state n goes on to n + 1, and every further arrow leaps or returns by a fixed step."""
    kinds = ("waiting", "active", "active", "waiting")
    made = [
        {
            "id": f"s{n}",
            "label": f"state {n}",
            "kind": "success" if n == states - 1 else kinds[n % 4],
            "group": f"phase {n // 8}",
        }
        for n in range(states)
    ]
    lines = [{"id": "new", "to": "s0", "event": "created"}]
    lines += [{"id": f"next{n}", "from": f"s{n}", "to": f"s{n + 1}", "event": f"step {n}"} for n in range(states - 1)]
    for n in range(arrows - len(lines)):
        source = n * 7 % (states - 1)
        step = (2, -1, 3, -4, 9)[n % 5]
        target = min(max(source + step, 0), states - 1)
        lines.append(
            {"id": f"more{n}", "from": f"s{source}", "to": f"s{target}", "event": f"event {n}", "guard": f"tries < {n}"}
        )
    return {"format": "arrowproof.lifecycle/1", "id": "bench", "title": "Bench", "states": made, "arrows": lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"Python {platform.python_version()}, {platform.machine()}; {options.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        figures = _measure(Path(folder), options.rounds)
    print(f"{'model':<26}{'best s':>9}{'median s':>10}{'limit s':>9}{'growth':>8}")
    before: tuple[int, float] | None = None
    for name, (size, runs) in figures.items():
        median, limit = statistics.median(runs), LIMITS.get(name)
        growth = ""
        if size:
            growth = "" if before is None else f"{_growth(before, (size, median)):>8.1f}"
            before = (size, median)
        print(f"{name:<26}{min(runs):>9.3f}{median:>10.3f}{limit or '':>9}{growth}")
    if options.json:
        options.json.write_text(json.dumps({name: runs for name, (_, runs) in figures.items()}, indent=2) + "\n")


def _measure(folder: Path, rounds: int) -> dict[str, tuple[int, list[float]]]:
    """The runs of each case by name, with its number of states, 0 where it is no step of the growth."""
    cases = {"python, nothing": (0, [sys.executable, "-c", "pass"])}
    cases |= {name: (0, _render(path)) for name, path in MODELS.items()}
    for states, arrows in SIZES:
        path = folder / f"{states}.json"
        path.write_text(json.dumps(model(states, arrows)))
        cases[f"{states} states, {arrows} arrows"] = (states, _render(path))
    runs: dict[str, tuple[int, list[float]]] = {}
    seconds(cases["notes, 5 states"][1], folder)  # fills the caches of bytecode
    for name, (size, command) in cases.items():
        first = seconds(command, folder)
        runs[name] = (size, [first])
        if first < LONG:
            runs[name][1].extend(seconds(command, folder) for _ in range(rounds - 1))
    return runs


def _render(model_file: Path) -> list[str]:
    return [sys.executable, "-m", "arrowproof", "render", str(model_file), "-o", "page.html", "--force"]


def _growth(before: tuple[int, float], after: tuple[int, float]) -> float:
    """The power of the number of states by which the time has grown from one size to the next."""
    return math.log(after[1] / before[1]) / math.log(after[0] / before[0])


if __name__ == "__main__":
    main()
