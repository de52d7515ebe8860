from __future__ import annotations


def test_init_writes_a_starter_that_lints_strictly_once_its_sql_is_there_and_renders(arrowproof, tmp_path):
    assert arrowproof("init").status == 0
    assert arrowproof("lint").err.count("[warning: no-source]") == 1
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "mail.sql").touch()
    assert arrowproof("lint", "--strict").status == 0
    assert arrowproof("render", "-o", "page.html").status == 0
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_init_leaves_a_file_that_is_there_alone(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text("mine")
    result = arrowproof("init")
    assert result.status == 2
    assert result.err == "error: lifecycle.json is there already. Name another file, or replace it with --force\n"
    assert (tmp_path / "lifecycle.json").read_text() == "mine"


def test_init_replaces_it_when_forced(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text("mine")
    assert arrowproof("init", "--force").status == 0
    assert arrowproof("lint").status == 0
