from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from jsonschema import Draft202012Validator

from arrowproof.conformance.baseline import baseline_of
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.report_json import REPORT_FORMAT, report_json
from arrowproof.model.evidence import Evidence, Guard, Place, SneakPath
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.schema import load_schema

Golden = Callable[[str, str], None]


def test_the_report_of_a_proof_is_the_golden_one(
    note_job: Lifecycle, note_evidence: Evidence, assert_golden: Golden
) -> None:
    assert_golden("proven.report.json", report_json(note_evidence, note_job))


def test_the_report_of_a_broken_service_is_the_golden_one(
    lenient_job: Lifecycle, broken_evidence: Evidence, assert_golden: Golden
) -> None:
    assert_golden("broken.report.json", report_json(broken_evidence, lenient_job))


def test_the_format_and_the_verdict_come_first(note_job: Lifecycle, note_evidence: Evidence) -> None:
    report = json.loads(report_json(note_evidence, note_job))

    assert list(report.items())[:2] == [("format", REPORT_FORMAT), ("verdict", "proven")]


def test_no_time_process_or_key_stands_in_it(note_job: Lifecycle, note_evidence: Evidence) -> None:
    text = report_json(note_evidence, note_job)

    for secret in ("2026-11-29", '"next_run_at":', "4200", "5020", '"id": 1', "Linux", "3.53.1"):
        assert secret not in text, secret


def test_hostile_values_are_bounded_and_the_text_is_valid_utf8(note_job: Lifecycle, note_evidence: Evidence) -> None:
    created, *rest = note_evidence.transitions
    after = (("status", "\ud800" + "x" * 1_000_000), ("attempts", 0))
    hostile = replace(
        note_evidence,
        model_title="再試行 \ud800 </script>",
        transitions=(replace(created, walks=(replace(created.walks[0], after=after),)), *rest),
    )
    text = report_json(hostile, note_job)

    assert len(text.encode("utf-8")) < 40_000
    report = json.loads(text)
    assert report["model"]["title"] == "再試行 \ud800 </script>"
    assert "再試行" in text
    assert report["transitions"][0]["walks"][0]["after"]["status"].endswith("(1,000,001 characters)")


def test_every_report_conforms_to_the_schema_that_is_shipped(
    note_job: Lifecycle, lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    schema = load_schema("report")
    Draft202012Validator.check_schema(schema)
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))

    for text in (
        report_json(note_evidence, note_job),
        report_json(broken_evidence, lenient_job),
        report_json(broken_evidence, lenient_job, comparison),
    ):
        Draft202012Validator(schema).validate(json.loads(text))
    assert schema["properties"]["format"]["enum"][-1] == REPORT_FORMAT


def test_the_schema_lets_nothing_through_that_it_does_not_describe(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    report = json.loads(report_json(note_evidence, note_job))
    report["transitions"][0]["walks"][0]["journal"][0]["pid"] = 4200

    assert not Draft202012Validator(load_schema("report")).is_valid(report)


def test_with_a_baseline_it_holds_what_has_changed_since(
    lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))
    baseline = json.loads(report_json(broken_evidence, lenient_job, comparison))["baseline"]

    assert (baseline["verdict"], baseline["same_model"]) == ("proven", True)
    assert baseline["coverage"]["kills"] == {"covered": 14, "total": 14}
    assert baseline["transitions"][0] == {
        "name": "pending -> completed",
        "from": "pending",
        "to": "completed",
        "before": "survived",
        "after": "not survived",
    }
    assert {"name": "completed -> removed", "from": "completed", "to": None, "before": None, "after": "accepted"} in (
        baseline["sneak_paths"]
    )
    assert baseline["statements"][-1] == {
        "change": "changed",
        "before": {"file": "sql/worker.sql", "line": 38, "name": "succeed"},
        "after": {"file": "sql/worker.sql", "line": 38, "name": "succeed"},
    }


def test_what_a_guard_refused_and_what_only_a_race_makes_possible_is_said(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    (statement,) = note_evidence.transitions[1].written
    path = SneakPath("failed", "completed", (statement,), only_in_race=True)
    report = json.loads(report_json(replace(note_evidence, sneak_paths=(path,), guard=Guard(58, 57)), note_job))

    Draft202012Validator(load_schema("report")).validate(report)
    assert report["guard"] == {"tried": 58, "refused": 57}
    assert report["sneak_paths"][0]["only_in_race"] is True


def test_a_journal_row_and_a_sneak_path_say_which_statement_made_them(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    created, *rest = note_evidence.transitions
    row = replace(created.walks[0].journal[0], query="INSERT INTO notes", written=Place("sql/accept.sql", 12))
    walk = replace(created.walks[0], journal=(row,))
    evidence = replace(
        note_evidence,
        transitions=(replace(created, walks=(walk,)), *rest),
        sneak_paths=(SneakPath("failed", "completed", (), (row, row)),),
    )
    report = json.loads(report_json(evidence, note_job))

    Draft202012Validator(load_schema("report")).validate(report)
    place = {"file": "sql/accept.sql", "line": 12, "name": None}
    assert report["transitions"][0]["walks"][0]["journal"][0]["written"] == place
    assert report["sneak_paths"][0]["happened_at"] == [place]
    assert "INSERT INTO notes" not in json.dumps(report)
