from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.model.evidence import Coverage, Environment, Evidence, Share, SourceFile, Verdict
from arrowproof.model.lifecycle import Lifecycle, Origin
from arrowproof.model.staleness import Difference, DifferenceKind, find_differences

NONE = Share(0, 0)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def lifecycle(tmp_path: Path) -> Lifecycle:
    (tmp_path / "home" / "sql").mkdir(parents=True)
    for name in ("a", "b"):
        (tmp_path / "home" / "sql" / f"{name}.sql").write_text(name, encoding="utf-8")
    origin = Origin(path=tmp_path / "home" / "lifecycle.json", sha256="aa" * 32)
    return Lifecycle("job", "Job", (), (), sources=("sql/*.sql",), origin=origin)


def evidence(lifecycle: Lifecycle, **files: str) -> Evidence:
    """Evidence of a lifecycle whose sources had these contents."""
    return Evidence(
        lifecycle.id,
        lifecycle.title,
        lifecycle.origin.sha256,
        tuple(SourceFile(f"sql/{name}.sql", sha256(text), 0) for name, text in files.items()),
        "2030-01-02T03:04:05Z",
        1.0,
        Environment("0", "3", "x", "SQLite", "3"),
        (),
        (),
        (),
        (),
        Coverage(NONE, NONE, NONE, NONE, NONE),
        Verdict.PROVEN,
        (),
    )


def test_evidence_of_this_model_and_these_sources_is_not_stale(lifecycle: Lifecycle) -> None:
    assert find_differences(lifecycle, evidence(lifecycle, a="a", b="b")) == ()


def test_evidence_of_a_proof_on_postgresql_is_held_against_the_sources_that_it_has_read(lifecycle: Lifecycle) -> None:
    folder = lifecycle.origin.folder / "sql"
    (folder / "a.sql").rename(folder / "sqlite.sql")
    (folder / "b.sql").rename(folder / "postgresql.sql")
    lifecycle = replace(lifecycle, sources=("sql/{dialect}.sql",))
    on_file, on_server = evidence(lifecycle, sqlite="a"), evidence(lifecycle, postgresql="b")
    on_server = replace(on_server, environment=replace(on_server.environment, database="PostgreSQL"))
    assert find_differences(lifecycle, on_file) == find_differences(lifecycle, on_server) == ()


def test_another_model_is_said_and_nothing_else(lifecycle: Lifecycle) -> None:
    other = replace(evidence(lifecycle, a="x"), model_id="order")
    assert find_differences(lifecycle, other) == (Difference(DifferenceKind.MODEL, "job", "order"),)


def test_another_version_of_the_model_is_said_with_both_hashes(lifecycle: Lifecycle) -> None:
    old = replace(evidence(lifecycle, a="a", b="b"), model_sha256="bb" * 32)
    assert find_differences(lifecycle, old) == (Difference(DifferenceKind.VERSION, "aa" * 32, "bb" * 32),)


def test_sources_that_changed_are_gone_or_new_are_named(lifecycle: Lifecycle) -> None:
    found = find_differences(lifecycle, evidence(lifecycle, a="before", z="z"))
    assert found == (
        Difference(DifferenceKind.CHANGED, "sql/a.sql"),
        Difference(DifferenceKind.GONE, "sql/z.sql"),
        Difference(DifferenceKind.NEW, "sql/b.sql"),
    )


def test_a_file_that_the_evidence_names_outside_the_models_globs_is_never_opened(
    lifecycle: Lifecycle, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.sql"
    os.mkfifo(secret)  # opening it would wait for ever
    names = (str(secret), "../secret.sql", "sql/../../secret.sql")
    sources = tuple(SourceFile(name, sha256("x"), 0) for name in names)
    plain = evidence(lifecycle, a="a", b="b")
    found = find_differences(lifecycle, replace(plain, sources=(*plain.sources, *sources)))
    assert found == tuple(Difference(DifferenceKind.GONE, name) for name in names)


def test_sources_that_cannot_be_read_are_differences_and_no_errors(lifecycle: Lifecycle, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "home" / "sql" / "pipe.sql")
    found = find_differences(replace(lifecycle, sources=("sql/*.sql", "../*")), evidence(lifecycle, a="a", b="b"))
    assert found == (
        Difference(DifferenceKind.UNREADABLE, "../*"),
        Difference(DifferenceKind.UNREADABLE, "sql/pipe.sql"),
    )


def test_a_link_out_of_the_models_folder_is_not_followed(lifecycle: Lifecycle, tmp_path: Path) -> None:
    (tmp_path / "secret.sql").write_text("secret", encoding="utf-8")
    (tmp_path / "home" / "sql" / "link.sql").symlink_to(tmp_path / "secret.sql")
    found = find_differences(lifecycle, evidence(lifecycle, a="a", b="b", link="secret"))
    assert {each.kind for each in found} == {DifferenceKind.UNREADABLE, DifferenceKind.GONE}
