from __future__ import annotations

import hashlib
import json
import os
import pty
import subprocess
import sys
from random import Random

import pytest
from PIL import Image

from arrowproof.cli.main import status_of
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
    (tmp_path / "page.html").write_text("mine")
    result = arrowproof("render", "notes", "-o", "page.html")
    assert result.status == 2
    assert "--force" in result.err
    assert (tmp_path / "page.html").read_text() == "mine"
    assert arrowproof("render", "notes", "-o", "page.html", "--force").status == 0
    assert is_page((tmp_path / "page.html").read_bytes()[:4096])


@pytest.mark.parametrize("output", ["lifecycle.json", "link.html"])
def test_render_never_replaces_what_it_draws_by_force_either(arrowproof, tmp_path, output):
    arrowproof("init")
    before = (tmp_path / "lifecycle.json").read_bytes()
    (tmp_path / "link.html").symlink_to("lifecycle.json")
    result = arrowproof("render", "--format", "html", "-o", output, "--force")
    assert (result.status, result.out) == (2, "")
    assert result.err == (f"error: {output} is what the drawing is made of. Name another file for the drawing\n")
    assert (tmp_path / "lifecycle.json").read_bytes() == before


def test_an_output_that_cannot_be_a_file_is_wrong_input(arrowproof, tmp_path):
    result = arrowproof("render", "notes", "-o", f"{'x' * 300}.html")
    assert (result.status, result.out) == (2, "")
    assert result.err.endswith("File name too long\n")
    assert list(tmp_path.iterdir()) == []


def test_render_says_that_a_page_of_few_states_is_heavier_than_promised(arrowproof, tmp_path):
    signs = [chr(code) for code in range(0x4E00, 0x9FFF)]
    panels = [{"title": "All", "lines": ["".join(Random(line).choices(signs, k=1000)) for line in range(36)]}]
    model = {"id": "a", "title": "A", "states": [{"id": "s", "kind": "success"}], "arrows": [], "panels": panels}
    (tmp_path / "lifecycle.json").write_text(json.dumps({"format": "arrowproof.lifecycle/1", **model}))
    heavy = arrowproof("render", "-o", "a.html")
    assert (heavy.status, "150 kB or more" in heavy.out) == (0, True)
    assert "150 kB" not in arrowproof("render", "notes", "-o", "b.html").out


@pytest.mark.parametrize("output", ["page.pdf", "page.jpg", "page.htlm"])
def test_a_suffix_that_nothing_is_drawn_as_is_refused_unless_the_format_is_named(arrowproof, tmp_path, output):
    result = arrowproof("render", "notes", "-o", output)
    assert (result.status, list(tmp_path.iterdir())) == (2, [])
    assert "Name a file that ends in one of .html, .svg, .png, .mmd, or say what it is by --format" in result.err
    assert arrowproof("render", "notes", "-o", output, "--format", "html").status == 0


def test_render_says_the_size_of_a_small_file_in_bytes(arrowproof, tmp_path):
    model = {"id": "a", "title": "A", "states": [{"id": "s", "kind": "success"}], "arrows": []}
    (tmp_path / "lifecycle.json").write_text(json.dumps({"format": "arrowproof.lifecycle/1", **model}))
    result = arrowproof("render", "-o", "a.mmd")
    assert result.out == f"wrote a.mmd ({(tmp_path / 'a.mmd').stat().st_size} bytes)\n"


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
    assert "13 遷移" in page
    result = arrowproof("render", "notes", "-o", "other.html", "--lang", "tlh")
    assert result.status == 2
    assert "'tlh' is not one of 'en', 'ja'" in result.err
    assert not (tmp_path / "other.html").exists()


FIRST_BYTES = {"svg": b"<svg ", "png": b"\x89PNG\r\n\x1a\n", "mmd": b"%% Arrowproof ", "html": b"<!doctype html>"}


@pytest.mark.parametrize("suffix", FIRST_BYTES)
def test_the_suffix_of_the_output_says_what_is_drawn_and_a_file_of_ours_is_replaced(arrowproof, tmp_path, suffix):
    name = f"drawing.{suffix}"
    for _ in range(2):
        result = arrowproof("render", "notes", "-o", name)
        assert (result.status, result.err) == (0, "")
        assert result.out.startswith(f"wrote {name} (")
    assert (tmp_path / name).read_bytes().startswith(FIRST_BYTES[suffix])


@pytest.mark.parametrize(("format_name", "suffix"), [("svg", "svg"), ("png", "png"), ("mermaid", "mmd")])
def test_a_format_without_an_output_names_the_file_after_the_model(arrowproof, tmp_path, format_name, suffix):
    assert arrowproof("render", "notes", "--format", format_name).status == 0
    assert (tmp_path / f"notes-job.{suffix}").read_bytes().startswith(FIRST_BYTES[suffix])


def test_a_format_and_a_suffix_that_say_different_things_are_refused(arrowproof, tmp_path):
    result = arrowproof("render", "notes", "--format", "svg", "-o", "drawing.PNG")
    assert (result.status, list(tmp_path.iterdir())) == (2, [])
    assert result.err == (
        "error: --format says svg, and drawing.PNG is named like png."
        " Leave --format out, or name a file that ends in .svg\n"
    )


def test_a_format_may_go_into_a_file_of_any_other_name(arrowproof, tmp_path):
    assert arrowproof("render", "notes", "--format", "mermaid", "-o", "drawing.txt").status == 0
    assert (tmp_path / "drawing.txt").read_bytes().startswith(FIRST_BYTES["mmd"])


@pytest.mark.parametrize("suffix", ["svg", "png", "mmd"])
def test_a_picture_never_replaces_a_file_that_this_command_did_not_make(arrowproof, tmp_path, suffix):
    foreign = {"svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>", "png": FIRST_BYTES["png"], "mmd": b"%% mine\n"}
    file = tmp_path / f"drawing.{suffix}"
    file.write_bytes(foreign[suffix])
    result = arrowproof("render", "notes", "-o", file.name)
    assert result.status == 2
    assert "was not made by this command" in result.err
    assert file.read_bytes() == foreign[suffix]
    assert arrowproof("render", "notes", "-o", file.name, "--force").status == 0
    assert file.read_bytes() != foreign[suffix]


def test_the_theme_of_a_picture_can_be_chosen(arrowproof, tmp_path):
    assert arrowproof("render", "notes", "-o", "dark.png", "--theme", "dark").status == 0
    with Image.open(tmp_path / "dark.png") as picture:
        assert picture.getpixel((3, 3)) == (16, 18, 20)
    assert arrowproof("render", "notes", "-o", "light.svg", "--theme", "light").status == 0
    assert b'data-theme="light"' in (tmp_path / "light.svg").read_bytes()[:4096]


@pytest.mark.parametrize("name", ["page.html", "drawing.mmd"])
def test_a_theme_for_what_is_no_picture_is_refused(arrowproof, tmp_path, name):
    result = arrowproof("render", "notes", "-o", name, "--theme", "dark")
    assert (result.status, list(tmp_path.iterdir())) == (2, [])
    assert "--theme is for pictures" in result.err


def test_a_mermaid_text_is_written_without_a_layout(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("arrowproof.cli.render.layout_lifecycle", None)
    assert status_of(["render", "notes", "-o", str(tmp_path / "notes.mmd"), "--json"]) == 0
    assert "layout" not in json.loads(capsys.readouterr().out)


def test_a_mermaid_text_that_mermaid_would_not_draw_is_said_to_be_too_long(arrowproof, tmp_path):
    states = [{"id": f"s{number}", "kind": "success", "label": ":" * 300} for number in range(50)]
    lifecycle = {"format": "arrowproof.lifecycle/1", "id": "long", "title": "Long", "arrows": [], "states": states}
    (tmp_path / "lifecycle.json").write_text(json.dumps(lifecycle), encoding="utf-8")
    assert "maxTextSize" in arrowproof("render", "-o", "long.mmd").out
    (tmp_path / "lifecycle.json").write_text(json.dumps({**lifecycle, "states": states[:40]}), encoding="utf-8")
    assert "maxTextSize" not in arrowproof("render", "-o", "long.mmd").out


@pytest.mark.parametrize("format_name", ["svg", "png"])
def test_json_reports_the_layouts_quality_for_every_drawing(arrowproof, tmp_path, format_name):
    said = json.loads(arrowproof("render", "notes", "--format", format_name, "--json").out)
    assert (said["format"], said["kind"]) == ("arrowproof.render/1", format_name)
    assert said["sha256"] == hashlib.sha256((tmp_path / said["file"]).read_bytes()).hexdigest()
    assert said["layout"]["crossings"] == 0


@pytest.mark.parametrize("format_name", ["svg", "png", "mermaid"])
def test_a_dash_writes_what_a_file_would_hold_to_standard_output(arrowproof, tmp_path, format_name):
    said = json.loads(arrowproof("render", "notes", "--format", format_name, "--json").out)
    command = [sys.executable, "-m", "arrowproof", "render", "notes", "--format", format_name, "-o", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=90, check=True)
    assert done.stdout == (tmp_path / said["file"]).read_bytes()
    assert done.stderr == b""


def test_a_png_without_a_chromium_names_the_command_that_installs_one(arrowproof, tmp_path):
    nowhere = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    result = arrowproof("render", "notes", "-o", "drawing.png", env=nowhere)
    assert result.status == 3
    assert result.err.endswith("To fix it: python -m playwright install --with-deps chromium\n")
    assert not (tmp_path / "drawing.png").exists()


def test_a_png_is_not_written_onto_a_terminal(tmp_path):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "arrowproof", "render", "notes", "--format", "png", "-o", "-"]
    done = subprocess.run(command, cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, timeout=90, check=False)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert b"a PNG is not for a terminal" in done.stderr


def test_help_shows_a_command_for_each_format(arrowproof):
    shown = arrowproof("render", "--help").out
    assert all(f"arrowproof render lifecycle.json {rest}" in shown for rest in ("-o docs/", "-o dark.png", "--format"))
