from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.conformance.sources import read_sources
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Dialect, Lifecycle, Origin
from arrowproof.model.source_files import MAX_SOURCE_BYTES


def lifecycle(folder: Path, *globs: str) -> Lifecycle:
    return Lifecycle("l", "L", (), (), sources=globs, origin=Origin(path=folder / "lifecycle.json"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "sql").mkdir(parents=True)
    (home / "sql" / "b.sql").write_text("SELECT 2;", encoding="utf-8")
    (home / "sql" / "a.sql").write_text("SELECT 1;", encoding="utf-8")
    return home


def test_files_come_in_the_order_of_their_names_with_the_hash_of_their_bytes(folder: Path) -> None:
    sources = read_sources(lifecycle(folder, "sql/b.sql", "sql/*.sql"))
    assert [source.file for source in sources] == ["sql/a.sql", "sql/b.sql"]
    assert sources[0].sha256 == hashlib.sha256(b"SELECT 1;").hexdigest()


def test_the_dialect_stands_in_a_glob_for_the_folder_of_the_database_in_use(folder: Path) -> None:
    for name in ("sqlite", "postgresql"):
        (folder / name).mkdir()
        (folder / name / "claim.sql").write_text("SELECT 3;", encoding="utf-8")
    model = lifecycle(folder, "{dialect}/*.sql")
    for dialect in (Dialect.SQLITE, Dialect.POSTGRESQL):
        assert [each.file for each in read_sources(replace(model, dialect=dialect))] == [f"{dialect}/claim.sql"]


def test_a_byte_order_mark_is_no_part_of_the_text(folder: Path) -> None:
    (folder / "sql" / "a.sql").write_bytes(b"\xef\xbb\xbfSELECT 1;")
    assert read_sources(lifecycle(folder, "sql/a.sql"))[0].text == "SELECT 1;"


def test_paths_by_hand_stand_in_place_of_the_globs_and_a_folder_is_searched(folder: Path) -> None:
    outside = folder.parent / "outside.sql"
    outside.write_text("", encoding="utf-8")
    files = [source.file for source in read_sources(lifecycle(folder, "none"), [outside, folder / "sql"])]
    assert files == ["../outside.sql", "sql/a.sql", "sql/b.sql"]


@pytest.mark.parametrize("glob", ["../*.sql", "sql/../../x.sql", "/etc/*", "C:\\x.sql", "\\x", "", " ", "..\\x"])
def test_a_glob_that_could_leave_the_folder_is_refused(folder: Path, glob: str) -> None:
    with pytest.raises(InputError, match="must stay inside the folder"):
        read_sources(lifecycle(folder, glob))


def test_a_link_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    secret = folder.parent / "secret.sql"
    secret.write_text("SELECT 'secret'", encoding="utf-8")
    (folder / "sql" / "link.sql").symlink_to(secret)
    with pytest.raises(InputError, match=r"link\.sql is a link that leads out"):
        read_sources(lifecycle(folder, "sql/*.sql"))


def test_a_glob_without_a_match_is_an_error_that_names_it(folder: Path) -> None:
    with pytest.raises(InputError, match=r"'qsl/\*\.sql' in sources matches no file"):
        read_sources(lifecycle(folder, "sql/*.sql", "qsl/*.sql"))


def test_a_lifecycle_without_sources_says_what_to_add(folder: Path) -> None:
    with pytest.raises(InputError, match="names no sources: add"):
        read_sources(lifecycle(folder))


def test_a_file_that_is_not_utf8_is_read_by_its_bytes_and_says_so_with_its_line(folder: Path) -> None:
    (folder / "sql" / "a.sql").write_bytes(b"SELECT 1;\n-- caf\xe9\n")
    first, second = read_sources(lifecycle(folder, "sql/*.sql"))
    assert (first.text, first.problem, first.line) == (
        "SELECT 1;\n-- caf\xe9\n",
        "this file is not UTF-8 (byte 16): save it as UTF-8",
        2,
    )
    assert (second.file, second.problem) == ("sql/b.sql", None)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.sql", "SELECT 'é'".encode("utf-16"), "SELECT 'é'"),
        ("a.sql", "SELECT 'é'".encode("utf-32"), "SELECT 'é'"),
        ("a.rb", "# encoding: iso-8859-1\nq 'é'".encode("latin-1"), "# encoding: iso-8859-1\nq 'é'"),
        ("a.py", "#!/bin/python\n# -*- coding: cp1252 -*-\nq('€')".encode("cp1252"),
         "#!/bin/python\n# -*- coding: cp1252 -*-\nq('€')"),
    ],
)  # fmt: skip
def test_an_encoding_that_a_file_names_or_marks_is_read(folder: Path, name: str, content: bytes, text: str) -> None:
    (folder / name).write_bytes(content)
    (source,) = read_sources(lifecycle(folder, name))
    assert (source.text, source.problem) == (text, None)


@pytest.mark.parametrize(
    "content",
    ["SELECT 1".encode("utf-16-le"), b"# coding: nonsense\n\xe9", b"# coding: hex\n\xe9", b"SELECT '\0'"],
)
def test_an_encoding_that_nothing_tells_is_a_problem_and_no_end(folder: Path, content: bytes) -> None:
    (folder / "a.sql").write_bytes(content)
    (source,) = read_sources(lifecycle(folder, "a.sql"))
    assert "save it as UTF-8" in (source.problem or "")


def test_a_file_beyond_the_limit_is_a_problem_and_one_at_the_limit_is_read(folder: Path) -> None:
    large = folder / "sql" / "a.sql"
    large.write_bytes(b" " * MAX_SOURCE_BYTES)
    assert len(read_sources(lifecycle(folder, "sql/a.sql"))[0].text) == MAX_SOURCE_BYTES
    large.write_bytes(b" " * (MAX_SOURCE_BYTES + 1))
    (source,) = read_sources(lifecycle(folder, "sql/a.sql"))
    assert (source.text, source.sha256) == ("", hashlib.sha256(large.read_bytes()).hexdigest())
    assert (source.problem or "").startswith("this file is larger than")


def test_a_pipe_is_refused_without_waiting_for_a_writer(folder: Path) -> None:
    os.mkfifo(folder / "sql" / "pipe.sql")
    with pytest.raises(InputError, match="not a regular file"):
        read_sources(lifecycle(folder, "sql/*.sql"))


def test_a_missing_path_by_hand_and_an_empty_folder_are_errors(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.sql cannot be read: No such file"):
        read_sources(lifecycle(folder), [tmp_path / "none.sql"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no \.sql file and no code"):
        read_sources(lifecycle(folder), [tmp_path / "empty"])


def test_a_file_of_another_kind_is_handed_on_and_known_as_such(folder: Path) -> None:
    (folder / "app.py").write_text("", encoding="utf-8")
    sources = read_sources(replace(lifecycle(folder), sources=("app.py", "sql/a.sql")))
    assert [(source.is_python, source.is_sql) for source in sources] == [(True, False), (False, True)]


def test_a_folder_by_hand_is_searched_for_code_outside_of_what_is_not_the_projects_own(folder: Path) -> None:
    for name in ("a.ts", "x/b.go", "c.png", "node_modules/d.js", ".git/e.py", "f.PY"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("", encoding="utf-8")
    files = [source.file for source in read_sources(lifecycle(folder), [folder])]
    assert files == ["a.ts", "f.PY", "sql/a.sql", "sql/b.sql", "x/b.go"]
