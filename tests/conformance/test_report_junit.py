"""The JUnit file against both schemas that are in use, as far as they go for what it holds, written down here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as Tree

import pytest

from arrowproof.conformance.baseline import baseline_of
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.report_junit import report_junit
from arrowproof.model.evidence import DynamicTarget, Evidence, Guard, Place, SneakPath, Statement, Verdict

Golden = Callable[[str, str], None]

CHILDREN = {
    "testsuites": r"(testsuite )*",
    "testsuite": r"properties (testcase )*system-out system-err ",
    "properties": r"(property )*",
    "testcase": r"(skipped |failure )?",
}
"""The elements that may stand in another, in their order, by Ant's schema; the others hold none."""
ATTRIBUTES = {
    "testsuites": {},
    "testsuite": {
        "name": r"\S.*",
        "package": r".*",
        "id": r"\d+",
        "tests": r"\d+",
        "failures": r"\d+",
        "errors": r"\d+",
        "skipped": r"\d+",
        "time": r"\d+\.\d+",
        "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
        "hostname": r"\S.*",
    },
    "properties": {},
    "property": {"name": r"\S.*", "value": r"(?s).*"},
    "testcase": {"classname": r".+", "name": r".+", "time": r"\d+"},
    "failure": {"type": r".+", "message": r".*"},
    "skipped": {"message": r".*"},
    "system-out": {},
    "system-err": {},
}
"""Every attribute of an element, which both schemas know and of which Ant's needs all, with what it may say."""


def checked(text: str) -> Tree.Element:
    """The suite of a file that both schemas take."""
    root = Tree.fromstring(text.encode("utf-8"))
    for element in root.iter():
        said = ATTRIBUTES[element.tag]
        assert element.attrib.keys() == said.keys(), element.tag
        assert all(re.fullmatch(pattern, element.attrib[name]) for name, pattern in said.items()), element.attrib
        children = "".join(f"{child.tag} " for child in element)
        assert re.fullmatch(CHILDREN.get(element.tag, ""), children), (element.tag, children)
    (suite,) = root
    cases = list(suite.iter("testcase"))
    assert len(cases) == int(suite.attrib["tests"])
    for what in ("failures", "skipped"):
        assert int(suite.attrib[what]) == len(list(suite.iter(what.removesuffix("s")))), what
    return suite


def cases_of(suite: Tree.Element, kind: str) -> dict[str, str]:
    """Each case of a class, and what became of it."""
    return {
        case.attrib["name"]: "passed" if len(case) == 0 else case[0].tag
        for case in suite.iter("testcase")
        if case.attrib["classname"].endswith(f".{kind}")
    }


def test_the_report_of_a_broken_service_is_the_golden_one(
    note_evidence: Evidence, broken_evidence: Evidence, assert_golden: Golden
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))

    assert_golden("broken.junit.xml", report_junit(broken_evidence, comparison))


def test_a_proof_is_a_suite_without_a_failure(note_evidence: Evidence) -> None:
    suite = checked(report_junit(note_evidence))

    assert suite.attrib["failures"] == suite.attrib["skipped"] == "0"
    assert len(cases_of(suite, "transitions")) == 7
    assert len(cases_of(suite, "kills")) == 14
    assert cases_of(suite, "sneak-paths") == {"no sneak path": "passed"}
    assert cases_of(suite, "verdict") == {"the lifecycle is proven": "passed"}


def test_each_transition_kill_sneak_path_and_statement_that_does_not_hold_fails(broken_evidence: Evidence) -> None:
    suite = checked(report_junit(broken_evidence))
    kills = cases_of(suite, "kills")

    assert [name for name, became in cases_of(suite, "transitions").items() if became == "failure"] == [
        "pending -> retry_wait",
        "pending -> failed",
        "retry_wait -> retry_wait",
        "retry_wait -> failed",
    ]
    assert [name for name, became in kills.items() if became == "failure"] == [
        "pending -> completed, after commit at after-commit"
    ]
    assert kills["pending -> failed"] == "skipped"
    assert cases_of(suite, "sneak-paths") == {
        "failed -> completed": "failure",
        "completed -> completed": "failure",
        "completed -> removed": "skipped",
    }
    assert cases_of(suite, "statements") == {"sql/odd.sql:5": "failure"}
    assert cases_of(suite, "verdict") == {"the lifecycle is proven": "failure"}


def test_the_verdict_holds_every_reason_even_one_that_is_of_the_whole_run(failing_evidence: Evidence) -> None:
    (failure,) = (
        case[0]
        for case in checked(report_junit(failing_evidence)).iter("testcase")
        if case.attrib["classname"].endswith(".verdict")
    )

    assert failure.attrib["message"] == "the lifecycle is not proven"
    assert "The journal's triggers no longer stand." in (failure.text or "")


@pytest.mark.parametrize("verdict", [Verdict.WALKED, Verdict.NOT_PROVEN])
def test_a_suite_is_red_wherever_the_verdict_is_not_proven(note_evidence: Evidence, verdict: Verdict) -> None:
    assert checked(report_junit(replace(note_evidence, verdict=verdict))).attrib["failures"] == "1"


def test_text_that_xml_cannot_hold_is_spelled_out(note_evidence: Evidence) -> None:
    bad = "a\x00\x1b[2J\ufffe\uffff\ud800\r\n]]> <x> & \" ' \u202e"
    created, *rest = note_evidence.transitions
    statement = Statement(Place(bad, 1, bad), bad)
    kill = replace(created.kills[0], problem=bad, point=bad)
    walk = replace(created.walks[0], problem=bad)
    evidence = replace(
        note_evidence,
        model_id=bad,
        model_title=bad,
        transitions=(replace(created, source=bad, written=(statement,), walks=(walk,), kills=(kill,)), *rest),
        sneak_paths=(SneakPath(bad, bad, (statement,), walk.journal), SneakPath(bad, "x", accepted=bad)),
        dynamic=(DynamicTarget(statement, (bad,), bad),),
        reasons=(bad,),
        verdict=Verdict.NOT_PROVEN,
        environment=replace(note_evidence.environment, platform=bad),
    )
    comparison = compare(baseline_of(note_evidence), baseline_of(evidence))
    text = report_junit(evidence, comparison)

    checked(text)
    assert "<U+FFFE><U+FFFF>" not in text
    assert "&lt;U+FFFE&gt;&lt;U+FFFF&gt;" in text
    assert "&lt;U+001B&gt;" in text


def test_an_id_and_a_title_that_say_nothing_leave_a_suite_with_a_name(note_evidence: Evidence) -> None:
    assert checked(report_junit(replace(note_evidence, model_id="", model_title=" "))).attrib["name"] == "lifecycle"


@pytest.mark.parametrize(
    ("refused", "verdict", "became"),
    [(58, Verdict.PROVEN, "passed"), (57, Verdict.WALKED, "failure"), (57, Verdict.PROVEN, "skipped")],
)
def test_a_guard_is_a_case_that_fails_where_a_write_that_it_let_through_keeps_the_verdict_down(
    note_evidence: Evidence, refused: int, verdict: Verdict, became: str
) -> None:
    suite = checked(report_junit(replace(note_evidence, guard=Guard(58, refused), verdict=verdict)))

    assert cases_of(suite, "guard") == {"the guard refuses every undeclared write": became}


@pytest.mark.parametrize(("refused", "became"), [(58, "skipped"), (57, "failure")])
def test_a_statement_whose_target_a_guard_settles_fails_nothing(
    note_evidence: Evidence, refused: int, became: str
) -> None:
    dynamic = DynamicTarget(Statement(Place("sql/move.sql", 3), "UPDATE jobs SET status = :to"), ("pending",), "why")
    suite = checked(report_junit(replace(note_evidence, guard=Guard(58, refused), dynamic=(dynamic,))))

    assert cases_of(suite, "statements") == {"sql/move.sql:3": became}
