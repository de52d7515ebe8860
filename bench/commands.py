"""Times `render`, `fit` and `prove` on the bundled lifecycle as whole processes, against the limits in the README.

.venv/bin/python bench/commands.py [--rounds N] [--only WORD]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from processes import peak_mib, seconds
from render import LIMITS

ARROWPROOF = [sys.executable, "-m", "arrowproof"]
BARE = Path(__file__).resolve().parent / "bare_screenshots.py"
FIT_LIMIT, FIT_PAGE_LIMIT = 2.0, 0.9
"""Seconds for one page, and more for each further one."""
CASES = {
    "python, nothing": ([sys.executable, "-c", "pass"], None),
    "render notes": ([*ARROWPROOF, "render", "notes", "-o", "notes-job.html"], LIMITS["notes, 5 states"]),
    "eight bare screenshots": ([sys.executable, str(BARE), "notes-job.html"], None),
    "fit, one page": ([*ARROWPROOF, "fit", "notes-job.html", "--out", "fit"], FIT_LIMIT),
    "fit, four pages": ([*ARROWPROOF, "fit", *["notes-job.html"] * 4, "--out", "fit"], FIT_LIMIT + 3 * FIT_PAGE_LIMIT),
    "fit, one page with evidence": ([*ARROWPROOF, "fit", "proven.html", "--out", "fit"], FIT_LIMIT),
    "fit, four with evidence": (
        [*ARROWPROOF, "fit", *["proven.html"] * 4, "--out", "fit"],
        FIT_LIMIT + 3 * FIT_PAGE_LIMIT,
    ),
    "prove notes": ([*ARROWPROOF, "prove", "notes", "--out", "proof"], 10.0),
    "prove notes, PostgreSQL": (
        [*ARROWPROOF, "prove", "notes", "--db", "postgresql", "--out", "proof-postgresql"],
        25.0,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="WORD", help="time the cases with this word in their names")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    cases = {name: case for name, case in CASES.items() if options.only in name}
    load = os.getloadavg()[0]
    print(
        f"Python {platform.python_version()}, {platform.machine()}; {options.rounds} rounds, cases interleaved; "
        f"{load:.1f} processes at work before the first"
    )
    runs: dict[str, list[float]] = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        seconds([*ARROWPROOF, "render", "notes", "-o", "notes-job.html"], Path(folder))  # what others look at
        if any("evidence" in name for name in cases):
            seconds([*ARROWPROOF, "prove", "notes", "--out", "proven"], Path(folder))
            evidence = ["--evidence", "proven/evidence.json"]
            seconds([*ARROWPROOF, "render", "notes", *evidence, "-o", "proven.html"], Path(folder))
        for _ in range(options.rounds):
            for name, (command, _limit) in cases.items():
                runs[name].append(seconds(command, Path(folder)))
        peaks = {name: peak_mib(command, Path(folder)) for name, (command, _limit) in cases.items()}
    figures = {name: _figures(of, cases[name][1], peaks[name]) for name, of in runs.items()}
    print(f"{'command':<29}{'best s':>8}{'median s':>10}{'limit s':>9}{'of limit':>10}{'peak MiB':>10}")
    for name, row in figures.items():
        limit, share = row["limit"], row["share"]
        said = f"{limit:>9.2f}{share:>9.0%} " if limit else f"{'':>20}"
        print(f"{name:<29}{row['best']:>8.3f}{row['median']:>10.3f}{said}{row['peak']:>10.0f}")
    for name, of in runs.items():
        print(f"{name}: all runs, in their order: {', '.join(f'{run:.2f}' for run in of)}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def _figures(runs: list[float], limit: float | None, peak: float) -> dict[str, float | None]:
    median = statistics.median(runs)
    return {
        "best": min(runs),
        "median": median,
        "limit": limit,
        "share": median / limit if limit else None,
        "peak": peak,
    }


if __name__ == "__main__":
    main()
