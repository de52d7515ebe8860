"""Processor time of the layout alone, by size of the model, against the aims in the README.

.venv/bin/python bench/layouts.py
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from arrowproof.model.loader import load_lifecycle
from arrowproof.render.layout import layout_lifecycle

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "render" / "cases"
ROUNDS = 5
AIMS = {
    ROOT / "arrowproof" / "service" / "notes-job.lifecycle.json": 0.08,
    CASES / "agent-run.json": 0.4,
    CASES / "claim.json": 0.4,
    CASES / "order.json": 5.0,
}


def main() -> None:
    print(f"{'model':<28}{'states':>7}{'arrows':>7}{'median s':>10}{'aim s':>7}{'of aim':>8}")
    for path, aim in AIMS.items():
        lifecycle = load_lifecycle(path)
        layout_lifecycle(lifecycle)  # imports are not the layout
        spent = []
        for _ in range(ROUNDS):
            started = time.process_time()
            layout_lifecycle(lifecycle)
            spent.append(time.process_time() - started)
        median = statistics.median(spent)
        size = f"{len(lifecycle.states):>7}{len(lifecycle.arrows):>7}"
        print(f"{path.name:<28}{size}{median:>10.3f}{aim:>7.2f}{median / aim:>8.0%}")


if __name__ == "__main__":
    main()
