"""``--evidence``: what `prove` found, on the page and on the pictures."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from arrowproof.model.evidence_document import MAX_EVIDENCE_BYTES, dump_evidence
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.loader import load_lifecycle
from tests.render.evidence_builder import build_evidence

SERVICE = Path(str(files("arrowproof").joinpath("service")))


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """A copy of the bundled model with its sources, and fresh evidence of it."""
    shutil.copytree(SERVICE / "sql", tmp_path / "sql")
    shutil.copy(SERVICE / "notes-job.lifecycle.json", tmp_path / "lifecycle.json")
    # The evidence is of PostgreSQL.
    lifecycle = replace(load_lifecycle(tmp_path / "lifecycle.json"), dialect=Dialect.POSTGRESQL)
    plain = json.loads(dump_evidence(build_evidence(lifecycle)))
    plain["sources"] = [
        {
            "file": str(path.relative_to(tmp_path)),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "statements": 0,
        }
        for pattern in lifecycle.source_globs
        for path in sorted(tmp_path.glob(pattern))
    ]
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    return path


def change(path: Path, how: Callable[[dict[str, object]], object]) -> None:
    plain = json.loads(path.read_text(encoding="utf-8"))
    how(plain)
    path.write_text(json.dumps(plain), encoding="utf-8")


def test_render_draws_evidence_and_says_nothing_while_it_is_of_today(arrowproof, evidence, tmp_path):
    result = arrowproof("render", "--evidence", "evidence.json", "-o", "page.html", "--json")
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out)["stale"] == []
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert hashlib.sha256(evidence.read_bytes()).hexdigest()[:8] in page
    assert "Proven" in page


@pytest.mark.usefixtures("evidence")
def test_render_without_evidence_says_nothing_of_being_stale(arrowproof):
    assert "stale" not in json.loads(arrowproof("render", "-o", "page.html", "--json").out)


@pytest.mark.usefixtures("evidence")
def test_stale_evidence_is_drawn_warned_of_and_no_failure(arrowproof, tmp_path):
    (tmp_path / "sql" / "worker.sql").write_text("-- nothing\n", encoding="utf-8")
    result = arrowproof("render", "--evidence", "evidence.json", "-o", "page.html", "--json")
    assert result.status == 0
    assert result.err == "warning: evidence.json is stale. A source has changed since: sql/worker.sql.\n"
    assert json.loads(result.out)["stale"] == ["A source has changed since: sql/worker.sql."]
    assert "A source has changed since: sql/worker.sql." in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_page_speaks_its_language_of_stale_evidence_and_the_command_speaks_english(arrowproof, evidence, tmp_path):
    change(evidence, lambda plain: plain.update(model_sha256="ab" * 32))
    result = arrowproof("render", "--evidence", "evidence.json", "-o", "page.html", "--lang", "ja")
    assert "another version of the model: evidence abababab" in result.err
    assert "この証拠はモデルの別の版のものです" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_evidence_of_another_model_is_no_error(arrowproof, evidence):
    result = arrowproof("render", "notes", "--evidence", "evidence.json", "-o", "page.html")
    assert result.status == 0
    change(evidence, lambda plain: plain.update(model_id="order", transitions=[], sneak_paths=[]))
    result = arrowproof("render", "--evidence", "evidence.json", "-o", "page.html")
    assert result.status == 0
    assert "another model, and nothing of it is shown: evidence “order”" in result.err


def test_a_picture_takes_nothing_from_evidence_of_another_model(arrowproof, evidence, tmp_path):
    change(evidence, lambda plain: plain.update(model_id="order"))
    assert "another model" in arrowproof("render", "--evidence", "evidence.json", "-o", "proof.svg").err
    arrowproof("render", "-o", "plain.svg")
    assert (tmp_path / "proof.svg").read_bytes() == (tmp_path / "plain.svg").read_bytes()


def test_files_that_evidence_names_are_never_opened(arrowproof, evidence, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    source = {"file": "../../../../../../etc/passwd", "sha256": "ab" * 32, "statements": 0}
    pipe = {"file": str(tmp_path / "pipe"), "sha256": "ab" * 32, "statements": 0}
    change(evidence, lambda plain: plain.update(sources=[*plain["sources"], source, pipe]))
    result = arrowproof("render", "--evidence", "evidence.json", "-o", "page.html")
    assert result.status == 0
    assert "2 sources are gone" in result.err


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.unlink(), "evidence.json does not exist. Run `arrowproof prove`, or name another file."),
        (lambda path: path.write_text("{}", encoding="utf-8"), 'the field "format" is missing'),
        (lambda path: path.write_text("not JSON", encoding="utf-8"), "evidence.json has 1 error"),
        (lambda path: path.write_bytes(b""), "the file is empty. Make it with `arrowproof prove`."),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "Make the file anew with `arrowproof prove`. [syntax]"),
        (
            lambda path: path.write_text('{"format": "arrowproof.evidence/0"}', encoding="utf-8"),
            '"arrowproof.evidence/0". Make the file anew with `arrowproof prove`; if a newer',
        ),
        (lambda path: path.write_bytes(b" " * (MAX_EVIDENCE_BYTES + 1)), "too-large"),
        (lambda path: (path.unlink(), path.mkdir()), "evidence.json is a folder"),
    ],
)
def test_evidence_that_cannot_be_read_is_wrong_input_and_writes_no_page(arrowproof, evidence, tmp_path, make, message):
    make(evidence)
    result = arrowproof("render", "--evidence", "evidence.json", "-o", "page.html")
    assert result.status == 2
    assert message in result.err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.usefixtures("evidence")
def test_a_picture_shows_evidence_too_and_a_mermaid_text_refuses_it(arrowproof, tmp_path):
    assert arrowproof("render", "--evidence", "evidence.json", "-o", "job.svg").status == 0
    assert "survived" in (tmp_path / "job.svg").read_text(encoding="utf-8")
    refused = arrowproof("render", "--evidence", "evidence.json", "-o", "job.mmd")
    assert refused.status == 2
    assert "Mermaid text shows no evidence" in refused.err


@pytest.mark.usefixtures("evidence")
def test_view_leaves_it_to_the_page_to_say_that_evidence_is_stale(tmp_path):
    (tmp_path / "sql" / "worker.sql").write_text("-- nothing\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "arrowproof", "view", "--no-open", "--evidence", "evidence.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        with httpx.stream("GET", f"{address}events") as events:
            said = next(line for line in events.iter_lines() if line.startswith("data:"))
        assert json.loads(said.removeprefix("data:"))["warnings"] == []
        assert 'class="stale"' in httpx.get(f"{address}page").text
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)


def test_view_of_a_page_that_is_drawn_already_takes_no_evidence(arrowproof, tmp_path):
    (tmp_path / "page.html").write_text("<!doctype html>", encoding="utf-8")
    result = arrowproof("view", "page.html", "--no-open", "--evidence", "evidence.json")
    assert result.status == 2
    assert "is drawn already" in result.err


def test_render_never_replaces_the_evidence_that_it_draws(arrowproof, evidence):
    before = evidence.read_bytes()
    result = arrowproof("render", "--evidence", str(evidence), "--format", "html", "-o", str(evidence), "--force")
    assert result.status == 2
    assert f"{evidence.name} is what the drawing is made of" in result.err
    assert evidence.read_bytes() == before
