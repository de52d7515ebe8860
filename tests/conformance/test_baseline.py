from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.conformance.baseline import baseline_of, read_baseline
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.report_json import report_json
from arrowproof.errors import InputError, ModelError
from arrowproof.model.evidence import Evidence, Guard, Share
from arrowproof.model.evidence_document import dump_evidence
from arrowproof.model.lifecycle import Lifecycle


def test_evidence_and_report_of_one_proof_are_the_same_baseline(
    tmp_path: Path, lenient_job: Lifecycle, broken_evidence: Evidence
) -> None:
    broken_evidence = replace(broken_evidence, guard=Guard(58, 55))
    (tmp_path / "evidence.json").write_text(dump_evidence(broken_evidence), encoding="utf-8")
    (tmp_path / "report.json").write_text(report_json(broken_evidence, lenient_job), encoding="utf-8")

    baseline = baseline_of(broken_evidence)
    assert read_baseline(tmp_path / "evidence.json", lenient_job) == baseline
    assert read_baseline(tmp_path / "report.json", lenient_job) == baseline
    assert baseline.coverage["guard"] == Share(55, 58)


def test_a_report_with_a_baseline_of_its_own_is_a_baseline(
    tmp_path: Path, lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))
    (tmp_path / "report.json").write_text(report_json(broken_evidence, lenient_job, comparison), encoding="utf-8")

    assert read_baseline(tmp_path / "report.json", lenient_job) == baseline_of(broken_evidence)


def test_a_report_of_version_1_is_still_read(tmp_path: Path, note_job: Lifecycle, note_evidence: Evidence) -> None:
    report = {**json.loads(report_json(note_evidence, note_job)), "format": "arrowproof.report/1"}
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")

    assert read_baseline(tmp_path / "report.json", note_job) == baseline_of(note_evidence)


def test_a_statement_longer_than_reports_show_is_the_same_in_both(
    tmp_path: Path, note_job: Lifecycle, note_evidence: Evidence
) -> None:
    created, *rest = note_evidence.transitions
    long = replace(created.written[0], sql="INSERT INTO jobs\n\tVALUES (1) -- " + "x" * 50_000)
    evidence = replace(note_evidence, transitions=(replace(created, written=(long,)), *rest))
    (tmp_path / "report.json").write_text(report_json(evidence, note_job), encoding="utf-8")

    assert compare(read_baseline(tmp_path / "report.json", note_job), baseline_of(evidence)).is_empty


def test_a_baseline_of_another_lifecycle_is_refused(
    tmp_path: Path, note_job: Lifecycle, note_evidence: Evidence
) -> None:
    (tmp_path / "evidence.json").write_text(dump_evidence(replace(note_evidence, model_id="order")), encoding="utf-8")

    with pytest.raises(InputError, match=r"is of the lifecycle 'order', not of 'notes-job'"):
        read_baseline(tmp_path / "evidence.json", note_job)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("{", "1:2"),
        ('{"format": "arrowproof.lifecycle/1"}', "another kind of file"),
        ('{"format": "arrowproof.report/2"}', "missing-field"),
        ('{"format": "arrowproof.report/99"}', "wrong-format"),
        ("[]", "wrong-kind"),
    ],
)
def test_what_is_neither_evidence_nor_a_report_is_refused_with_its_reason(
    tmp_path: Path, note_job: Lifecycle, text: str, said: str
) -> None:
    (tmp_path / "old.json").write_text(text, encoding="utf-8")

    with pytest.raises(ModelError, match=said):
        read_baseline(tmp_path / "old.json", note_job)
