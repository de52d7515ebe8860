"""What every form of the report says of several workers on one row, and of blows that are no kill."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as Tree

import pytest
from jsonschema.validators import Draft202012Validator

from arrowproof.conformance.report import stable_evidence
from arrowproof.conformance.report_html import report_html
from arrowproof.conformance.report_json import report_json
from arrowproof.conformance.report_junit import report_junit
from arrowproof.conformance.report_markdown import report_markdown
from arrowproof.conformance.report_text import report_text
from arrowproof.conformance.verdict import judge
from arrowproof.model.evidence import Blow, Evidence, Interleaving, Moment, Process, Verdict
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.schema import load_schema
from tests.conformance.conftest import journal_row, row_of

RIGHT = Interleaving(
    source="pending",
    target="completed",
    rival="failed",
    rivals=2,
    moment=Moment.WRITTEN,
    waited=1,
    key=(("id", 7),),
    processes=(Process("worker", 4711, "exit 0"),),
    before=row_of(7, "pending", 0),
    after=row_of(7, "completed", 1),
    journal=(journal_row(70, 7, "pending", "completed", 1),),
)
WRONG = replace(RIGHT, rival=None, rivals=1, moment=Moment.READ, waited=0, problem="A late worker has it | too.")


@pytest.fixture
def contested(note_evidence: Evidence) -> Evidence:
    """Several workers on one row, once right and once wrong, and a connection that was lost."""
    first, *others = note_evidence.transitions
    before, after = first.kills
    cut = replace(before, blow=Blow.CUT, point="the COMMIT")
    transitions = (replace(first, kills=(before, cut, after)), *others)
    tried = (RIGHT, WRONG)
    verdict, reasons = judge(transitions, interleavings=tried)
    return replace(note_evidence, transitions=transitions, interleavings=tried, verdict=verdict, reasons=reasons)


def test_a_wrong_one_keeps_the_lifecycle_from_being_proven(contested: Evidence) -> None:
    assert contested.verdict is Verdict.NOT_PROVEN
    assert contested.reasons == (
        "pending -> completed, held after its read, and pending -> removed by another worker: A late worker has it |"
        " too.",
    )


def test_every_form_counts_them(note_job: Lifecycle, contested: Evidence) -> None:
    assert "1 of 2 interleavings" in report_text(contested, note_job).plain
    assert "1 of 2 interleavings" in report_markdown(contested, note_job)
    assert "<dt>interleavings</dt><dd>1 of 2</dd>" in report_html(contested, note_job)


def test_a_pull_request_is_shown_the_wrong_ones_first(note_job: Lifecycle, contested: Evidence) -> None:
    _, table = report_markdown(contested, note_job).split("<summary>Several workers on one row (1 of 2)</summary>")
    wrong, right = table.split("</details>")[0].strip().splitlines()[-2:]
    assert wrong.startswith("| `pending -> completed` | after its read | `pending -> removed` | 2 | 1 ended | **A late")
    assert right == (
        "| `pending -> completed` | before its commit | `pending -> failed` | 3 | 1 waited and 1 ended |"
        " `pending → completed` |"
    )


def test_the_page_lists_them_and_the_blow_of_a_kill(note_job: Lifecycle, contested: Evidence) -> None:
    page = report_html(contested, note_job)
    section = page.split('<section aria-labelledby="interleavings">')[1].split("</section>")[0]
    assert section.index("A late worker has it | too.") < section.index("1 waited and 1 ended")
    assert "before commit<br>connection lost<br><code>the COMMIT</code>" in page


def test_the_json_has_them_without_keys_and_conforms_to_its_schema(note_job: Lifecycle, contested: Evidence) -> None:
    said = json.loads(report_json(contested, note_job))
    assert list(Draft202012Validator(load_schema("report")).iter_errors(said)) == []
    right, wrong = said["interleavings"]
    assert (right["first"], right["others"], right["workers"], right["problem"]) == ("completed", "failed", 3, None)
    assert (wrong["others"], wrong["workers"]) == (None, 2)
    assert "id" not in right["before"]
    blows = [kill.get("blow") for kill in said["transitions"][0]["kills"]]
    assert blows == [None, "connection lost", None]


def test_a_ci_server_has_a_case_of_each(contested: Evidence) -> None:
    cases = [
        (case.get("name"), case.find("failure") is not None)
        for case in Tree.fromstring(report_junit(contested)).iter("testcase")
        if str(case.get("classname")).endswith(".interleavings")
    ]
    assert cases == [
        ("pending -> completed before its commit, pending -> failed, 3 workers", False),
        ("pending -> completed after its read, pending -> removed, 2 workers", True),
    ]
    assert "connection lost before commit at the COMMIT" in report_junit(contested)


def test_the_stable_form_has_no_key_and_no_process_of_them(note_job: Lifecycle, contested: Evidence) -> None:
    stable = stable_evidence(contested, note_job).interleavings[0]
    assert stable.key == ()
    assert stable.processes == (Process("worker", 0, "exit 0"),)
    assert [row.order for row in stable.journal] == [0]
