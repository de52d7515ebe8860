"""The table of mutants: changes of the bundled service that the proof has to find out, one TOML file a part of it.

A mutant has these fields:

===========  ==========================================================================================
``id``       its name, in kebab case
``class``    what kind of mistake it is
``file``     the file that is changed, relative to ``arrowproof/service``
``old``      the text that is taken out; it stands in the file exactly once
``new``      the text that is put in its place
``check``    the cheapest check that kills it: ``sql``, ``walk`` or ``kill``
``tours``    for ``walk`` and ``kill``: the tours that show it, each by its goal, as in
             ``pending -> failed by set_aside`` where several arrow paths lead there
``reason``   a part of what the JSON verdict has to say of it
===========  ==========================================================================================

An equivalent one has ``id``, ``class``, ``file``, ``old``, ``new`` and ``why``: the argument that nobody who uses the
service on SQLite can tell it from the service as it is.
"""

from __future__ import annotations

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any

from arrowproof.model.record import record

FOLDER = Path(__file__).parent
SERVICE = FOLDER.parents[1] / "arrowproof" / "service"


class Check(StrEnum):
    """What kills a mutant, the cheapest first; the last, a whole proof by the command, is for looks by hand.

    A race is several workers at once on PostgreSQL; see ``races``.
    """

    SQL = "sql"
    WALK = "walk"
    KILL = "kill"
    RACE = "race"
    WHOLE = "whole"


@record
class Change:
    """One text of one file of the service, and what stands there instead of it."""

    id: str
    kind: str
    file: str
    old: str
    new: str

    def of(self, text: str) -> str:
        """The file's text after the change.

        Raises:
            ValueError: the old text does not stand there exactly once, or the change changes nothing.
        """
        found = text.count(self.old)
        if found != 1 or self.old == self.new:
            raise ValueError(f"{self.id}: its old text stands {found} times in {self.file}; it must be there once")
        return text.replace(self.old, self.new)


@record
class Mutant:
    """A change that the proof has to find out, by which check, on which tours, and what it has to say."""

    change: Change
    check: Check
    reason: str
    tours: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its name."""
        return self.change.id


@record
class Equivalent:
    """A change that makes no difference, and why."""

    change: Change
    why: str


def read_mutants(part: str | None = None, folder: Path = FOLDER) -> tuple[Mutant, ...]:
    """The mutants of one part of the table in a folder, or of all, in the order of the files and in theirs."""
    return tuple(
        Mutant(_change(entry), Check(entry["check"]), entry["reason"], tuple(entry.get("tours", ())))
        for file in sorted(folder.glob(f"{part or '*'}.toml"))
        for entry in _read(file).get("mutant", ())
    )


def read_equivalents() -> tuple[Equivalent, ...]:
    """The changes that make no difference."""
    return tuple(
        Equivalent(_change(entry), entry["why"])
        for file in sorted(FOLDER.glob("*.toml"))
        for entry in _read(file).get("equivalent", ())
    )


def _read(file: Path) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _change(entry: dict[str, Any]) -> Change:
    return Change(entry["id"], entry["class"], entry["file"], entry["old"], entry["new"])
