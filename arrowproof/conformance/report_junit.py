"""The report as JUnit XML: what a CI server lists beside its other tests.

One suite, one case for each thing that a proof asks, told apart by class:

====================  ==================================================================================
class                 its cases
====================  ==================================================================================
``ID.transitions``    each transition: it is written and walked
``ID.kills``          each kill: its restart ended right; a transition without one is skipped
``ID.events``         each event that was fired where the model does not have it: it did nothing
``ID.interleavings``  each interleaving that was tried: several workers on one row came out right
``ID.sneak-paths``    each sneak path fails, one that the owner has accepted is skipped; without any,
                      one case says so
``ID.statements``     each statement that the scan could not decide fails; one that a guard closes is skipped
``ID.guard``          where the service has a guard: it refused every undeclared write that was tried; one that
                      leaks is skipped where the lifecycle is proven without it
``ID.verdict``        the lifecycle is proven; with every reason why it is not. Stale evidence has a case that fails
====================  ==================================================================================

A case fails where it keeps the lifecycle from being *proven*, whatever bar ``--accept`` sets for the exit status. The
file is valid by both schemas that are in use, that of Ant's JUnit task and that of Jenkins' xUnit plugin, which is why
the suite has a host (not known here), each case a time (not taken by itself), and the date no time zone (it is UTC).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as Tree

from arrowproof.conformance.comparison import Comparison, parts_of, verdict_words
from arrowproof.conformance.display import block, one_line, value_text
from arrowproof.conformance.report import CLOSED, fate, figures, open_statements, remarks, rivalries
from arrowproof.conformance.verdict import shortfalls
from arrowproof.model.evidence import (
    Blow,
    Evidence,
    Kill,
    SneakPath,
    Statement,
    TransitionEvidence,
    Verdict,
)
from arrowproof.model.record import record
from arrowproof.model.transitions import transition_name

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


@record
class Case:
    """One case: its class and name, and why it fails or is skipped; it passes with neither."""

    kind: str
    name: str
    failure: str | None = None
    skipped: str | None = None
    detail: str = ""


def report_junit(evidence: Evidence, comparison: Comparison | None = None, stale: Sequence[str] = ()) -> str:
    """The report of one proof as a JUnit XML file, with a line feed at its end."""
    cases = [
        *_transitions(evidence),
        *_kills(evidence),
        *_events(evidence),
        *_interleavings(evidence),
        *_sneak_paths(evidence),
    ]
    cases += [*_statements(evidence), *_guard(evidence), _verdict(evidence), *_of_today(stale)]
    root = Tree.Element("testsuites")
    suite = Tree.SubElement(root, "testsuite", _suite_attributes(evidence, cases))
    properties = Tree.SubElement(suite, "properties")
    for name, value in _properties(evidence):
        Tree.SubElement(properties, "property", {"name": name, "value": _text(value)})
    for case in cases:
        _add_case(suite, case, _id(evidence))
    Tree.SubElement(suite, "system-out").text = _text("\n".join(_said(evidence, comparison)))
    Tree.SubElement(suite, "system-err")
    Tree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Tree.tostring(root, encoding="unicode")}\n'


def _suite_attributes(evidence: Evidence, cases: Sequence[Case]) -> dict[str, str]:
    return {
        "name": _text(one_line(evidence.model_title)) or "lifecycle",
        "package": _id(evidence),
        "id": "0",
        "tests": str(len(cases)),
        "failures": str(sum(case.failure is not None for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.skipped is not None for case in cases)),
        "time": f"{evidence.seconds:.3f}",
        "timestamp": evidence.started[:19],
        "hostname": "localhost",
    }


def _properties(evidence: Evidence) -> Iterator[tuple[str, str]]:
    yield "model sha256", one_line(evidence.model_sha256)
    for name, value in vars(evidence.environment).items():
        if isinstance(value, str):
            yield name.replace("_", " "), one_line(value)


def _add_case(suite: Tree.Element, case: Case, model_id: str) -> None:
    attributes = {"classname": f"{model_id}.{case.kind}", "name": _text(case.name), "time": "0"}
    made = Tree.SubElement(suite, "testcase", attributes)
    if case.failure is not None:
        failure = Tree.SubElement(made, "failure", {"type": "not proven", "message": _text(case.failure)})
        failure.text = _text(case.detail or case.failure)
    elif case.skipped is not None:
        Tree.SubElement(made, "skipped", {"message": _text(case.skipped)})


def _transitions(evidence: Evidence) -> Iterator[Case]:
    for transition in evidence.transitions:
        reasons = list(shortfalls(transition, evidence.undecided, evidence.dynamic))
        detail = "\n".join([*reasons, *map(_statement, transition.written)])
        yield Case("transitions", _name(transition), reasons[0] if reasons else None, detail=detail)


def _kills(evidence: Evidence) -> Iterator[Case]:
    for transition in evidence.transitions:
        name = _name(transition)
        if not transition.kills:
            yield Case("kills", name, skipped="no process was killed for it")
        for kill in transition.kills:
            problem = None if kill.problem is None else one_line(kill.problem)
            yield Case("kills", f"{name}, {_point(kill)}", problem)


def _events(evidence: Evidence) -> Iterator[Case]:
    for it in evidence.events:
        name = f"{one_line(it.event)} in {one_line(it.state)}"
        yield Case("events", name, None if it.problem is None else one_line(it.problem))


def _interleavings(evidence: Evidence) -> Iterator[Case]:
    for it in rivalries(evidence):
        name = f"{it.first} {it.moment}, {it.rival}, {it.workers} workers"
        yield Case("interleavings", one_line(name), None if it.problem is None else one_line(it.problem))


def _sneak_paths(evidence: Evidence) -> Iterator[Case]:
    if not evidence.sneak_paths:
        yield Case("sneak-paths", "no sneak path")
    for path in evidence.sneak_paths:
        name = _name(path)
        if path.accepted is not None:
            yield Case("sneak-paths", name, skipped=f"accepted ({fate(path)}): {one_line(path.accepted)}")
            continue
        rows = [
            f"{one_line(row.operation)} {value_text(row.old_state)} -> {value_text(row.new_state)}"
            for row in path.happened
        ]
        yield Case(
            "sneak-paths",
            name,
            f"sneak path {name}: {fate(path)}",
            detail="\n".join([*map(_statement, path.possible), *rows]),
        )


def _statements(evidence: Evidence) -> Iterator[Case]:
    for it in open_statements(evidence):
        name, reason, sql = one_line(str(it.statement.place)), one_line(it.reason), _statement(it.statement)
        if it.is_closed:
            yield Case("statements", name, skipped=f"{CLOSED}: {reason}")
        else:
            yield Case("statements", name, reason, detail=sql)


def _guard(evidence: Evidence) -> Iterator[Case]:
    guard = evidence.guard
    if guard is not None:
        refused = None if guard.holds else f"it refused {guard.refused} of {guard.tried}"
        name = "the guard refuses every undeclared write"
        if refused is not None and evidence.verdict is Verdict.PROVEN:
            yield Case("guard", name, skipped=f"{refused}, and is not what the lifecycle is proven by")
        else:
            yield Case("guard", name, refused)


def _verdict(evidence: Evidence) -> Case:
    reasons = "\n".join(evidence.reasons)
    failure = None if evidence.verdict is Verdict.PROVEN else f"the lifecycle is {_verdict_text(evidence)}"
    return Case("verdict", "the lifecycle is proven", failure, detail=block(reasons, 20_000))


def _of_today(stale: Sequence[str]) -> Iterator[Case]:
    if stale:
        yield Case(
            "verdict", "the evidence is of the model and the sources as they are", " ".join(map(one_line, stale))
        )


def _verdict_text(evidence: Evidence) -> str:
    return "walked, not proven" if evidence.verdict is Verdict.WALKED else str(evidence.verdict)


def _said(evidence: Evidence, comparison: Comparison | None) -> Iterator[str]:
    """The figures, and what has changed since an earlier proof, as lines."""
    yield f"{_verdict_text(evidence)}: " + ", ".join(f"{what} {figure}" for what, figure in figures(evidence).items())
    for remark in remarks(evidence):
        yield from (f"{remark.title}: {one_line(line, 1000)}" for line in remark.lines)
    if comparison is not None:
        yield verdict_words(comparison)
        for part in parts_of(comparison):
            yield from (f"{part.title}: {line.text}" for line in part.lines)


def _name(ends: TransitionEvidence | SneakPath) -> str:
    return one_line(transition_name(ends.source, ends.target))


def _point(kill: Kill) -> str:
    blow = "" if kill.blow is Blow.KILLED else f"{kill.blow} "
    return f"{blow}{kill.side} at {one_line(kill.point)}" if kill.point else f"{blow}{kill.side}"


def _statement(statement: Statement) -> str:
    return f"{one_line(str(statement.place))}\n{block(statement.sql)}"


def _id(evidence: Evidence) -> str:
    return _text(one_line(evidence.model_id, 80)) or "lifecycle"


def _text(text: str) -> str:
    return _UNWRITABLE.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)
