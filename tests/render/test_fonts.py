from __future__ import annotations

import base64
import importlib.util
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from arrowproof.render.fonts import FACES, FOLDER, SCRIPTS, TIERS, face_file, font_faces_css, script_files

ROOT = Path(__file__).resolve().parents[2]
HAS_FONT_TOOLS = importlib.util.find_spec("fontTools") is not None and importlib.util.find_spec("fontpkg_ibm_plex_sans")


def test_each_face_is_a_woff2_file_in_a_data_url() -> None:
    urls = re.findall(r"url\(data:font/woff2;base64,([A-Za-z0-9+/=]+)\)", font_faces_css())
    assert len(urls) == len(FACES) + len(SCRIPTS)
    for data in urls:
        assert base64.b64decode(data)[:4] == b"wOF2"


def test_basic_faces_leave_most_of_a_page_of_150_kb_to_what_it_shows() -> None:
    assert len(font_faces_css({"sans": "done", "mono": "id"})) < 21_000
    assert len(font_faces_css({"sans": "fertig, für später", "mono": "größe"})) < 28_000
    assert len(font_faces_css({"sans": "gotowe, później", "mono": "id"})) < 26_000
    assert len(font_faces_css({"sans": "Trạng thái đã hủy", "mono": "id"})) < 26_000
    assert len(font_faces_css({"sans": "готово, ще раз", "mono": "id"})) < 32_000


@pytest.mark.parametrize(
    ("text", "sans", "mono"),
    [
        ("attempts ≤ 3 → done", "sans-basic", "mono-basic"),
        ("受付待ち ☀ привет", "sans-basic", "mono-basic"),
        ("Größe", "sans-western", "mono-western"),
        ("«¿Mañana?» – œuvre", "sans-western", "mono"),
        ("„Prüfung“ ‚ab‘ 5 €, § 3", "sans-western", "mono"),
        ("¼ £", "sans", "mono"),
        ("Łódź", "sans-central", "mono"),
        ("Žluťoučký kůň, gyűrű, größer „Łódź”", "sans-central", "mono"),
        ("„Łódź” 5 € STRAẞE șț", "sans-extended", "mono"),
        ("Trạng thái đã hủy", "sans-vietnamese", "mono"),
        ("Trạng thái „œuvre“", "sans", "mono"),
        ("caffe\N{COMBINING GRAVE ACCENT}", "sans-western", "mono-western"),
    ],
)
def test_the_file_of_a_face_is_the_smallest_that_draws_the_text(text: str, sans: str, mono: str) -> None:
    assert (face_file("sans", text), face_file("mono", text)) == (sans, mono)


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Größe, Łódź, 状態", ()),
        ("Привіт, ґанок", ("sans-cyrillic",)),
        ("Ђорђе", ("sans-cyrillic", "sans-cyrillic-south")),
        ("Құжат", ("sans-cyrillic", "sans-cyrillic-wide")),
        ("Έγινε — готово", ("sans-cyrillic", "sans-greek")),
    ],
)
def test_letters_of_another_script_bring_their_file_to_the_text_face_alone(text: str, files: tuple[str, ...]) -> None:
    assert script_files("sans", text) == files
    assert script_files("mono", text) == ()
    assert font_faces_css({"sans": text}).count("unicode-range:") == len(files)


@pytest.mark.parametrize("face", FACES)
def test_each_file_of_a_face_has_the_basic_characters_and_none_that_the_whole_one_lacks(face: str) -> None:
    basic, *others, whole = (set(characters) for characters in TIERS[face].values())
    assert all(basic < each < whole for each in others)


@pytest.mark.parametrize("face", FACES)
def test_a_file_that_is_tried_earlier_is_no_heavier_but_for_some_bytes(face: str) -> None:
    sizes = [(FOLDER / f"{name}.woff2").stat().st_size for name in TIERS[face]]
    assert all(earlier < later + 600 for place, earlier in enumerate(sizes) for later in sizes[place:])


def test_no_letter_stands_in_two_files_of_other_scripts() -> None:
    ranges = sorted(each for ranges in SCRIPTS.values() for each in ranges)
    assert all(last < first for (_, last), (first, _) in pairwise(ranges))
    covered = {code for first, last in ranges for code in range(first, last + 1)}
    assert {*range(0x370, 0x500)} <= covered


@pytest.mark.skipif(not HAS_FONT_TOOLS, reason="needs the fonts extra")
@pytest.mark.parametrize(
    ("face", "file"), [(face, file) for face, files in TIERS.items() for file in files if file != face]
)
def test_a_smaller_file_draws_its_characters_as_the_whole_one_does(face: str, file: str) -> None:
    from fontTools.ttLib import TTFont

    with TTFont(FOLDER / f"{face}.woff2") as whole, TTFont(FOLDER / f"{file}.woff2") as small:
        known, advances = whole.getBestCmap(), whole["hmtx"]
        drawn = small.getBestCmap()
        assert {chr(code) for code in drawn} == set(TIERS[face][file]) & {chr(code) for code in known}
        assert all(small["hmtx"][drawn[code]] == advances[known[code]] for code in drawn)
        assert small["name"].getDebugName(1) == whole["name"].getDebugName(1)


def test_no_face_bears_the_reserved_font_name() -> None:
    assert "Plex" not in font_faces_css()
    assert all((FOLDER / f"OFL-{name}.txt").is_file() for name in ("ibm-plex-sans", "jetbrains-mono"))


def test_reading_the_faces_imports_no_font_tools() -> None:
    code = (
        "import sys; from arrowproof.render.fonts import font_faces_css; font_faces_css({'sans': 'é'}); "
        "sys.exit(any(name.split('.')[0] in ('fontTools', 'brotli') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(not HAS_FONT_TOOLS, reason="needs the fonts extra")
def test_a_rebuild_gives_the_committed_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "build-fonts.py", tmp_path], check=True, capture_output=True)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert built == {path.name: path.read_bytes() for path in FOLDER.iterdir()}


@pytest.mark.skipif(not HAS_FONT_TOOLS, reason="needs the fonts extra")
def test_the_embedded_font_names_itself_by_its_new_family() -> None:
    from fontTools.ttLib import TTFont

    for file in ("sans", "sans-greek", "mono"):
        with TTFont(FOLDER / f"{file}.woff2") as font:
            family = font["name"].getDebugName(1)
        assert family == ("Arrowproof Mono" if file == "mono" else "Arrowproof Sans")
