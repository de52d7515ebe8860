"""A lifecycle and the evidence of two proofs of it, made by hand: the note job of the design, well and broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.conformance.coverage import measure_coverage
from arrowproof.conformance.matrix import Matrix, build_matrix, scan
from arrowproof.conformance.sneak_paths import merge_sneak_paths
from arrowproof.conformance.verdict import judge
from arrowproof.model.evidence import (
    Environment,
    Evidence,
    JournalKind,
    JournalRow,
    Kill,
    Place,
    Process,
    Row,
    Side,
    SneakPath,
    SourceFile,
    Statement,
    TransitionEvidence,
    Undecided,
    Verdict,
    Walk,
)
from arrowproof.model.lifecycle import AcceptedSneakPath, Arrow, Binding, Kind, Lifecycle, State
from tests.conformance.matrices import DDL, Judge
from tests.conformance.matrices import note_job as matrix_job

ACCEPT = Statement(
    Place("sql/accept.sql", 12, "insert_job"),
    "INSERT INTO jobs (note_id, status, attempts, max_attempts)\nVALUES (:note_id, 'pending', 0, :max_attempts);",
)
SUCCEED = Statement(
    Place("sql/worker.sql", 38, "succeed"),
    "UPDATE jobs\n   SET status = 'completed',\n       next_run_at = NULL\n WHERE id = :id\n"
    "   AND status IN ('pending', 'retry_wait');",
)
RETRY = Statement(
    Place("sql/worker.sql", 49, "retry"),
    "UPDATE jobs\n   SET status = 'retry_wait'\n WHERE id = :id\n   AND status IN ('pending', 'retry_wait');",
)
EXHAUST = Statement(
    Place("sql/worker.sql", 62, "exhaust"),
    "UPDATE jobs\n   SET status = 'failed'\n WHERE id = :id\n   AND status IN ('pending', 'retry_wait');",
)
TOURS: tuple[tuple[str, ...], ...] = (
    ("pending", "completed"),
    ("pending", "retry_wait", "completed"),
    ("pending", "retry_wait", "retry_wait", "failed"),
    ("pending", "failed"),
)
PATHS: dict[tuple[str | None, str | None], tuple[str, ...]] = {
    (None, "pending"): ("accept",),
    ("pending", "completed"): ("pick", "succeed"),
    ("pending", "retry_wait"): ("pick", "retry"),
    ("pending", "failed"): ("pick", "exhaust"),
    ("retry_wait", "completed"): ("due", "succeed"),
    ("retry_wait", "retry_wait"): ("due", "retry"),
    ("retry_wait", "failed"): ("due", "exhaust"),
}
WRITTEN = {"pending": ACCEPT, "completed": SUCCEED, "retry_wait": RETRY, "failed": EXHAUST}


def row_of(key: int, state: str | None, attempts: int) -> Row | None:
    if state is None:
        return None
    return (("id", key), ("status", state), ("attempts", attempts), ("next_run_at", f"2026-11-29T15:09:0{attempts}Z"))


def journal_row(order: int, key: int, source: str | None, target: str, attempts: int) -> JournalRow:
    return JournalRow(
        order=order,
        operation="insert" if source is None else "update",
        kind=JournalKind.NAMED if source == target else JournalKind.CHANGED,
        key=(("id", key),),
        old_state=source,
        new_state=target,
        old_watched=() if source is None else (("attempts", attempts - 1),),
        new_watched=(("attempts", attempts),),
    )


def make_walks() -> list[Walk]:
    """One walk for each step of each tour, in the order in which they were made."""
    walks: list[Walk] = []
    for key, tour in enumerate(TOURS, start=1):
        source: str | None = None
        for attempts, target in enumerate(tour):
            role = "server" if source is None else "worker"
            walks.append(
                Walk(
                    source=source,
                    target=target,
                    path=PATHS[source, target],
                    key=(("id", key),),
                    processes=(Process(role, 4200 + len(walks), "running" if role == "server" else "exit 0"),),
                    before=row_of(key, source, attempts - 1),
                    after=row_of(key, target, attempts),
                    journal=(journal_row(len(walks) + 1, key, source, target, attempts),),
                )
            )
            source = target
    return walks


def make_kill(source: str | None, target: str, side: Side, key: int) -> Kill:
    done = side is Side.AFTER
    return Kill(
        source=source,
        target=target,
        side=side,
        point="after-commit" if done else "after-update",
        key=(("id", key),),
        processes=(Process("worker", 5000 + key, "SIGKILL"), Process("worker", 6000 + key, "exit 0")),
        before=row_of(key, source, 0),
        found=row_of(key, target, 1) if done else row_of(key, source, 0),
        restarted=row_of(key, target, 1),
        journal=(journal_row(100 + key, key, source, target, 1),),
    )


def make_transitions() -> tuple[TransitionEvidence, ...]:
    walks = make_walks()
    return tuple(
        TransitionEvidence(
            source=source,
            target=target,
            paths=(path,),
            written=(WRITTEN[target or ""],),
            walks=tuple(walk for walk in walks if (walk.source, walk.target) == (source, target)),
            kills=tuple(make_kill(source, target or "", side, 20 + 2 * at + i) for i, side in enumerate(Side)),
        )
        for at, ((source, target), path) in enumerate(PATHS.items())
    )


@pytest.fixture
def note_job() -> Lifecycle:
    """The example lifecycle of the design."""
    return Lifecycle(
        id="notes-job",
        title="Note job",
        summary="One note, one history row, at most three attempts.",
        binding=Binding("jobs", ("id",), "status", watch=("attempts",)),
        states=(
            State("pending", Kind.WAITING, "Pending", "pending"),
            State("attempt", Kind.PASSING, "Attempt", "attempt"),
            State("retry_wait", Kind.WAITING, "Retry wait", "retry_wait"),
            State("completed", Kind.SUCCESS, "Completed", "completed"),
            State("failed", Kind.FAILURE, "Failed", "failed"),
        ),
        arrows=(
            Arrow("accept", None, "pending", "POST /notes", "new Idempotency-Key"),
            Arrow("pick", "pending", "attempt", "poll"),
            Arrow("due", "retry_wait", "attempt", "poll", "next_run_at <= now"),
            Arrow("succeed", "attempt", "completed", effect="history row"),
            Arrow("retry", "attempt", "retry_wait", guard="attempts < max_attempts"),
            Arrow("exhaust", "attempt", "failed", guard="attempts = max_attempts"),
        ),
        sources=("sql/*.sql",),
    )


@pytest.fixture
def note_transitions() -> tuple[TransitionEvidence, ...]:
    """All seven transitions of the note job: written, walked and survived."""
    return make_transitions()


@pytest.fixture
def note_evidence(note_job: Lifecycle, note_transitions: tuple[TransitionEvidence, ...]) -> Evidence:
    """The evidence of a proof of the note job that went well."""
    return Evidence(
        model_id=note_job.id,
        model_title=note_job.title,
        model_sha256="9f2c41ba" * 8,
        sources=(SourceFile("sql/accept.sql", "71d0e2c4" * 8, 1), SourceFile("sql/worker.sql", "3ad814f6" * 8, 3)),
        started="2026-11-29T15:09:02Z",
        seconds=7.25,
        environment=Environment("0.1.0", "3.11.2", "Linux x86_64", "SQLite", "3.53.1", "wal", "not affected"),
        transitions=note_transitions,
        sneak_paths=(),
        undecided=(),
        dynamic=(),
        coverage=measure_coverage(note_job, note_transitions),
        verdict=Verdict.PROVEN,
        reasons=(),
    )


@pytest.fixture
def unwalked(note_transitions: tuple[TransitionEvidence, ...]) -> tuple[TransitionEvidence, ...]:
    """The seven transitions when nothing was run: written alone."""
    return tuple(replace(transition, walks=(), kills=()) for transition in note_transitions)


OPEN = Statement(Place("sql/worker.sql", 38, "succeed"), "UPDATE jobs\n   SET status = 'completed'\n WHERE id = :id;")
PURGE = Statement(Place("sql/archive.sql", 4, "purge"), "DELETE FROM jobs\n WHERE status = 'completed';")
ODD = Statement(Place("sql/odd.sql", 5), "INSERT OR REPLACE INTO jobs SELECT * FROM old_jobs;")
SEEN = JournalRow(47, "update", JournalKind.CHANGED, (("id", 9),), "failed", "completed", (), ())


@pytest.fixture
def lenient_job(note_job: Lifecycle) -> Lifecycle:
    """The note job whose owner accepts that completed rows are removed."""
    reason = "the archive job removes completed rows after 90 days"
    return replace(note_job, accepted_sneak_paths=(AcceptedSneakPath("completed", None, reason),))


@pytest.fixture
def broken_evidence(lenient_job: Lifecycle, note_evidence: Evidence) -> Evidence:
    """The evidence of a proof in which everything went wrong that can."""
    created, completed, retried, failed, due_completed, due_retried, due_failed = note_evidence.transitions
    before, after = completed.kills
    transitions = (
        created,
        replace(completed, written=(OPEN,), kills=(before, replace(after, problem="two rows of history were found."))),
        replace(retried, walks=(replace(retried.walks[0], problem="the journal holds pending -> failed."),)),
        replace(failed, walks=(), kills=()),
        replace(due_completed, written=(OPEN,), kills=()),
        replace(due_retried, written=()),
        replace(due_failed, written=(), walks=(), kills=()),
    )
    sneak_paths = merge_sneak_paths(
        lenient_job,
        [SneakPath("failed", "completed", (OPEN,)), SneakPath("completed", "completed", (OPEN,))],
        [
            SneakPath("completed", None, (PURGE,), accepted="90 days"),
            SneakPath("failed", "completed", happened=(SEEN,)),
        ],
    )
    undecided = (Undecided(ODD, "REPLACE may remove another row."),)
    verdict, reasons = judge(transitions, sneak_paths, undecided)
    return replace(
        note_evidence,
        transitions=transitions,
        sneak_paths=sneak_paths,
        undecided=undecided,
        coverage=measure_coverage(lenient_job, transitions),
        verdict=verdict,
        reasons=reasons,
    )


@pytest.fixture
def failing_evidence(note_evidence: Evidence) -> Evidence:
    """The evidence of a proof whose driver raised the same in every walk and every kill."""
    raised = "The driver failed: RuntimeError: no such route (driver.py:12) The journal holds"
    transitions = tuple(
        replace(
            transition,
            walks=(
                replace(transition.walks[0], problem=f"{raised} {'pending -> failed' if number == 3 else 'nothing'}."),
            ),
            kills=tuple(
                replace(
                    kill, point="", problem=f"The way to {kill.source} failed at created -> pending: {raised} nothing."
                )
                for kill in transition.kills
            ),
        )
        for number, transition in enumerate(note_evidence.transitions)
    )
    verdict, reasons = judge(transitions, problems=["The journal's triggers no longer stand."])
    return replace(note_evidence, transitions=transitions, verdict=verdict, reasons=reasons)


@pytest.fixture
def assert_golden() -> Callable[[str, str], None]:
    """Compares a text with its golden file; what differs is saved beside it."""

    def compare(name: str, got: str) -> None:
        golden = Path(__file__).parent / "golden" / name
        saved = golden.with_name(f"{golden.stem}.got{golden.suffix}")
        if not golden.exists() or got != golden.read_text(encoding="utf-8"):
            saved.write_text(got, encoding="utf-8", newline="\n")
            pytest.fail(f"{name} has changed. Look at {saved.name} beside it; if it is right, rename it to {name}")
        saved.unlink(missing_ok=True)

    return compare


@pytest.fixture(name="judge")
def judge_sql_of_a_job(tmp_path: Path) -> Judge:
    """Judge SQL, with the table's usual declaration in another file, and with the model changed by keywords."""

    def judge_sql(sql: str, ddl: str = DDL, **changes: object) -> Matrix:
        (tmp_path / "queries.sql").write_text(sql, encoding="utf-8")
        (tmp_path / "schema.sql").write_text(ddl, encoding="utf-8")
        lifecycle = replace(matrix_job(tmp_path), **changes)  # type: ignore[arg-type]
        return build_matrix(lifecycle, scan(lifecycle))

    return judge_sql
