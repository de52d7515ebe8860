from __future__ import annotations

import json
import os

from arrowproof.cli.render import is_page


def test_render_writes_one_page_and_replaces_its_own(arrowproof, tmp_path):
    first = arrowproof("render", "notes", "-o", "page.html")
    assert first.status == 0
    page = (tmp_path / "page.html").read_bytes()
    assert arrowproof("render", "notes", "-o", "page.html").status == 0
    assert (tmp_path / "page.html").read_bytes() == page


def test_render_without_an_output_names_the_page_after_the_model(arrowproof, tmp_path):
    assert arrowproof("render", "notes").status == 0
    assert (tmp_path / "notes-job.html").exists()


def test_render_never_replaces_a_file_that_it_did_not_make(arrowproof, tmp_path):
    arrowproof("init")
    before = (tmp_path / "lifecycle.json").read_bytes()
    result = arrowproof("render", "-o", "lifecycle.json")
    assert result.status == 2
    assert "--force" in result.err
    assert (tmp_path / "lifecycle.json").read_bytes() == before


def test_render_into_a_folder_is_refused(arrowproof, tmp_path):
    result = arrowproof("render", "notes", "-o", str(tmp_path))
    assert result.status == 2
    assert "is a folder" in result.err


def test_render_into_a_pipe_is_refused_and_leaves_it(arrowproof, tmp_path):
    os.mkfifo(tmp_path / "page.html")
    result = arrowproof("render", "notes", "-o", "page.html", "--force")
    assert result.status == 2
    assert "is a device or a pipe" in result.err
    assert (tmp_path / "page.html").is_fifo()


def test_render_json_reports_the_pages_hash_and_the_layouts_quality(arrowproof):
    result = arrowproof("render", "notes", "-o", "page.html", "--json")
    said = json.loads(result.out)
    assert said["format"] == "arrowproof.render/1"
    assert len(said["sha256"]) == 64
    assert said["layout"]["crossings"] == 0


def test_a_broken_model_writes_no_page(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text("{")
    result = arrowproof("render", "-o", "page.html")
    assert result.status == 2
    assert not (tmp_path / "page.html").exists()


def test_a_symbolic_link_stays_one_and_its_target_is_written(arrowproof, tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "page.html").symlink_to("pages/real.html")
    for _ in range(2):
        assert arrowproof("render", "notes", "-o", "page.html").status == 0
        assert (tmp_path / "page.html").is_symlink()
    assert is_page((tmp_path / "pages" / "real.html").read_bytes()[:4096])


def test_a_symbolic_link_to_a_foreign_file_or_to_itself_is_refused(arrowproof, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "page.html").symlink_to("mine.txt")
    (tmp_path / "loop.html").symlink_to("loop.html")
    assert arrowproof("render", "notes", "-o", "page.html").status == 2
    assert arrowproof("render", "notes", "-o", "loop.html").status == 2
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "loop.html").is_symlink()


def test_the_longest_id_gives_a_file_name_that_every_file_system_takes(arrowproof, tmp_path):
    model = {"id": "𝐀" * 200, "title": "t", "states": [{"id": "s", "kind": "success"}], "arrows": []}
    (tmp_path / "lifecycle.json").write_text(json.dumps({"format": "arrowproof.lifecycle/1", **model}))
    assert arrowproof("render").status == 0
    (page,) = tmp_path.glob("*.html")
    assert len(page.name.encode()) <= 255


def test_a_folder_that_is_not_there_is_not_made(arrowproof, tmp_path):
    result = arrowproof("render", "notes", "-o", "typo/page.html")
    assert (result.status, result.out) == (2, "")
    assert result.err == f"error: there is no folder {tmp_path / 'typo'}. Make it first, or name another file\n"
    assert not (tmp_path / "typo").exists()


def test_a_dash_writes_the_page_to_standard_output_and_nothing_else(arrowproof, tmp_path):
    arrowproof("render", "notes", "-o", "page.html")
    result = arrowproof("render", "notes", "-o", "-", env={"PYTHONIOENCODING": "latin-1"})
    assert (result.status, result.err) == (0, "")
    assert result.out == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not (tmp_path / "-").exists()


def test_a_dash_and_json_cannot_share_standard_output(arrowproof, tmp_path):
    result = arrowproof("render", "notes", "-o", "-", "--json")
    assert result.status == 2
    assert "Name a file for the page" in json.loads(result.out)["message"]
    assert not (tmp_path / "-").exists()


def test_the_page_speaks_the_language_that_is_asked_for_and_no_unknown_one(arrowproof, tmp_path):
    assert arrowproof("render", "notes", "-o", "page.html", "--lang", "ja").status == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<html lang="ja">' in page
    assert "7 遷移" in page
    result = arrowproof("render", "notes", "-o", "other.html", "--lang", "tlh")
    assert result.status == 2
    assert "'tlh' is not one of 'en', 'ja'" in result.err
    assert not (tmp_path / "other.html").exists()
