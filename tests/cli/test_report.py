"""`report`, and `prove --baseline`, as users run them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

from tests.cli.conftest import Run

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
EVIDENCE = ARTIFACTS / "notes-job.evidence.json"
SERVICE = ARTIFACTS.parent / "arrowproof" / "service"

MODEL = """{"format": "arrowproof.lifecycle/1", "id": "%s", "title": "Job",
 "binding": {"table": "jobs", "key": ["id"], "state": "status"}, "sources": ["*.sql"], "driver": "tripwire:Driver",
 "states": [{"id": "new", "kind": "success", "label": "New"}], "arrows": [{"id": "accept", "to": "new"}]}"""

TRIPWIRE = """
from pathlib import Path
Path("imported").touch()
class Driver: ...
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the artifacts, as if it were of the sources as they are."""
    made = json.loads(EVIDENCE.read_text())
    made["model_sha256"] = hashlib.sha256((SERVICE / "notes-job.lifecycle.json").read_bytes()).hexdigest()
    patterns = json.loads((SERVICE / "notes-job.lifecycle.json").read_text())["sources"]
    files = sorted(
        {
            file
            for pattern in patterns
            for file in SERVICE.glob(pattern.replace("{dialect}", "sqlite"))
            if file.is_file()
        }
    )
    made["sources"] = [
        {
            "file": file.relative_to(SERVICE).as_posix(),
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "statements": 1,
        }
        for file in files
    ]
    path = tmp_path_factory.mktemp("evidence") / "evidence.json"
    path.write_text(json.dumps(made))
    return path


def changed(tmp_path: Path, edit) -> Path:
    """The evidence of the bundled service with a change, as a file."""
    evidence = json.loads(EVIDENCE.read_text())
    edit(evidence)
    (tmp_path / "old.json").write_text(json.dumps(evidence))
    return tmp_path / "old.json"


def unwalk_the_last(evidence) -> None:
    evidence["transitions"][-1]["walks"] = []
    evidence["transitions"][-1]["kills"] = []
    evidence["verdict"] = "not proven"


def test_the_text_is_what_prove_prints(arrowproof: Run, evidence: Path):
    result = arrowproof("report", "notes", "--evidence", str(evidence))

    assert result.status == 0
    assert result.out.startswith("Proven: Note job, 13 of 13 transitions walked\n")


def test_each_form_is_that_form(arrowproof: Run, evidence: Path):
    made = {
        form: arrowproof("report", "notes", "--evidence", str(evidence), "--format", form).out
        for form in ("md", "html", "junit", "json")
    }

    assert made["md"].startswith("## ✅ Proven: Note job\n")
    assert made["html"].startswith("<!DOCTYPE html>")
    assert Tree.fromstring(made["junit"].encode())[0].attrib["failures"] == "0"
    assert json.loads(made["json"])["format"] == "arrowproof.report/2"


def test_json_is_the_report_as_json_and_stands_beside_no_other_form(arrowproof: Run, evidence: Path):
    report = arrowproof("report", "notes", "--evidence", str(evidence), "--json")
    refused = arrowproof("report", "notes", "--evidence", str(evidence), "--json", "--format", "md")

    assert json.loads(report.out)["verdict"] == "proven"
    assert (refused.status, json.loads(refused.out)["verdict"]) == (2, "error")


def test_a_file_that_is_there_is_replaced_by_force_alone(arrowproof: Run, evidence: Path, tmp_path: Path):
    arguments = ("report", "notes", "--evidence", str(evidence), "--format", "md", "-o", "comment.md")

    assert arrowproof(*arguments).out == "wrote comment.md\n"
    assert arrowproof(*arguments).status == 2
    assert arrowproof(*arguments, "--force").status == 0
    assert (tmp_path / "comment.md").read_text().startswith("## ✅ Proven")


def test_it_exits_with_0_whatever_the_verdict_is_and_says_what_has_changed(
    arrowproof: Run, evidence: Path, tmp_path: Path
):
    old = changed(tmp_path, unwalk_the_last)
    now = arrowproof("report", "notes", "--evidence", str(evidence), "--baseline", str(old))
    then = arrowproof("report", "notes", "--evidence", str(old), "--baseline", str(evidence), "--format", "md")

    assert now.status == then.status == 0
    assert "The verdict was not proven and is now proven." in now.out
    assert "cancelled -> removed: newly proven, survived (was written)" in now.out
    assert "- ❌ `cancelled -> removed`: no longer proven, written (was survived)" in then.out


def test_a_report_is_as_good_a_baseline_as_evidence(arrowproof: Run, evidence: Path):
    report = ARTIFACTS / "notes-job.report.json"
    result = arrowproof("report", "notes", "--evidence", str(evidence), "--baseline", str(report))

    assert "Nothing has changed; the verdict was proven as well." in result.out


def test_evidence_of_another_lifecycle_makes_no_report(arrowproof: Run, evidence: Path, tmp_path: Path):
    (tmp_path / "lifecycle.json").write_text(MODEL % "another")
    result = arrowproof("report", "--evidence", str(evidence))

    assert (result.status, result.out) == (2, "")
    assert "is of the lifecycle 'notes-job', not of 'another'" in result.err


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ("missing.json", "missing.json does not exist"),
        ("broken.json", "broken.json:1:2"),
        ("foreign.json", "is of the lifecycle 'notes-job', not of 'job'"),
        ("lifecycle.json", "another kind of file"),
    ],
)
def test_prove_refuses_a_baseline_before_the_driver_is_as_much_as_imported(
    arrowproof: Run, tmp_path: Path, baseline: str, said: str
):
    (tmp_path / "lifecycle.json").write_text(MODEL % "job")
    (tmp_path / "jobs.sql").write_text("CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT);")
    (tmp_path / "tripwire.py").write_text(TRIPWIRE)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "foreign.json").write_bytes(EVIDENCE.read_bytes())
    result = arrowproof("prove", "--baseline", baseline)

    assert result.status == 2
    assert said in result.err
    assert not (tmp_path / "imported").exists()
    assert not (tmp_path / "arrowproof-out").exists()


def test_every_form_of_stale_evidence_says_that_it_is_stale(arrowproof: Run, tmp_path: Path):
    old = changed(tmp_path, lambda evidence: evidence.update(model_sha256="0" * 64))
    result = arrowproof("report", "notes", "--evidence", str(old))
    made = {
        form: arrowproof("report", "notes", "--evidence", str(old), "--format", form).out
        for form in ("md", "html", "junit", "json")
    }
    said = "This evidence is of another version of the model: evidence 00000000"

    assert result.status == 0
    assert result.out.startswith("Stale, proven then: Note job, ")
    assert said in result.out
    assert made["md"].startswith("## ⚠️ Stale, proven then: Note job\n")
    assert f"**{said}" in made["md"]
    assert "✅" not in made["md"]
    assert "<s>Proven</s> Stale" in made["html"]
    assert said in made["html"]
    failed = Tree.fromstring(made["junit"].encode()).findall(".//testcase[failure]")
    assert [case.attrib["name"] for case in failed] == ["the evidence is of the model and the sources as they are"]
    assert json.loads(made["json"])["stale"][0].startswith(said)
