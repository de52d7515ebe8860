"""Whole-process time and peak memory of a command, with all its children."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path


def seconds(command: Sequence[str], folder: Path) -> float:
    """The wall time of a command, in seconds.

    Raises CalledProcessError when it fails, so that no figure comes from a failure.
    """
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return time.perf_counter() - started


def peak_mib(command: Sequence[str], folder: Path) -> float:
    """The largest sum of resident memory over a command and its children, in MiB, looked at every 20 ms.

    A run of its own: reading the memory of many processes would slow down a run that is timed.
    """
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = [0.0]
    sampler = threading.Thread(target=_sample, args=(process, peak))
    sampler.start()
    status = process.wait()
    sampler.join()
    if status:
        raise subprocess.CalledProcessError(status, list(command))
    return peak[0]


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
