"""Times `render`, `fit` and `prove` on the bundled lifecycle as whole processes, against the limits in the README.

.venv/bin/python bench/commands.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from processes import peak_mib, seconds

ARROWPROOF = [sys.executable, "-m", "arrowproof"]
BARE = Path(__file__).resolve().parent / "bare_screenshots.py"
CASES = {
    "python, nothing": ([sys.executable, "-c", "pass"], None),
    "render notes": ([*ARROWPROOF, "render", "notes", "-o", "notes-job.html"], 0.35),
    "eight bare screenshots": ([sys.executable, str(BARE), "notes-job.html"], None),
    "fit notes-job.html": ([*ARROWPROOF, "fit", "notes-job.html", "--out", "fit"], 2.5),
    "prove notes": ([*ARROWPROOF, "prove", "notes", "--out", "proof"], 10.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}; {options.rounds} rounds, cases interleaved")
    runs: dict[str, list[float]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for name, (command, _limit) in CASES.items():
                runs[name].append(seconds(command, Path(folder)))
        peaks = {name: peak_mib(command, Path(folder)) for name, (command, _limit) in CASES.items()}
    figures = {name: _figures(of, CASES[name][1], peaks[name]) for name, of in runs.items()}
    print(f"{'command':<24}{'best s':>8}{'median s':>10}{'limit s':>9}{'of limit':>10}{'peak MiB':>10}")
    for name, row in figures.items():
        limit, share = row["limit"], row["share"]
        said = f"{limit:>9.2f}{share:>9.0%} " if limit else f"{'':>20}"
        print(f"{name:<24}{row['best']:>8.3f}{row['median']:>10.3f}{said}{row['peak']:>10.0f}")
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
