"""Whole-process time and peak memory of a command, with all its children."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Run:
    """One run: wall time in seconds, and the largest sum of resident memory over the process tree, in MiB."""

    seconds: float
    peak_mib: float


def run(command: Sequence[str], folder: Path) -> Run:
    """Run a command to its end. Raises CalledProcessError when it fails, so that no figure comes from a failure."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = [0.0]
    sampler = threading.Thread(target=_sample, args=(process, peak))
    sampler.start()
    _, stderr = process.communicate()
    seconds = time.perf_counter() - started
    sampler.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command), stderr=stderr)
    return Run(seconds, peak[0])


def _sample(process: subprocess.Popen[bytes], peak: list[float]) -> None:
    while process.poll() is None:
        resident = sum(_resident(pid) for pid in _tree(process.pid))
        peak[0] = max(peak[0], resident / 2**20)
        time.sleep(0.02)


def _tree(root: int) -> set[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    tree, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in tree} - tree
        tree |= more
        grown = bool(more)
    return tree


def _resident(pid: int) -> int:
    """Proportional resident bytes: pages that several processes share are counted once over all of them."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
