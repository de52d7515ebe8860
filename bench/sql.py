"""Times `sql` on a made project of 2,000 files and 374,000 lines: SQL, Python, TypeScript and Go, as a whole process.

One file in twenty speaks of the bound table. The others change other tables, as in a real project.

.venv/bin/python bench/sql.py [--rounds N] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from processes import peak_mib, seconds

FILES, LINES = 2_000, 374_000
LIMIT = 4.0
"""Seconds for the whole process."""
NAMES = ("order", "invoice", "payment", "customer", "address", "product", "basket", "shipment", "refund", "voucher")
STATES = ("pending", "retry_wait", "completed", "failed")
SCHEMA = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT NOT NULL, attempts INTEGER NOT NULL, note TEXT);\n"
KINDS = {
    "sql": ("-- {n}: what is known of one {n}", "-- name: {n}_{i}", "{s};", "SELECT id, note FROM {n}s\nWHERE a = :a;"),
    "py": ("# what is known of one {n}", "def {n}_{i}(connection, {n}, a):", '    connection.execute("""{s}""", (a,))',
           "    return [each.note for each in {n}.entries if each.a == a]"),
    "ts": ("// what is known of one {n}", "export async function {n}{i}(db: Db) {{", "  await db.run(`{s}`)",
           "  return a\n}}"),
    "go": ("// what is known of one {n}", "func {n}{i}(db *sql.DB, a int) error {{", "\t_, err := db.Exec(`{s}`, a)",
           "\treturn err\n}}"),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="make the project here and leave it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        lines = make_project(folder)
        command = [sys.executable, "-m", "arrowproof", "sql", "lifecycle.json"]
        runs, work = [], []
        for _ in range(options.rounds):
            before = _worked()
            runs.append(seconds(command, folder))
            work.append(_worked() - before)
        peak = peak_mib(command, folder)
    busy = f"{os.getloadavg()[0]:.1f} processes at work"
    print(f"Python {platform.python_version()}, {platform.machine()}; {FILES:,} files, {lines:,} lines; {busy}")
    said = ", ".join(f"{run:.2f}" for run in runs)
    print(f"sql: {said} s; median {statistics.median(runs):.2f}, limit {LIMIT:.2f}")
    print(f"processor: {', '.join(f'{run:.2f}' for run in work)} s; median {statistics.median(work):.2f}")
    print(f"peak {peak:.0f} MiB")


def _worked() -> float:
    """The seconds that the processor has worked for the commands so far: a busy machine does not change them much."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def make_project(folder: Path) -> int:
    """Write the project and its lifecycle into a folder; the number of its lines. The same each time."""
    chance = random.Random(17)
    written = 0
    for number in range(FILES):
        suffix = list(KINDS)[number % len(KINDS)]
        file = folder / "src" / f"part{number // 100}" / f"file{number}.{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        wanted = (LINES * (number + 1)) // FILES - written
        text = _file(suffix, wanted, chance, has_jobs=number // len(KINDS) % 20 == 7)
        if number == 0:
            text = SCHEMA + text[: text.rindex("\n", 0, -1) + 1]
        file.write_text(text, encoding="utf-8")
        written += text.count("\n")
    (folder / "lifecycle.json").write_text(json.dumps(_lifecycle()), encoding="utf-8")
    return written


def _file(suffix: str, lines: int, chance: random.Random, has_jobs: bool) -> str:
    """A file of so many lines. Every third function of it runs a statement."""
    comment, head, statement, body = KINDS[suffix]
    made: list[str] = []
    count = 0
    while count < lines - 8:
        name = chance.choice(NAMES)
        table = "jobs" if has_jobs and chance.random() < 0.2 else f"{name}s"
        block = [comment.format(n=name), head.format(n=name, i=count)]
        if chance.random() < 0.4 or suffix == "sql":
            block.append(statement.format(n=name, s=_statement(table, chance)))
        block += [body.format(n=name), ""]
        text = "\n".join(block)
        made.append(text)
        count += text.count("\n") + 1
    return "\n".join(made) + "\n" * (lines - count + 1)


def _statement(table: str, chance: random.Random) -> str:
    source, target = chance.sample(STATES, 2)
    return chance.choice(
        [
            f"UPDATE {table}\n   SET status = '{target}', note = 'a note'\n WHERE id = :id AND status = '{source}'",
            f"INSERT INTO {table} (status, attempts, note)\nVALUES ('pending', 0, :note)",
            f"DELETE FROM {table} WHERE id = :id\n AND status IN ('completed', 'failed') AND note IS NOT NULL",
        ]
    )


def _lifecycle() -> dict[str, object]:
    arrows = [{"id": "make", "to": "pending"}]
    arrows += [{"id": f"{a}-{b}", "from": a, "to": b} for a in STATES for b in STATES if a != b]
    arrows += [{"id": f"drop-{state}", "from": state} for state in ("completed", "failed")]
    return {
        "format": "arrowproof.lifecycle/1",
        "id": "job",
        "title": "Job",
        "binding": {"table": "jobs", "key": ["id"], "state": "status"},
        "states": [{"id": state, "kind": "active"} for state in STATES],
        "arrows": arrows,
        "sources": ["src/**/*.*"],
    }


if __name__ == "__main__":
    main()
