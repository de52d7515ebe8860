"""Times the notes service on SQLite and PostgreSQL beside raw durable commits, huey and procrastinate.

The processes of all cases stay; in each round every case does a little, one after the other, so that a busy moment of
the machine hits all of them, and a ratio is the median of the ratios of the rounds. All work is durable: WAL with
synchronous FULL, fsync and synchronous_commit on.

What part of a raw durable commit's rate a worker comes to depends on what a sync costs the disk. So that ratio is taken
on the real file, and again, named so, on one whose syncs take a stated time.

Example, all of it:
  python bench/service.py --peers /tmp/peers --json figures.json
and a short look:
  python bench/service.py --peers /tmp/peers --only sqlite --rounds 5
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import apsw  # noqa: E402 - what stands above finds the modules
import psycopg  # noqa: E402
from service_http import posts_rate, running_server  # noqa: E402
from service_jobs import peer, worker  # noqa: E402
from service_latency import waits  # noqa: E402
from service_places import Places, PostgresPlaces, Rate, SQLitePlaces, made, running_postgresql  # noqa: E402

Figures = dict[str, list[float]]
Cases = dict[str, Callable[[], list[float]]]
"""What a round does, in this order, by name; each gives its figures."""
RAW, ONE = "raw durable commits", "worker, 1 job a transaction"
STATED_SYNCS = {" (a sync takes 1 ms)": 0.001, " (a sync takes 4 ms)": 0.004}
"""What is said of a case whose syncs take a stated time, and that time in seconds."""
RATIOS: dict[str, Sequence[tuple[str, str, float | None]]] = {
    "sqlite": (
        (ONE, RAW, 0.85),
        *((ONE + said, RAW + said, 0.85) for said in STATED_SYNCS),
        (ONE, "huey", 2.0),
    ),
    "postgresql": ((ONE, RAW, None), (ONE, "procrastinate", 3.0)),
}
"""What is divided by what, and the aim, if there is one."""


def main() -> None:
    options = _parser().parse_args()
    python = _peers(options.peers)
    kept: dict[str, Figures] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="service-bench-", dir=options.folder)))
        # The server of PostgreSQL runs as a user of its own when root starts it.
        folder.chmod(0o755)
        print(_environment(folder, python))
        engines: list[Places] = [SQLitePlaces(folder)]
        if options.only != "sqlite":
            engines.append(PostgresPlaces(stack.enter_context(running_postgresql(folder))))
        for section, cases_of in SECTIONS.items():
            if options.only in (None, section):
                print(f"\n{section}: {options.rounds} rounds after one that does not count; {_load()}")
                with ExitStack() as processes:
                    cases = cases_of(engines, options, python, processes)
                    kept[section] = _rounds(cases, options.rounds)
                _summarise(kept[section], RATIOS.get(section, ()))
    if options.json:
        options.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def _sqlite(engines: list[Places], options: argparse.Namespace, python: Path, processes: ExitStack) -> Cases:
    folder = Path(engines[0].new()).parent
    other = {"huey": processes.enter_context(peer(python, "huey_worker.py", str(folder)))}
    cases = _jobs(engines[0], options.jobs, other, processes)
    assert isinstance(engines[0], SQLitePlaces)
    return cases | _on_stated_syncs(engines[0], options.jobs, processes)


def _postgresql(engines: list[Places], options: argparse.Namespace, python: Path, processes: ExitStack) -> Cases:
    place = engines[1].new()
    other = {"procrastinate": processes.enter_context(peer(python, "procrastinate_worker.py", place))}
    return _jobs(engines[1], options.jobs, other, processes)


def _jobs(places: Places, jobs: int, other: Mapping[str, Rate], processes: ExitStack) -> Cases:
    db = made(places)
    rates = {
        RAW: processes.enter_context(places.raw(db)),
        ONE: processes.enter_context(worker(places, db=db)),
        **other,
        "worker, 10 jobs a transaction": processes.enter_context(worker(places, 10)),
        "worker, 100 jobs a transaction": processes.enter_context(worker(places, 100)),
    }
    return {name: lambda rate=rate: [rate(jobs)] for name, rate in rates.items()}  # type: ignore[misc]


def _on_stated_syncs(places: SQLitePlaces, jobs: int, processes: ExitStack) -> Cases:
    rates: dict[str, Rate] = {}
    for said, seconds in STATED_SYNCS.items():
        db = made(places)
        rates[RAW + said] = processes.enter_context(places.raw(db, seconds))
        rates[ONE + said] = processes.enter_context(worker(places, db=db, sync_seconds=seconds))
    return {name: lambda rate=rate: [rate(jobs)] for name, rate in rates.items()}  # type: ignore[misc]


def _http(engines: list[Places], options: argparse.Namespace, _: Path, processes: ExitStack) -> Cases:
    cases: Cases = {}
    keys = (f"key-{number}" for number in count())
    for places in engines:
        db = made(places)
        raw = processes.enter_context(places.raw(db))
        address = processes.enter_context(running_server(db))
        cases[f"{places.name}: {RAW}"] = lambda raw=raw: [raw(options.requests)]  # type: ignore[misc]
        for clients in (1, 8):
            sent = f"{places.name}: {clients} client{'s' if clients > 1 else ''}"
            last: list[str] = []

            def post(clients: int = clients, last: list[str] = last, address: tuple[str, int] = address) -> list[float]:
                last[:] = islice(keys, options.requests)
                return [posts_rate(address, last, clients, replayed=False)]

            def replay(
                clients: int = clients, last: list[str] = last, address: tuple[str, int] = address
            ) -> list[float]:
                return [posts_rate(address, last, clients, replayed=True)]

            cases |= {f"{sent}, new notes": post, f"{sent}, replays": replay}
    return cases


def _latency(engines: list[Places], options: argparse.Namespace, _: Path, processes: ExitStack) -> Cases:
    of_each = {f"{places.name}: wait of a note, ms": processes.enter_context(waits(places)) for places in engines}
    return {name: lambda wait=wait: wait(options.notes) for name, wait in of_each.items()}  # type: ignore[misc]


SECTIONS = {"sqlite": _sqlite, "postgresql": _postgresql, "http": _http, "latency": _latency}


def _rounds(cases: Cases, rounds: int) -> Figures:
    figures: Figures = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            told = case()
            print(f"  round {number}: {name}: {statistics.median(told):.1f}", file=sys.stderr, flush=True)
            # The first round fills the logs and caches: a file that grows costs more than one that is written over.
            if number:
                figures[name] += told
    return figures


def _summarise(figures: Figures, ratios: Sequence[tuple[str, str, float | None]]) -> None:
    for name, runs in figures.items():
        middle = f"{name:<48} median {statistics.median(runs):>8.1f}"
        if name.endswith("ms"):
            print(f"{middle}, p99 {statistics.quantiles(runs, n=100, method='inclusive')[98]:.1f}, {len(runs)} notes")
        else:
            print(f"{middle}   all runs: {', '.join(f'{run:.0f}' for run in runs)}")
    for upper, lower, aim in ratios:
        each = [one / other for one, other in zip(figures[upper], figures[lower], strict=True)]
        said = f"; aim {aim}" if aim else ""
        runs = ", ".join(f"{ratio:.2f}" for ratio in each)
        print(f"{upper} / {lower}: median {statistics.median(each):.2f} ({runs}){said}")


def _environment(folder: Path, python: Path) -> str:
    peers = subprocess.run(
        [python, "-m", "pip", "freeze", "--disable-pip-version-check"], stdout=subprocess.PIPE, check=True, text=True
    ).stdout.split()
    named = ", ".join(line for line in peers if line.startswith(("huey", "procrastinate", "psycopg")))
    filesystem = subprocess.run(
        ["stat", "-f", "-c", "%T", str(folder)], stdout=subprocess.PIPE, check=True, text=True
    ).stdout.strip()
    return (
        f"Python {platform.python_version()}, apsw {apsw.apsw_version()}, psycopg {psycopg.__version__}; {named}\n"
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, files on {filesystem}; {_load()}"
    )


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f} processes at work"


def _peers(folder: Path) -> Path:
    """The Python of the peers' environment, which is made when it is missing."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making the peers' environment in {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    return python


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="the environment of the peers; made when missing")
    parser.add_argument("--only", choices=SECTIONS)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--jobs", type=int, default=300, help="for each case and round (300; at least 200)")
    parser.add_argument("--requests", type=int, default=200, help="for each kind and round (200)")
    parser.add_argument("--notes", type=int, default=40, help="whose wait is timed, for each round (40)")
    parser.add_argument("--folder", type=Path, help="where the databases are made; it should be on a real disk")
    parser.add_argument("--json", type=Path, help="also write every run here")
    return parser


if __name__ == "__main__":
    main()
