"""Compares our layout with its peer, elkjs layered, tuned for each case, on the gallery and the three old cases.

elkjs stays outside the repository:

    cp bench/elk/package.json /tmp/elk/ && npm install --prefix /tmp/elk
    .venv/bin/python bench/elk/compare.py --elkjs /tmp/elk [--runs N] [--tight-runs N] [--keep FILE] [MODEL...]

Both get the same boxes and the same wrapped labels, and both are measured by `arrowproof.render.quality` in the figure.
Of ELK the two ends are shown, the drawing with the largest text and the one with the fewest crossings, both without an
overlap, and beside them what it does when its distances may be tighter than ours. Verdict, at even distances: `ahead`
when our drawing has at most the fewest crossings and at least the largest text of all of them, `level` when no single
one of them is as good in both and better in one, else `behind`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from kept import KeptRuns, key_of
from peer import Elk, elk_graph, graphs_by_limits, measure_peer
from settings import LIMITS, Run, Settings, by_crossings, by_text, elk_options, front, search

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.graph import Graph
from arrowproof.render.quality import Quality, measure_drawing

ROOT = Path(__file__).resolve().parents[2]
OLD_CASES = [ROOT / "tests" / "render" / "cases" / f"{name}.json" for name in ("job", "agent-run", "order")]
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.lifecycle.json"))
MANY_STATES = 20
"""From here on a run of ELK takes so long that only a third of them are made."""


@dataclass(frozen=True)
class Effort:
    """How many settings are tried at each of the two distances, and the figure in CSS px."""

    runs: Mapping[str, int]
    figure: tuple[float, float]


@dataclass(frozen=True)
class Comparison:
    """Our drawing of one case, and all drawings of ELK without an overlap: at even distances, and at tighter ones."""

    name: str
    lifecycle: Lifecycle
    ours: Quality
    elk: Sequence[Run]
    tight: Sequence[Run]

    @property
    def verdict(self) -> str:
        """`ahead`, `level` or `behind`, as the module says."""
        px = round(self.ours.label_px, 1)
        if not self.elk:
            return "ahead"
        fewest = min(run.crossings for run in self.elk)
        largest = max(round(run.label_px, 1) for run in self.elk)
        if self.ours.holds and self.ours.crossings <= fewest and px >= largest:
            return "ahead"
        better = (
            run.crossings <= self.ours.crossings
            and round(run.label_px, 1) >= px
            and (run.crossings, round(run.label_px, 1)) != (self.ours.crossings, px)
            for run in self.elk
        )
        return "level" if self.ours.holds and not any(better) else "behind"


def main() -> None:
    options = _options()
    width, height = (float(side) for side in options.figure.split("x"))
    effort = Effort({"even": options.runs, "tight": options.tight_runs}, (width, height))
    kept = KeptRuns(options.keep)
    print("| case | states, arrows | ELK, largest text | ELK, fewest crossings | ELK, tighter | ours | verdict |")
    print("|---|---|---|---|---|---|---|")
    with Elk(options.elkjs) as elk:
        for path in options.models or [*OLD_CASES, *GALLERY]:
            comparison = compare(elk, kept, path, effort)
            print(_row(comparison), flush=True)
            if options.settings:
                _print_settings(comparison)


def compare(elk: Elk, kept: KeptRuns, path: Path, effort: Effort) -> Comparison:
    """Lay one model out ourselves, and by ELK under so many settings at each of its distances."""
    lifecycle = load_lifecycle(path)
    graphs = graphs_by_limits(lifecycle, LIMITS)
    key = key_of([[elk_graph(graph, {}, False) for graph in graphs.values()], asdict(effort)])
    searches = kept.find(key)
    if searches is None:
        share = 1 if len(lifecycle.states) < MANY_STATES else 3
        searches = {
            name: search(partial(_attempt, elk, graphs, effort, name), runs // share)
            for name, runs in effort.runs.items()
        }
        kept.keep(key, searches)
    ours = measure_drawing(layout_lifecycle(lifecycle), *effort.figure)
    name = path.name.removesuffix(".json").removesuffix(".lifecycle")
    name = f"{name} (old)" if path.resolve() in OLD_CASES else name
    return Comparison(name, lifecycle, ours, searches["even"], searches["tight"])


def _attempt(elk: Elk, graphs: Mapping[str, Graph], effort: Effort, distances: str, settings: Settings) -> Run | None:
    graph = graphs[settings["labels"]]
    answer = elk.layout(elk_graph(graph, elk_options(settings, distances), settings["inline"] == "true"))
    if "error" in answer:
        return None
    quality, overlaps = measure_peer(graph, answer, *effort.figure)
    return Run(settings, quality.crossings, quality.label_px, quality.bends, overlaps)


def _row(comparison: Comparison) -> str:
    size = f"{len(comparison.lifecycle.states)}, {len(comparison.lifecycle.arrows)}"
    ours = comparison.ours
    said = f"{ours.label_px:.1f} px, {_crossings(ours.crossings)}"
    if ours.overlaps:
        said += f", {len(ours.overlaps)} overlaps"
    text, crossings = _ends(comparison.elk)
    tight = " or ".join(dict.fromkeys(_ends(comparison.tight)))
    return f"| {comparison.name} | {size} | {text} | {crossings} | {tight} | {said} | {comparison.verdict} |"


def _ends(runs: Sequence[Run]) -> list[str]:
    """The run with the largest text, and that with the fewest crossings."""
    return [_run(max(runs, key=key)) if runs else "–" for key in (by_text, by_crossings)]


def _run(run: Run) -> str:
    return f"{run.label_px:.1f} px, {_crossings(run.crossings)}"


def _crossings(count: int) -> str:
    return f"{count} crossing" + ("" if count == 1 else "s")


def _print_settings(comparison: Comparison) -> None:
    for distances, runs in (("even", comparison.elk), ("tight", comparison.tight)):
        print(f"  {len(runs)} runs without an overlap at {distances} distances", file=sys.stderr)
        for run in front(runs):
            print(f"  {_run(run)}, {run.bends} bends: {dict(run.settings)}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elkjs", type=Path, required=True, help="the folder where elkjs is installed")
    parser.add_argument("--runs", type=int, default=300, help="settings tried for each case")
    parser.add_argument("--tight-runs", type=int, default=150, help="and at tighter distances; 0 for none")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="ELK's runs are kept here, and taken from here")
    parser.add_argument("--figure", default="950x620", help="the figure in CSS px")
    parser.add_argument("--settings", action="store_true", help="print the settings of the best runs of ELK too")
    parser.add_argument("models", nargs="*", type=Path, metavar="MODEL", help="instead of all cases")
    return parser.parse_args()


if __name__ == "__main__":
    main()
