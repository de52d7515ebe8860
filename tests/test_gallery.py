"""The gallery: its lifecycles mean something, and its script makes and checks its files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arrowproof.model.linter import lint
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.chromium import open_browser

ROOT = Path(__file__).parent.parent
GALLERY = ROOT / "examples" / "gallery"
MODELS = sorted(GALLERY.glob("*.lifecycle.json"))
NAMES = [path.name.removesuffix(".lifecycle.json") for path in MODELS]


def run_script(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "scripts" / "make-gallery.py", *arguments, folder]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A gallery of two lifecycles, of which one bears a hostile title, made once and to be copied before a change."""
    folder = tmp_path_factory.mktemp("gallery")
    for name in ("sidekiq-job", "temporal-workflow"):
        shutil.copy(GALLERY / f"{name}.lifecycle.json", folder)
    hostile = folder / "temporal-workflow.lifecycle.json"
    document = json.loads(hostile.read_text(encoding="utf-8"))
    document["title"] = '</h2><script>document.title = "run"</script> & "quoted"'
    hostile.write_text(json.dumps(document), encoding="utf-8")
    done = run_script(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def gallery(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "gallery"))


def test_the_gallery_holds_the_ten_lifecycles():
    assert NAMES == [
        "github-check-run",
        "kubernetes-pod",
        "oban-job",
        "order",
        "parcel",
        "prefect-run",
        "river-job",
        "sidekiq-job",
        "spark-application",
        "temporal-workflow",
    ]


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_each_lifecycle_lints_strictly(path):
    assert [str(problem) for problem in lint(load_lifecycle(path))] == []


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_each_lifecycle_is_as_large_as_one_screen_shows_at_full_text_size_and_says_where_its_facts_are_from(path):
    lifecycle = load_lifecycle(path)
    assert path.name == f"{lifecycle.id}.lifecycle.json"
    assert 6 <= len(lifecycle.states) <= 15
    assert len(lifecycle.arrows) <= 28
    assert lifecycle.summary
    assert any(line.startswith("Facts: ") for panel in lifecycle.panels for line in panel.lines)


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_each_view_holds_both_ends_of_its_arrows_and_no_other_state(path):
    lifecycle = load_lifecycle(path)
    assert lifecycle.views
    for view in lifecycle.views:
        arrows = [lifecycle.arrows_by_id[name] for name in view.arrows]
        assert {end for arrow in arrows for end in (arrow.source, arrow.target) if end} == set(view.states), view.id


def test_the_script_makes_a_page_and_two_pictures_for_each_lifecycle_and_its_check_holds(gallery):
    made = sorted(path.name for path in gallery.iterdir() if not path.name.endswith(".lifecycle.json"))
    assert made == [
        "index.html",
        "manifest.json",
        "sidekiq-job.dark.png",
        "sidekiq-job.html",
        "sidekiq-job.light.png",
        "temporal-workflow.dark.png",
        "temporal-workflow.html",
        "temporal-workflow.light.png",
    ]
    done = run_script(gallery, "--check")
    assert (done.returncode, done.stdout) == (0, "the gallery is what the tool makes today: 2 pages\n")


def test_the_two_pictures_of_a_page_are_small_and_of_different_themes(gallery):
    from PIL import Image

    light = Image.open(gallery / "sidekiq-job.light.png").convert("L")
    dark = Image.open(gallery / "sidekiq-job.dark.png").convert("L")
    assert light.size == dark.size == (720, 450)
    assert light.getpixel((2, 2)) > 200 > 60 > dark.getpixel((2, 2))
    assert max(path.stat().st_size for path in gallery.glob("*.png")) < 80_000


def test_the_check_names_the_page_the_index_and_the_pictures_of_a_lifecycle_that_changed(gallery):
    model = gallery / "sidekiq-job.lifecycle.json"
    model.write_text(model.read_text(encoding="utf-8").replace('"Sidekiq job"', '"Another job"'), encoding="utf-8")
    done = run_script(gallery, "--check")
    assert done.returncode == 1
    assert [line.partition(". ")[0] for line in done.stdout.splitlines()] == [
        "sidekiq-job.html is stale",
        "index.html is stale",
        "sidekiq-job.light.png was taken of another page",
        "sidekiq-job.dark.png was taken of another page",
    ]


def test_the_check_finds_a_picture_that_was_changed_one_that_is_gone_and_files_of_no_lifecycle(gallery):
    with (gallery / "sidekiq-job.light.png").open("ab") as picture:
        picture.write(b"more")
    (gallery / "sidekiq-job.dark.png").unlink()
    (gallery / "old-job.html").write_text("old", encoding="utf-8")
    done = run_script(gallery, "--check")
    assert done.returncode == 1
    assert [line.partition(". ")[0] for line in done.stdout.splitlines()] == [
        "sidekiq-job.light.png is not the picture that was taken",
        "sidekiq-job.dark.png is not the picture that was taken",
        "old-job.html belongs to no lifecycle; remove it",
    ]


def test_a_folder_without_a_lifecycle_is_wrong_input_and_gets_no_file(tmp_path):
    done = run_script(tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"{tmp_path} holds no file that ends in .lifecycle.json\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_index_asks_only_for_the_pictures_of_its_theme_and_runs_nothing(made, theme):
    with open_browser() as browser:
        page = browser.new_page(color_scheme=theme)
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url.partition(":")[0] + ":" + Path(request.url).name))
        page.on("console", lambda message: said.append(message.text))
        page.goto((made / "index.html").as_uri())
        page.wait_for_load_state("networkidle")
        loaded = page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth)")
        title = page.title()
    assert said == []
    files = sorted(url for url in asked if url.startswith("file:"))
    assert files == ["file:index.html", f"file:sidekiq-job.{theme}.png", f"file:temporal-workflow.{theme}.png"]
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert loaded == [720, 720]
    assert title == "Gallery: 2 lifecycles, drawn by Arrowproof"


def test_the_index_shows_titles_as_they_are_written_and_each_link_is_reached_by_keyboard_and_named(made):
    with open_browser() as browser:
        page = browser.new_page()
        page.goto((made / "index.html").as_uri())
        heading = page.locator("h2").first.inner_text()
        reached = []
        for _ in range(8):
            page.keyboard.press("Tab")
            focused = "document.activeElement.getAttribute({!r}) ?? document.activeElement.innerText"
            reached.append((page.evaluate(focused.format("href")), page.evaluate(focused.format("aria-label"))))
    assert heading == '</h2><script>document.title = "run"</script> & "quoted"'
    assert [href for href, _ in reached] == [
        f"{name}{ending}"
        for name in ("temporal-workflow", "sidekiq-job")
        for ending in (".html", ".light.png", ".dark.png", ".lifecycle.json")
    ]
    assert [label for _, label in reached][4:] == [
        "Sidekiq job",
        "Sidekiq job in the light theme",
        "Sidekiq job in the dark theme",
        "Sidekiq job, the lifecycle file",
    ]
