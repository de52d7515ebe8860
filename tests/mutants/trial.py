"""The trial of a mutant: the checks that may kill it, the cheapest first, and what they said.

A mutant is killed by a verdict alone: exit status 1 of ``arrowproof sql`` or ``arrowproof prove``, or a proof of a few
tours that does not hold. What breaks the tool, or is refused as input, kills nothing.

A proof of a few tours is made of what ``prove`` is made of, scan, drive, judgement and report. It drives some of the
tours that ``prove`` makes and judges their transitions alone, and so what it finds ``prove`` finds as well.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arrowproof.cli.main import status_of
from arrowproof.conformance.bundled import NotesDriver
from arrowproof.conformance.drive import drive
from arrowproof.conformance.driver import Driver
from arrowproof.conformance.matrix import build_matrix, scan
from arrowproof.conformance.proof import assemble_evidence
from arrowproof.conformance.report_json import report_json
from arrowproof.conformance.trials import Trials
from arrowproof.conformance.verdict import holds, judge
from arrowproof.errors import DOES_NOT_HOLD, HOLDS
from arrowproof.model.evidence import Evidence
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.record import record
from arrowproof.model.tours import Plan, Tour, plan_tours
from arrowproof.model.transitions import transition_name
from tests.mutants.table import Check, Mutant


class NoVerdictError(Exception):
    """A check came to no verdict: the tool broke, or took what it was given for wrong input."""


@record
class Judgement:
    """What a check came to: its exit status, and the reasons that stand in its JSON, none when it holds."""

    check: Check
    status: int
    reasons: tuple[str, ...]
    seconds: float

    def kills(self, mutant: Mutant) -> bool:
        """Whether a mutant is found out as it is said to be."""
        return self.status == DOES_NOT_HOLD and self.check is mutant.check and self.reason(mutant) is not None

    def reason(self, mutant: Mutant) -> str | None:
        """The first reason that says what it has to say of a mutant."""
        wanted = mutant.reason
        if self.check is Check.WHOLE:
            # A sneak path is told in other words there, by its file and line.
            wanted = wanted.removeprefix("sneak path ").partition(" at ")[0]
        return next((reason for reason in self.reasons if wanted in reason), None)


def try_mutant(mutant: Mutant, package_folder: Path, run_folder: Path) -> Judgement:
    """Try the checks up to the one that the mutant is said to be killed by, and give the first that does not hold.

    Args:
        mutant: what is tried.
        package_folder: the folder that holds the changed package.
        run_folder: a folder that is not there yet, for the service to work in.
    """
    service = package_folder / "arrowproof" / "service"
    # The SQL, and the code that was changed: to follow the rest, which is as it was, takes longer than all else.
    changed = (mutant.change.file,) if mutant.change.file.endswith(".py") else ()
    sources = ("sql/*.sql", "sql/sqlite/*.sql", *changed)
    judgement = check_sql(package_folder, *(str(file) for glob in sources for file in sorted(service.glob(glob))))
    if judgement.status == HOLDS and mutant.check is not Check.SQL:
        is_killed = mutant.check is Check.KILL
        judgement = check_tours(package_folder, run_folder, mutant.tours, kills=is_killed, sources=sources)
    return judgement


def check_sql(package_folder: Path, *options: str) -> Judgement:
    """What ``arrowproof sql`` says of a copy of the service; see :func:`check_sql_of`."""
    return check_sql_of(_model(package_folder), *options)


def check_sql_of(model: Path, *options: str) -> Judgement:
    """What ``arrowproof sql`` says of a lifecycle file, with these options and of these files.

    Raises:
        NoVerdictError: the command came to none.
    """
    started, out = time.monotonic(), io.StringIO()
    with redirect_stdout(out):
        status = status_of(["sql", str(model), "--json", *options])
    if status not in (HOLDS, DOES_NOT_HOLD):
        raise NoVerdictError(f"arrowproof sql ended with {status}: {out.getvalue()}")
    return Judgement(Check.SQL, status, tuple(_reasons(json.loads(out.getvalue()))), time.monotonic() - started)


def check_tours(
    package_folder: Path, run_folder: Path, goals: Sequence[str], *, kills: bool = False, sources: Sequence[str] = ()
) -> Judgement:
    """What a proof of the tours to these goals says of a copy of the service; see :func:`check_plan`.

    ``sources`` are globs that are read in the place of the model's own.
    """
    lifecycle = load_lifecycle(_model(package_folder))
    if sources:
        lifecycle = replace(lifecycle, sources=tuple(sources))
    plan = choose(lifecycle, goals)
    return check_plan(lifecycle, NotesDriver(package_folder), run_folder, plan, kills=kills)


def check_plan(
    lifecycle: Lifecycle,
    driver: Driver,
    run_folder: Path,
    plan: Plan,
    *,
    kills: bool = False,
    races: bool = False,
    database: str | None = None,
) -> Judgement:
    """What a proof of these tours says; with ``kills`` on both sides of the commit of each goal.

    With ``races`` several workers are set off on one row, for each pair of their steps that leave one state.
    ``database`` is the URL of an empty PostgreSQL database, for a service that works on one.

    Raises:
        InputError: the service does not start, say.
    """
    started, clock = datetime.now(UTC), time.monotonic()
    trials = Trials(crash_checks=kills, interleavings=races)
    driven = drive(lifecycle, driver, run_folder, trials=trials, plan=plan, database=database)
    matrix = build_matrix(lifecycle, scan(lifecycle))
    seconds = round(time.monotonic() - clock, 3)
    evidence = assemble_evidence(lifecycle, matrix, driven, started=started, seconds=seconds)
    evidence = _narrow(lifecycle, evidence, plan, driven.problems)
    report = json.loads(report_json(evidence, lifecycle))
    has_walked_well = all(walk.problem is None for each in evidence.transitions for walk in each.walks)
    last_check = Check.RACE if races else Check.KILL if kills else Check.WALK
    return Judgement(
        last_check if has_walked_well else Check.WALK,
        HOLDS if holds(evidence.verdict) else DOES_NOT_HOLD,
        tuple(report["reasons"]),
        time.monotonic() - clock,
    )


def check_whole(package_folder: Path, out: Path) -> Judgement:
    """What ``arrowproof prove`` says of a copy of the package, as a command that is run in it.

    Raises:
        NoVerdictError: the command came to none.
    """
    started = time.monotonic()
    command = [sys.executable, "-m", "arrowproof", "prove", "notes", "--json", "--out", str(out)]
    done = subprocess.run(command, cwd=package_folder, capture_output=True, text=True, check=False)
    if done.returncode not in (HOLDS, DOES_NOT_HOLD):
        raise NoVerdictError(f"arrowproof prove ended with {done.returncode}: {done.stderr[-2000:]}")
    reasons = tuple(json.loads(done.stdout)["reasons"])
    return Judgement(Check.WHOLE, done.returncode, reasons, time.monotonic() - started)


def _model(package_folder: Path) -> Path:
    return package_folder / "arrowproof" / "service" / "notes-job.lifecycle.json"


def _reasons(said: dict[str, Any]) -> list[str]:
    """Why the JSON of ``sql`` does not hold, one sentence each."""
    return [
        *(
            f"sneak path {_name(path)}{_places(path['possible'])}"
            for path in said["sneak_paths"]
            if not path["accepted"]
        ),
        *(f"{_name(each)} is not written" for each in said["transitions"] if not each["written"]),
        *(f"{each['reason']}{_places([each['statement']])}" for each in (*said["undecided"], *said["dynamic"])),
    ]


def _name(ends: dict[str, Any]) -> str:
    return transition_name(ends["from"], ends["to"])


def _places(statements: Sequence[dict[str, Any]]) -> str:
    return "".join(f" at {each['place']['name']}" for each in statements)


def choose(lifecycle: Lifecycle, goals: Sequence[str]) -> Plan:
    """The tours of the whole plan that have these goals."""
    planned = plan_tours(lifecycle).tours
    return Plan(tuple(next(tour for tour in planned if _is_to(tour, goal)) for goal in goals))


def _is_to(tour: Tour, goal: str) -> bool:
    name, _, arrow = goal.partition(" by ")
    return tour.goal.name == name and (not arrow or arrow in tour.goal_path)


def _narrow(lifecycle: Lifecycle, evidence: Evidence, plan: Plan, problems: Sequence[str]) -> Evidence:
    """The evidence of the transitions that a plan is for, and of those on the way to them, judged by itself."""
    steps = {step.pair for tour in plan.tours for step in tour.steps}
    transitions = tuple(each for each in evidence.transitions if (each.source, each.target) in steps)
    verdict, reasons = judge(
        transitions,
        evidence.sneak_paths,
        evidence.undecided,
        evidence.dynamic,
        problems,
        states=lifecycle.stored_states,
        interleavings=evidence.interleavings,
    )
    return replace(evidence, transitions=transitions, verdict=verdict, reasons=reasons)
