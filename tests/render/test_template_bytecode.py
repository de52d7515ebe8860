from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader
from jinja2.bccache import Bucket

from arrowproof.render.template_bytecode import KeptBytecode
from tests.render.pages import BUNDLED


@pytest.fixture
def fill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Fills the template ``greeting.j2`` of a folder, as a new process would."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr("sys.pycache_prefix", None)
    (tmp_path / "greeting.j2").write_text("Hello, {{ name }}")

    def fill() -> str:
        environment = Environment(loader=FileSystemLoader(tmp_path), autoescape=True, bytecode_cache=KeptBytecode())
        return environment.get_template("greeting.j2").render(name="<you>")

    return fill


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*")) if (folder / "__pycache__").is_dir() else []


def test_what_is_compiled_once_is_kept_beside_the_template_and_not_compiled_again(
    tmp_path: Path, fill: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fill() == "Hello, &lt;you&gt;"
    assert len(kept(tmp_path)) == 1
    monkeypatch.setattr(Environment, "compile", None)
    assert fill() == "Hello, &lt;you&gt;"


def test_a_template_that_has_changed_is_compiled_anew(tmp_path: Path, fill: Callable[[], str]) -> None:
    fill()
    (tmp_path / "greeting.j2").write_text("Bye, {{ name }}")
    assert fill() == "Bye, &lt;you&gt;"
    assert len(kept(tmp_path)) == 1


def test_bytecode_of_another_compiler_is_not_taken(
    tmp_path: Path, fill: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill()
    other = tmp_path / "compiler.py"
    other.write_text("another Jinja")
    monkeypatch.setattr("jinja2.compiler.__file__", str(other))
    loaded: list[object] = []
    load = Bucket.load_bytecode
    monkeypatch.setattr(Bucket, "load_bytecode", lambda self, f: (load(self, f), loaded.append(self.code))[0])
    assert fill() == "Hello, &lt;you&gt;"
    assert loaded == [None]


@pytest.mark.parametrize("damage", [b"", b"\x00", b"j2"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, fill: Callable[[], str], damage: bytes) -> None:
    fill()
    (file,) = kept(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage or whole[: len(whole) // 2])
    assert fill() == "Hello, &lt;you&gt;"
    assert file.read_bytes() == whole


def test_nothing_is_kept_where_python_keeps_nothing(
    tmp_path: Path, fill: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert fill() == "Hello, &lt;you&gt;"
    assert kept(tmp_path) == []


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path, fill: Callable[[], str]) -> None:
    (tmp_path / "__pycache__").write_text("a file in the way")
    assert fill() == "Hello, &lt;you&gt;"


def run_python(code: str, *arguments: object, prefix: Path | None = None) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPYCACHEPREFIX": str(prefix)} if prefix else {}
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], env=environment, check=True, timeout=60)


def test_what_cannot_be_written_whole_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "greeting.j2").write_text("Hello, {{ name }}")
    run_python(
        """
import resource, signal, sys
from jinja2 import Environment, FileSystemLoader
from arrowproof.render.template_bytecode import KeptBytecode
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # as on a full disk, within the file
Environment(loader=FileSystemLoader(sys.argv[1]), bytecode_cache=KeptBytecode()).get_template("greeting.j2")
""",
        tmp_path,
    )
    assert kept(tmp_path) == []


def test_the_templates_of_a_page_are_kept(tmp_path: Path) -> None:
    run_python(
        """
import sys
from pathlib import Path
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.page import render_page
render_page(load_lifecycle(Path(sys.argv[1])))
""",
        BUNDLED,
        prefix=tmp_path,
    )
    assert [path.name for path in tmp_path.rglob("page.html*")] != []
