"""What pages carry of the style and the script, beside the files that people write."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from arrowproof.render.assets import FORMAT, PARTS, TEMPLATES, asset
from arrowproof.render.export import STYLE_MARKERS
from arrowproof.render.page import SCRIPTS, STYLES

BUILD = Path(__file__).resolve().parents[2] / "scripts" / "build-parts.py"
HAS_MINIFIER = find_spec("minify") is not None  # there is no wheel of it for every platform


@pytest.mark.skipif(not HAS_MINIFIER, reason="needs tdewolff-minify")
def test_the_committed_parts_are_those_of_the_files_that_people_write(tmp_path: Path) -> None:
    built = tmp_path / "parts.json"
    subprocess.run([sys.executable, BUILD, built], check=True, capture_output=True)
    assert built.read_bytes() == PARTS.read_bytes(), "run scripts/build-parts.py"


def test_every_part_has_its_file_and_every_file_its_part() -> None:
    document = json.loads(PARTS.read_bytes())
    assert document["format"] == FORMAT
    assert sorted(document["parts"]) == sorted(
        path.name for path in TEMPLATES.iterdir() if path.suffix in (".js", ".css")
    )


@pytest.mark.parametrize("name", [*STYLES, *SCRIPTS])
def test_no_part_carries_a_comment(name: str) -> None:
    assert asset(name).strip()
    assert set(re.findall(r"/\*.*?\*/", asset(name))) <= set(STYLE_MARKERS)  # one is a text of the script
    assert "\n//" not in asset(name)


PARSE = """async (parts) => {
  const modules = parts.map((part) => new Blob([`export const script = () => {${part}};`], {type: "text/javascript"}));
  const reads = modules.map((each) => import(URL.createObjectURL(each)).then(() => "parsed", (error) => String(error)));
  return Promise.all(reads);
}"""
"""Each part as the browser reads it, strictly."""


def test_a_browser_reads_each_part_of_the_script_by_itself(browser: Browser) -> None:
    tab = browser.new_page()
    assert tab.evaluate(PARSE, [asset(name) for name in SCRIPTS]) == ["parsed"] * len(SCRIPTS)
    assert tab.evaluate(PARSE, ["const = 1;"]) != ["parsed"]
    tab.close()
