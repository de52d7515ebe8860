"""The environment of a proof, and the rule that says which SQLite may touch a file."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import arrowproof
from arrowproof.conformance.environment import describe_environment
from arrowproof.conformance.rows import open_database
from arrowproof.conformance.wal_reset import wal_reset_status
from arrowproof.errors import InputError, MissingEnvironmentError


@pytest.mark.parametrize(
    "version",
    ["3.7.0", "3.40.1", "3.44.5", "3.45.0", "3.49.2", "3.50.6", "3.51.0", "3.51.2", "3.52.0", "3.8.11.1", "3.43"],
)
def test_a_version_with_the_wal_reset_bug_is_affected(version: str) -> None:
    assert wal_reset_status(version) == "affected"


@pytest.mark.parametrize(
    "version", ["3.6.23.1", "3.44.6", "3.44.7", "3.50.7", "3.50.9", "3.51.3", "3.51.4", "3.53.0", "3.54.1", "4.0.0"]
)
def test_a_version_from_before_wal_or_with_the_fix_is_not_affected(version: str) -> None:
    assert wal_reset_status(version) == "not affected"


@pytest.mark.parametrize("text", ["", "three", "3", "3.x.1", "3.53.0 ", "3.53.0\n", "٣.53.0", "-3.53.0", "3.53.0.1.2"])
def test_a_text_that_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no SQLite version"):
        wal_reset_status(text)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_the_environment_holds_the_versions_and_the_journal_mode_of_the_file(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "service.sqlite3"
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", mode)
    connection.execute("CREATE TABLE t (x)")
    environment = describe_environment(path)
    assert environment.journal_mode == mode
    assert environment.database_version == apsw.sqlite_lib_version()
    assert environment.wal_reset == "not affected"
    assert environment.arrowproof == arrowproof.__version__


def test_a_missing_database_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no database file"):
        describe_environment(tmp_path / "none.sqlite3")
    assert list(tmp_path.iterdir()) == []


def test_an_affected_library_opens_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "service.sqlite3"
    apsw.Connection(str(path)).execute("CREATE TABLE t (x)")
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(MissingEnvironmentError, match=r"3\.51\.2 .* WAL-reset"), open_database(path):
        pytest.fail("the file was opened")
