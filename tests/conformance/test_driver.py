"""Finding a driver by its name: a wrong one is wrong input, told in one message and never as a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arrowproof.conformance.bundled import NotesDriver
from arrowproof.conformance.driver import Driver, load_driver
from arrowproof.errors import InputError


@pytest.fixture(autouse=True)
def _import_state() -> Iterator[None]:
    """What a test imports is forgotten after it."""
    paths, modules = sys.path[:], set(sys.modules)
    yield
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def test_the_bundled_driver_is_found_by_its_name() -> None:
    driver = load_driver("arrowproof.conformance.bundled:NotesDriver")
    assert isinstance(driver, NotesDriver)
    assert isinstance(driver, Driver)


def test_a_driver_is_found_in_the_folder_of_the_lifecycle_file(tmp_path: Path) -> None:
    methods = "".join(f"    def {name}(self): ...\n" for name in ("stop", "walk"))
    (tmp_path / "own_driver.py").write_text(f"class Own:\n    def start(self, folder): return folder\n{methods}")
    assert str(load_driver("own_driver:Own", tmp_path).start(Path("here"))) == "here"


@pytest.mark.parametrize(
    "spec", ["", "module", "module:", ":Class", "a:b:c", "a b:C", "../x:C", "os.path:join()", "1:A"]
)
def test_a_name_that_is_no_module_and_class_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="names no driver; write module:Class"):
        load_driver(spec)


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no module 'no_such_driver'; is it on PYTHONPATH"):
        load_driver("no_such_driver:Driver")


def test_a_module_that_is_not_there_is_looked_for_beside_the_lifecycle(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'no_such_driver'; is it beside the lifecycle file, on PYTHONPATH"):
        load_driver("no_such_driver:Driver", tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_library", "no module 'no_such_library', which broken_driver imports"),
        ("class Other: ...", "has no attribute 'Own'"),
        ("Own = 3", "TypeError: 'int' object is not callable"),
        ("class Own: ...", "has no method start, stop, walk; a driver has start, stop, walk"),
        ("class Own:\n    def stop(self): ...\n    def start_on(self): ...", "has no method walk; a driver has"),
        ("class Own:\n    def __init__(self, url): ...", "missing 1 required positional argument: 'url'"),
        ("def (", "SyntaxError"),
        ("raise RuntimeError('no\\nluck')", "RuntimeError: no"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
    ],
)
def test_a_driver_that_cannot_be_made_says_why(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "broken_driver.py").write_text(text)
    with pytest.raises(InputError, match=message):
        load_driver("broken_driver:Own", tmp_path)
