"""A copy of an example, with a change in it or none, and what the checks say of it."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from pathlib import Path

from arrowproof.conformance.driver import Driver
from arrowproof.errors import HOLDS
from arrowproof.model.loader import load_lifecycle
from tests.mutants.table import Change, Check, Mutant
from tests.mutants.trial import Judgement, check_plan, check_sql_of, choose

EXAMPLES = Path(__file__).parents[2] / "examples"


def copy_example(example: str, folder: Path, *changes: Change) -> Path:
    """Copy an example below a folder; its lifecycle file."""
    copy = folder / example
    shutil.copytree(EXAMPLES / example, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for change in changes:
        file = copy / change.file
        file.write_text(change.of(file.read_text(encoding="utf-8")), encoding="utf-8")
    return copy / "lifecycle.json"


def try_mutant(mutant: Mutant, example: str, folder: Path, database: str | None = None) -> Judgement:
    """Try the checks up to the one that the mutant is said to be killed by, and give the first that does not hold."""
    model = copy_example(example, folder, mutant.change)
    judgement = check_sql_of(model)
    if judgement.status == HOLDS and mutant.check is not Check.SQL:
        kills = mutant.check is Check.KILL
        judgement = drive_copy(model, mutant.tours, kills=kills, database=database)
    return judgement


def drive_copy(model: Path, goals: Sequence[str], *, kills: bool, database: str | None = None) -> Judgement:
    """What a proof of the tours to these goals says of a copy."""
    lifecycle = load_lifecycle(model)
    assert lifecycle.driver is not None
    driver = _driver(lifecycle.driver, model.parent)
    run_folder = model.parent.parent / "run"
    return check_plan(lifecycle, driver, run_folder, choose(lifecycle, goals), kills=kills, database=database)


def _driver(name: str, folder: Path) -> Driver:
    """The driver of this copy, whatever other copy was imported by that name."""
    module, _, made = name.partition(":")
    spec = importlib.util.spec_from_file_location(f"{module}_of_a_copy", folder / f"{module}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    driver: Driver = getattr(loaded, made)()
    return driver
