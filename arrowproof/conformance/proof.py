"""The proof: scan, drive, kill, judge, report.

What it writes into the output folder:

===============  =====================================================================
``evidence.json``  the whole evidence, ``arrowproof.evidence/2``
``report.json``    the stable report, ``arrowproof.report/2``
``report.html``    the report as a page, with times and process ids
``report.md``      the report as a comment on a pull request
``junit.xml``      the report as a CI server reads it
``run/``           the service's own files: its database, and what its processes said
===============  =====================================================================

Evidence and reports of the run before are removed ahead of the drive: a run that breaks off leaves no verdict. Those of
this run are there together, or none is: on a disk that fills up meanwhile, no verdict stays either.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from arrowproof.conformance.abilities import NO_INTERLEAVINGS
from arrowproof.conformance.attribution import Attribution
from arrowproof.conformance.baseline import Baseline, baseline_of
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.coverage import measure_coverage
from arrowproof.conformance.database_triggers import unknown_triggers
from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.driver import Driver
from arrowproof.conformance.matrix import Matrix, build_matrix, scan
from arrowproof.conformance.output import OutputFolder, open_output
from arrowproof.conformance.own_database import proof_database
from arrowproof.conformance.report_forms import FILES, FORMS
from arrowproof.conformance.sneak_paths import merge_sneak_paths
from arrowproof.conformance.sources import read_sources
from arrowproof.conformance.trials import USUAL, Trials
from arrowproof.conformance.verdict import judge
from arrowproof.conformance.walks import attempt
from arrowproof.errors import InputError
from arrowproof.model.evidence import Evidence, Guard, Kill, Statement, TransitionEvidence, Walk
from arrowproof.model.evidence_document import dump_evidence
from arrowproof.model.lifecycle import Dialect, Lifecycle
from arrowproof.model.progress import Progress
from arrowproof.model.transitions import Pair, Transition, derive_transitions

if TYPE_CHECKING:
    from arrowproof.conformance.guard_check import GuardCheck

EVIDENCE_FILE = "evidence.json"
_WRITTEN = (EVIDENCE_FILE, *FILES)


def prove(
    lifecycle: Lifecycle,
    driver: Driver,
    out: Path,
    progress: Progress | None = None,
    *,
    trials: Trials = USUAL,
    server: str | None = None,
    baseline: Baseline | None = None,
) -> Evidence:
    """Prove a lifecycle against the service behind ``driver`` and write evidence and reports into ``out``.

    Args:
        lifecycle: a lifecycle with a binding and sources, which are read as the SQL of PostgreSQL with ``server``.
        driver: starts, walks and kills the service; it is stopped in any case, an interrupt included.
        out: the output folder; made when it is missing.
        progress: is told what comes next, how many parts are done, and how many there are.
        trials: what is tried of the service beside the walk of every transition.
        server: the URL of a PostgreSQL server, on which a database is made for the proof and dropped after it, or the
            word ``postgresql`` for a server of our own; a SQLite file in ``out`` when left out.
        baseline: an earlier proof of this lifecycle; the reports then say what has changed since.

    Returns:
        The evidence with its verdict, as it stands in the evidence file.

    Raises:
        InputError: the model lacks binding or sources, a source cannot be read, the service does not start, or the
            output folder cannot be used.
        ModelError: the transitions of the model cannot be derived.
    """
    _require_provable(lifecycle)
    if server is not None:
        # What a statement can do there is judged by the rules of the database that runs it.
        lifecycle = replace(lifecycle, dialect=Dialect.POSTGRESQL)
    started, clock = datetime.now(UTC), time.monotonic()
    try:
        with open_output(out) as output:
            matrix = build_matrix(lifecycle, scan(lifecycle))
            folder = output.new_run() / "service"
            output.discard(*_WRITTEN)
            with proof_database(server) as database:
                driven = drive(lifecycle, driver, folder, progress, trials=trials, database=database)
            if not trials.interleavings:
                driven = replace(driven, left_out=(*driven.left_out, NO_INTERLEAVINGS))
            if unknown := unknown_triggers(driven.triggers, read_sources(lifecycle) if driven.triggers else ()):
                matrix = build_matrix(lifecycle, scan(lifecycle, triggers=unknown))
            seconds = round(time.monotonic() - clock, 3)
            evidence = assemble_evidence(lifecycle, matrix, driven, started=started, seconds=seconds)
            _write(output, evidence, lifecycle, baseline)
    finally:
        # Once more, for an interrupt in the drive's own stop; what that one met is a problem of the run already.
        attempt(driver.stop)
    return evidence


def assemble_evidence(
    lifecycle: Lifecycle, matrix: Matrix, driven: DriveResult, *, started: datetime, seconds: float
) -> Evidence:
    """Bring what was scanned and what was driven together under each transition, and judge it.

    Args:
        lifecycle: the model.
        matrix: what the statements can make.
        driven: what the run made.
        started: when the proof began, in UTC.
        seconds: how long it took.
    """
    driven = _attributed(matrix, driven)
    transitions = tuple(_found_of(each, matrix, driven) for each in derive_transitions(lifecycle))
    # What a statement could make and the database refuses cannot happen, unless it did.
    possible = () if _is_guarded(driven) else matrix.sneak_paths
    sneak_paths = merge_sneak_paths(lifecycle, possible, driven.sneak_paths)
    verdict, reasons = judge(
        transitions,
        sneak_paths,
        matrix.undecided,
        matrix.dynamic,
        driven.problems,
        pinned=matrix.pinned,
        states=lifecycle.stored_states,
        guard=driven.guard,
        interleavings=driven.interleavings,
        events=driven.events,
        random_walks=driven.random_walks,
    )
    return Evidence(
        model_id=lifecycle.id,
        model_title=lifecycle.title,
        model_sha256=lifecycle.origin.sha256,
        sources=tuple(matrix.sources),
        started=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=seconds,
        environment=driven.environment,
        transitions=transitions,
        sneak_paths=sneak_paths,
        undecided=tuple(matrix.undecided),
        dynamic=tuple(matrix.dynamic),
        coverage=measure_coverage(lifecycle, transitions, driven.event_share),
        verdict=verdict,
        reasons=reasons,
        guard=_credited(driven.guard),
        events=driven.events,
        random_walks=driven.random_walks,
        detours=driven.detours,
        left_out=driven.left_out,
        interleavings=driven.interleavings,
    )


def _is_guarded(driven: DriveResult) -> bool:
    return driven.guard is not None and driven.guard.holds


def _credited(guard: GuardCheck | None) -> Guard | None:
    """The guard as evidence shows it. One that refuses too much is not credited either: the reasons name it."""
    if guard is None:
        return None
    shown = guard.as_evidence()
    return shown if shown.holds == guard.holds else None


def _require_provable(lifecycle: Lifecycle) -> None:
    if lifecycle.binding is None:
        raise InputError(
            f"lifecycle {lifecycle.id!r} names no table. Add a binding, such as "
            '"binding": {"table": "jobs", "key": ["id"], "state": "status"}'
        )
    if not lifecycle.sources:
        raise InputError(
            f"lifecycle {lifecycle.id!r} names no SQL to read. Add its files, relative to the lifecycle file, such as "
            '"sources": ["sql/*.sql"]'
        )


def _attributed(matrix: Matrix, driven: DriveResult) -> DriveResult:
    """The same drive, in which journal rows know their statement where the database told what the client sent."""
    found = (*matrix.written.values(), *(path.possible for path in matrix.sneak_paths))
    dynamic = (target.statement for target in matrix.dynamic)
    attribution = Attribution((*(statement for of_pair in found for statement in of_pair), *dynamic))
    return replace(
        driven,
        walks=tuple(replace(walk, journal=attribution.attributed(walk.journal)) for walk in driven.walks),
        kills=tuple(replace(kill, journal=attribution.attributed(kill.journal)) for kill in driven.kills),
        interleavings=tuple(replace(it, journal=attribution.attributed(it.journal)) for it in driven.interleavings),
        sneak_paths=tuple(replace(path, happened=attribution.attributed(path.happened)) for path in driven.sneak_paths),
    )


def _found_of(transition: Transition, matrix: Matrix, driven: DriveResult) -> TransitionEvidence:
    walks = _of_pair(driven.walks, transition.pair)
    written = tuple(matrix.written.get(transition.pair, ()))
    if not written and walks and _is_guarded(driven):
        written = _by_parameter(transition, matrix)
    return TransitionEvidence(
        source=transition.source,
        target=transition.target,
        paths=transition.paths,
        written=written,
        walks=walks,
        kills=_of_pair(driven.kills, transition.pair),
    )


def _by_parameter(transition: Transition, matrix: Matrix) -> tuple[Statement, ...]:
    """The statements whose dynamic target may be this one's: a guard lets them go nowhere else."""
    if transition.target is None:
        return ()
    return tuple(each.statement for each in matrix.dynamic if transition.source in each.sources)


_Step = TypeVar("_Step", Walk, Kill)


def _of_pair(steps: Iterable[_Step], pair: Pair) -> tuple[_Step, ...]:
    return tuple(step for step in steps if (step.source, step.target) == pair)


def _write(output: OutputFolder, evidence: Evidence, lifecycle: Lifecycle, baseline: Baseline | None) -> None:
    try:
        output.write(EVIDENCE_FILE, dump_evidence(evidence))
        comparison = None if baseline is None else compare(baseline, baseline_of(evidence))
        for name, form in FILES.items():
            output.write(name, FORMS[form](evidence, lifecycle, comparison))
    except BaseException:
        for name in _WRITTEN:
            with suppress(InputError):
                output.discard(name)
        raise
