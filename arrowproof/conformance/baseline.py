"""The baseline: what an earlier proof of the same lifecycle came to, for a later one to be compared with.

It is read from an evidence file or from a JSON report, in any version that is still read, and holds of either what both
have: the verdict, coverage, what a guard refused, the rung of every transition, sneak paths, and the statements with
their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arrowproof.conformance.display import block
from arrowproof.errors import InputError, ModelError
from arrowproof.model.document import read_document
from arrowproof.model.evidence import DynamicTarget, Evidence, Place, Share, SneakPath, Statement, Undecided, Verdict
from arrowproof.model.evidence_document import MAX_EVIDENCE_BYTES, load_evidence
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import read_bytes
from arrowproof.model.record import record
from arrowproof.model.rung import Rung, rung_of
from arrowproof.model.schema import check_schema
from arrowproof.model.transitions import Pair

ACCEPTED, POSSIBLE_IN_RACE, POSSIBLE, HAPPENED = "accepted", "possible in a race", "possible", "happened"
"""What is known of a sneak path, the least bad first; one that is accepted is nothing else."""

GUARD = "guard"
"""What stands beside the coverage: undeclared writes that a guard refused, of those that were tried."""

_REPORT = "arrowproof.report/"


@record
class Baseline:
    """One proof as another is compared with it. Texts of statements are cut as reports cut them."""

    model_id: str
    model_sha256: str
    verdict: Verdict
    coverage: Mapping[str, Share]
    rungs: Mapping[Pair, Rung]
    sneak_paths: Mapping[Pair, str]
    statements: tuple[Statement, ...]


def read_baseline(path: Path, lifecycle: Lifecycle) -> Baseline:
    """The baseline in an evidence file or a JSON report.

    Raises:
        InputError: the file cannot be read, or is of another lifecycle.
        ModelError: it is neither evidence nor a report; every reason is listed.
    """
    data = read_bytes(path, limit=MAX_EVIDENCE_BYTES, maker="`arrowproof prove`")
    source = str(path)
    document = read_document(data, source, limit=MAX_EVIDENCE_BYTES)
    said = document.data.get("format") if isinstance(document.data, dict) else None
    if isinstance(said, str) and said.startswith(_REPORT):
        problems = [*document.problems, *check_schema(document, "report")]
        if problems:
            raise ModelError(source, problems)
        found = _baseline_of_report(document.data)
    else:
        found = baseline_of(load_evidence(data, source))
    if found.model_id != lifecycle.id:
        raise InputError(
            f"{path} is of the lifecycle {found.model_id!r}, not of {lifecycle.id!r}. "
            "Name an evidence.json or report.json that `arrowproof prove` made of this one"
        )
    return found


def baseline_of(evidence: Evidence) -> Baseline:
    """What of a proof is compared."""
    puzzling: tuple[Undecided | DynamicTarget, ...] = (*evidence.undecided, *evidence.dynamic)
    statements: list[Statement] = [
        *(statement for transition in evidence.transitions for statement in transition.written),
        *(statement for path in evidence.sneak_paths for statement in path.possible),
        *(it.statement for it in puzzling),
    ]
    guard = {} if evidence.guard is None else {GUARD: Share(evidence.guard.refused, evidence.guard.tried)}
    return Baseline(
        model_id=evidence.model_id,
        model_sha256=evidence.model_sha256,
        verdict=evidence.verdict,
        coverage={**{name: share for name, share in vars(evidence.coverage).items() if share is not None}, **guard},
        rungs={(it.source, it.target): rung_of(it, is_guarded=evidence.is_guarded) for it in evidence.transitions},
        sneak_paths={(it.source, it.target): _word_of(it) for it in evidence.sneak_paths},
        statements=_distinct(replace(it, sql=block(it.sql)) for it in statements),
    )


def _baseline_of_report(report: Mapping[str, Any]) -> Baseline:
    """The same from a JSON report that conforms to its schema."""
    transitions, sneak_paths = report["transitions"], report["sneak_paths"]
    statements: list[Mapping[str, Any]] = [
        *(statement for transition in transitions for statement in transition["written"]),
        *(statement for path in sneak_paths for statement in path["possible"]),
        *report["undecided"],
        *report["dynamic"],
    ]
    guard = {GUARD: Share(report["guard"]["refused"], report["guard"]["tried"])} if "guard" in report else {}
    return Baseline(
        model_id=report["model"]["id"],
        model_sha256=report["model"]["sha256"],
        verdict=Verdict(report["verdict"]),
        coverage={
            **{name: Share(it["covered"], it["total"]) for name, it in report["coverage"].items()},
            **guard,
        },
        rungs={(it["from"], it["to"]): Rung(it["rung"].replace(" ", "_")) for it in transitions},
        sneak_paths={
            (it["from"], it["to"]): _word(
                is_accepted=it["accepted"] is not None,
                has_happened=it["happened"] > 0,
                only_in_race=it.get("only_in_race", False),
            )
            for it in sneak_paths
        },
        statements=_distinct(Statement(Place(it["file"], it["line"], it["name"]), it["sql"]) for it in statements),
    )


def _distinct(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Each statement once: one that makes several transitions is listed under each of them."""
    return tuple(dict.fromkeys(statements))


def _word_of(path: SneakPath) -> str:
    return _word(
        is_accepted=path.accepted is not None, has_happened=bool(path.happened), only_in_race=path.only_in_race
    )


def _word(*, is_accepted: bool, has_happened: bool, only_in_race: bool) -> str:
    if is_accepted:
        return ACCEPTED
    if has_happened:
        return HAPPENED
    return POSSIBLE_IN_RACE if only_in_race else POSSIBLE
