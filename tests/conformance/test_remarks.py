"""What a proof says beside its verdict stands in every form of the report, and in none when there is nothing to say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from xml.etree.ElementTree import fromstring

import jsonschema
import pytest

from arrowproof.conformance.report import remarks
from arrowproof.conformance.report_html import report_html
from arrowproof.conformance.report_json import report_json
from arrowproof.conformance.report_junit import report_junit
from arrowproof.conformance.report_markdown import report_markdown
from arrowproof.conformance.report_text import report_text
from arrowproof.model.evidence import Detour, Evidence, IllegalEvent, JournalKind, JournalRow, RandomWalks, Share
from arrowproof.model.evidence_document import dump_evidence, load_evidence
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.schema import load_schema

FORMS: Mapping[str, Callable[[Evidence, Lifecycle], str]] = {
    "text": lambda evidence, lifecycle: report_text(evidence, lifecycle).plain,
    "markdown": report_markdown,
    "html": report_html,
    "junit": lambda evidence, _: report_junit(evidence),
    "json": report_json,
}


MOVED = JournalRow(9, "update", JournalKind.CHANGED, (("id", 9),), "completed", "pending", (), ())
RETRY = IllegalEvent("POST retry", "completed", "200 OK", (("id", 9),), None, None, (MOVED,), "it went to pending")
POLL = IllegalEvent("poll", "failed", "nothing to do", (("id", 9),), None, None, ())


@pytest.fixture
def fired(note_evidence: Evidence) -> Evidence:
    coverage = replace(note_evidence.coverage, events=Share(1, 2))
    return replace(note_evidence, events=(RETRY, POLL), coverage=coverage)


@pytest.mark.parametrize("form", FORMS)
def test_illegal_events_are_counted_in_every_form(form: str, fired: Evidence, note_job: Lifecycle) -> None:
    shown = FORMS[form](fired, note_job)
    assert ("illegal events without effect" if form != "json" else '"events": {') in shown
    # The terminal has the count alone.
    assert form == "text" or all(word in shown for word in ("POST retry", "completed", "it went to pending", "poll"))


def test_a_case_of_junit_fails_for_each_illegal_event_that_did_something(fired: Evidence) -> None:
    cases = {
        case.get("name"): [(found.tag, found.get("message")) for found in case]
        for case in fromstring(report_junit(fired)).iter("testcase")
        if str(case.get("classname")).endswith(".events")
    }
    assert cases == {
        "POST retry in completed": [("failure", "it went to pending")],
        "poll in failed": [],
    }


def test_the_stable_report_has_no_answers_of_events_which_may_name_rows(fired: Evidence, note_job: Lifecycle) -> None:
    assert "200 OK" not in report_json(fired, note_job) + report_html(fired, note_job, stated_times=False)
    assert "200 OK" in report_html(fired, note_job)
    jsonschema.validate(json.loads(report_json(fired, note_job)), load_schema("report"))
    assert load_evidence(dump_evidence(fired).encode(), "evidence.json") == fired


@pytest.fixture
def remarked(note_evidence: Evidence) -> Evidence:
    return replace(
        note_evidence,
        detours=(Detour(("created -> pending", "pending -> failed"), "It was refused."),),
        left_out=("Crash checks were not made: the driver has no way.",),
    )


@pytest.mark.parametrize("form", FORMS)
def test_what_was_not_tried_is_said_in_every_form(form: str, remarked: Evidence, note_job: Lifecycle) -> None:
    assert "Crash checks were not made: the driver has no way." in FORMS[form](remarked, note_job)


@pytest.mark.parametrize("form", FORMS)
def test_what_went_otherwise_on_a_longer_way_is_said_in_every_form(
    form: str, remarked: Evidence, note_job: Lifecycle
) -> None:
    shown = unescape(FORMS[form](remarked, note_job)).replace("\\", "")
    assert "pending -> failed" in shown
    assert "It was refused." in shown


@pytest.mark.parametrize("form", FORMS)
def test_random_walks_are_said_in_every_form_with_their_seed_and_the_steps_of_the_one_that_failed(
    form: str, note_evidence: Evidence, note_job: Lifecycle
) -> None:
    walks = RandomWalks(50, 1234567, 12, 60, ("created -> pending", "fire POST retry"), "It went to void.")
    shown = unescape(FORMS[form](replace(note_evidence, random_walks=walks), note_job)).replace("\\", "")
    assert [
        word for word in ("1234567", "created -> pending", "fire POST retry", "It went to void") if word not in shown
    ] == []


@pytest.mark.parametrize("form", FORMS)
def test_a_proof_that_tried_everything_says_nothing_of_it(
    form: str, note_evidence: Evidence, note_job: Lifecycle
) -> None:
    shown = FORMS[form](note_evidence, note_job)
    assert remarks(note_evidence) == ()
    assert [word for word in ("not tried", "longer way", "left_out", "detours") if word in shown] == []


def test_what_is_said_beside_the_verdict_is_kept_by_the_formats(remarked: Evidence, note_job: Lifecycle) -> None:
    text = dump_evidence(remarked)
    assert load_evidence(text.encode(), "evidence.json") == remarked
    jsonschema.validate(json.loads(report_json(remarked, note_job)), load_schema("report"))
