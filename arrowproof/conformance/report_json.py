"""The report as JSON: ``arrowproof.report/2``, stable, for machines and for comparison.

It says nothing of times, process ids, keys or the machine (see :func:`arrowproof.conformance.report.stable_evidence`);
those stand in the evidence file. Members, in this order: ``format``, ``verdict``, ``reasons``, ``model``, ``sources``,
``coverage``, ``sneak_paths``, ``transitions``, ``undecided``, ``dynamic``; where the service has a guard ``guard``,
where events were fired ``events``, where several workers were set off on one row ``interleavings``, where random walks
were made ``random_walks``, where a longer way led elsewhere ``detours``, where not all was tried ``left_out``, where
the evidence is not of the model and sources as they are ``stale``, and where an earlier proof was given ``baseline``.
Null is creation in ``from`` and removal in ``to``. Long texts and values are cut and say so. ``report.schema.json`` of
:mod:`arrowproof.model` describes every member.

History of the format:

* ``arrowproof.report/2``: ``baseline``, ``guard``, ``only_in_race``, ``left_out``, ``events``, ``interleavings``,
  ``random_walks``, ``detours``, ``stale`` and the ``blow`` of a kill, which are optional. Files of version 1 are still
  read as baselines.
* ``arrowproof.report/1``: the first. The rungs ``not survived`` and ``guarded`` came later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from arrowproof.conformance.comparison import Comparison
from arrowproof.conformance.display import block, one_line, value_text
from arrowproof.conformance.report import stable_evidence
from arrowproof.model.evidence import (
    Blow,
    Detour,
    Evidence,
    IllegalEvent,
    Interleaving,
    JournalRow,
    Kill,
    Place,
    RandomWalks,
    Row,
    Scalar,
    Share,
    SneakPath,
    Statement,
    TransitionEvidence,
    Walk,
)
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.rung import rung_of
from arrowproof.model.transitions import transition_name

REPORT_FORMAT = "arrowproof.report/2"

_Object = dict[str, Any]


def report_json(
    evidence: Evidence, lifecycle: Lifecycle, comparison: Comparison | None = None, stale: Sequence[str] = ()
) -> str:
    """The stable report of one proof as JSON text with a line feed at the end: same run, same bytes.

    Args:
        evidence: the proof.
        lifecycle: the model that was proven, which says what of a row is stable.
        comparison: what has changed since an earlier proof, when there was one to compare with.
    """
    report = _report(stable_evidence(evidence, lifecycle))
    if stale:
        report["stale"] = list(stale)
    if comparison is not None:
        report["baseline"] = _baseline(comparison)
    text = json.dumps(report, ensure_ascii=False, indent=2)
    # A lone surrogate has no UTF-8; inside a JSON string its escape means the same.
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def _report(evidence: Evidence) -> _Object:
    return {
        "format": REPORT_FORMAT,
        "verdict": str(evidence.verdict),
        "reasons": list(evidence.reasons),
        "model": {"id": evidence.model_id, "title": evidence.model_title, "sha256": evidence.model_sha256},
        "sources": [vars(source) for source in evidence.sources],
        "coverage": {name: _share(share) for name, share in vars(evidence.coverage).items() if share},
        "sneak_paths": [_sneak_path(path) for path in evidence.sneak_paths],
        "transitions": [_transition(transition, evidence.is_guarded) for transition in evidence.transitions],
        "undecided": [{**_statement(it.statement), "reason": one_line(it.reason)} for it in evidence.undecided],
        "dynamic": [
            {**_statement(it.statement), "from": list(it.sources), "reason": one_line(it.reason)}
            for it in evidence.dynamic
        ],
        **({} if evidence.guard is None else {"guard": vars(evidence.guard)}),
        **({"interleavings": [_interleaving(it) for it in evidence.interleavings]} if evidence.interleavings else {}),
        **({"events": [_event(it) for it in evidence.events]} if evidence.events else {}),
        **({} if evidence.random_walks is None else {"random_walks": _random_walks(evidence.random_walks)}),
        **({"detours": [_detour(it) for it in evidence.detours]} if evidence.detours else {}),
        **({"left_out": list(evidence.left_out)} if evidence.left_out else {}),
    }


def _sneak_path(path: SneakPath) -> _Object:
    return {
        **_ends(path.source, path.target),
        "accepted": path.accepted,
        "happened": len(path.happened),
        **_happened_at(path),
        "possible": _statements(path.possible),
        **({"only_in_race": True} if path.only_in_race else {}),
    }


def _happened_at(path: SneakPath) -> _Object:
    """Where the statements stand that made it happen, as far as the database told what the client sent."""
    places = dict.fromkeys(row.written for row in path.happened if row.written is not None)
    return {"happened_at": [_place(place) for place in places]} if places else {}


def _transition(transition: TransitionEvidence, is_guarded: bool) -> _Object:
    return {
        **_ends(transition.source, transition.target),
        "paths": [list(path) for path in transition.paths],
        "rung": rung_of(transition, is_guarded=is_guarded).words,
        "written": _statements(transition.written),
        "walks": [_walk(walk) for walk in transition.walks],
        "kills": [_kill(kill) for kill in transition.kills],
    }


def _baseline(comparison: Comparison) -> _Object:
    return {
        "verdict": str(comparison.before),
        "same_model": comparison.is_same_model,
        "coverage": {
            name: {"covered": was.covered, "total": was.total}
            for name, was, _ in comparison.coverage
            if was is not None
        },
        "transitions": [
            {
                **_ends(*it.pair),
                "before": None if it.before is None else it.before.words,
                "after": None if it.after is None else it.after.words,
            }
            for it in comparison.transitions
        ],
        "sneak_paths": [{**_ends(*it.pair), "before": it.before, "after": it.after} for it in comparison.sneak_paths],
        "statements": [
            {"change": str(it.fate), "before": _place(it.before), "after": _place(it.after)}
            for it in comparison.statements
        ],
    }


def _event(event: IllegalEvent) -> _Object:
    return {
        "event": one_line(event.event),
        "state": event.state,
        "before": _row(event.before),
        "after": _row(event.after),
        "journal": [_journal_row(row) for row in event.journal],
        "problem": _problem(event.problem),
    }


def _random_walks(walks: RandomWalks) -> _Object:
    return {**vars(walks), "failed": list(map(one_line, walks.failed)), "problem": _problem(walks.problem)}


def _detour(detour: Detour) -> _Object:
    return {"steps": list(map(one_line, detour.steps)), "problem": one_line(detour.problem)}


def _share(share: Share) -> _Object:
    return {"covered": share.covered, "total": share.total}


def _ends(source: str | None, target: str | None) -> _Object:
    return {"name": transition_name(source, target), "from": source, "to": target}


def _statements(statements: Iterable[Statement]) -> list[_Object]:
    return [_statement(statement) for statement in statements]


def _statement(statement: Statement) -> _Object:
    return {**_place(statement.place), "sql": block(statement.sql)}


@overload
def _place(place: Place) -> _Object: ...
@overload
def _place(place: Place | None) -> _Object | None: ...
def _place(place: Place | None) -> _Object | None:
    return None if place is None else {"file": place.file, "line": place.line, "name": place.name}


def _walk(walk: Walk) -> _Object:
    return {
        "path": list(walk.path),
        "before": _row(walk.before),
        "after": _row(walk.after),
        "journal": [_journal_row(row) for row in walk.journal],
        "problem": _problem(walk.problem),
    }


def _kill(kill: Kill) -> _Object:
    return {
        "side": str(kill.side),
        "point": kill.point,
        "before": _row(kill.before),
        "found": _row(kill.found),
        "restarted": _row(kill.restarted),
        "problem": _problem(kill.problem),
        **({} if kill.blow is Blow.KILLED else {"blow": str(kill.blow)}),
    }


def _interleaving(it: Interleaving) -> _Object:
    return {
        "from": it.source,
        "first": it.target,
        "others": it.rival,
        "workers": 1 + it.rivals,
        "moment": str(it.moment),
        "before": _row(it.before),
        "after": _row(it.after),
        "journal": [_journal_row(row) for row in it.journal],
        "problem": _problem(it.problem),
    }


def _journal_row(row: JournalRow) -> _Object:
    return {
        "operation": row.operation,
        "kind": str(row.kind),
        "old_state": _value(row.old_state),
        "new_state": _value(row.new_state),
        **({} if row.written is None else {"written": _place(row.written)}),
    }


def _row(row: Row | None) -> Mapping[str, Scalar] | None:
    return None if row is None else {column: _value(value) for column, value in row}


def _value(value: Scalar) -> Scalar:
    return value_text(value) if isinstance(value, str) else value


def _problem(problem: str | None) -> str | None:
    return None if problem is None else one_line(problem)
