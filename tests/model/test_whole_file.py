"""A file is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arrowproof.model.whole_file import write_whole


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "text\n")
    finally:
        os.umask(mask)
    assert (tmp_path / "new").read_text() == "text\n"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("old")
    (tmp_path / "page").chmod(0o600)
    write_whole(tmp_path / "page", "new")
    assert (tmp_path / "page").read_text() == "new"
    assert (tmp_path / "page").stat().st_mode & 0o777 == 0o600


def test_what_utf8_cannot_hold_is_escaped(tmp_path: Path) -> None:
    write_whole(tmp_path / "page", "a\ud800é")
    assert (tmp_path / "page").read_bytes() == b"a\\ud800\xc3\xa9"


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page").write_text("old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "chmod", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "page", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page", "old")]


def test_a_folder_that_is_missing_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "nowhere" / "page", "text")
