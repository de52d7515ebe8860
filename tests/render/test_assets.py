"""What pages carry of the style and the script, beside the files that people write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from arrowproof.render import assets
from arrowproof.render.assets import asset, kept_parts, short_style
from arrowproof.render.page import STYLES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr("sys.pycache_prefix", None)
    (tmp_path / "one.js").write_text("// Says it.\nconst text = 1;\n")
    (tmp_path / "two.css").write_text("/* Of all. */\np { color: red;\n  margin: 0 }\n")
    (tmp_path / "page.html.j2").write_text("no part")
    return tmp_path


PARTS = {"one.js": "const a=1;\n", "two.css": "p { color: red;margin: 0 }\n"}


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*")) if (folder / "__pycache__").is_dir() else []


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def never(_sources: Mapping[str, str]) -> dict[str, str]:
        raise AssertionError("parts were made anew")

    return lambda: monkeypatch.setattr(assets, "short_parts", never)


def test_what_is_shortened_once_is_kept_beside_the_files_and_not_made_again(
    folder: Path, never: Callable[[], None]
) -> None:
    assert kept_parts(folder) == PARTS
    assert len(kept(folder)) == 1
    never()
    assert kept_parts(folder) == PARTS


def test_a_part_that_has_changed_and_one_that_is_new_are_made_anew(folder: Path) -> None:
    kept_parts(folder)
    (folder / "one.js").write_text("const other = 2;\n")
    assert kept_parts(folder)["one.js"] == "const a=2;\n"
    (folder / "three.js").write_text("const text = 3;\n")
    assert kept_parts(folder)["three.js"] == "const b=3;\n"
    assert len(kept(folder)) == 1


def test_parts_that_were_made_in_another_way_are_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_parts(folder)
    monkeypatch.setattr(assets, "_SHORTENING", ("assets.py",))
    made: list[object] = []
    monkeypatch.setattr(assets, "short_parts", lambda sources: made.append(sources) or PARTS)
    kept_parts(folder)
    assert len(made) == 1


@pytest.mark.parametrize(
    "damage", [b"", b"\xff", b"[]", b"{}", b'{"checksum": 1}', b'{"checksum": "SUM", "parts": {"one.js": ""}}']
)
def test_a_damaged_file_is_made_anew(folder: Path, damage: bytes) -> None:
    kept_parts(folder)
    (file,) = kept(folder)
    whole = file.read_bytes()
    file.write_bytes(damage.replace(b"SUM", json.loads(whole)["checksum"].encode()))
    assert kept_parts(folder) == PARTS
    assert file.read_bytes() == whole


def test_nothing_is_kept_where_python_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert kept_parts(folder) == PARTS
    assert kept(folder) == []


def test_a_folder_that_cannot_be_written_does_no_harm(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file in the way")
    assert kept_parts(folder) == PARTS


@pytest.mark.parametrize(
    ("source", "carried"),
    [
        ("/* One\n   of two. */\na{b:c}\n\n d{e:f}\n", "a{b:c}d{e:f}\n"),
        ("@media print{\n a{b:c;\n  d:e}\n}\n", "@media print{a{b:c;d:e}}\n"),
        ("a,\nb{c:d,\n e}", "a,b{c:d,e}\n"),
        ("a\nb{c:d}", "a\nb{c:d}\n"),
    ],
)
def test_a_style_loses_comments_and_the_ends_of_lines_that_part_nothing(source: str, carried: str) -> None:
    assert short_style(source) == carried


@pytest.mark.parametrize("name", STYLES)
def test_no_part_of_the_style_has_a_comment(name: str) -> None:
    assert asset(name).strip()
    assert "/*" not in asset(name)
