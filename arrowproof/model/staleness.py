"""Staleness: whether evidence is of the model and the sources as they are today.

File names in evidence are untrusted and never opened: the globs of the lifecycle say which files there are today, and
the names of the evidence are only compared with theirs.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from arrowproof.errors import InputError
from arrowproof.model.evidence import Evidence
from arrowproof.model.lifecycle import Dialect, Lifecycle
from arrowproof.model.record import record
from arrowproof.model.source_files import MAX_FILES, match_glob, read_source, relative_name


class DifferenceKind(StrEnum):
    """In what evidence and today differ: another model, another version of it, or its sources."""

    MODEL = "model"
    VERSION = "version"
    CHANGED = "changed"
    GONE = "gone"
    NEW = "new"
    UNREADABLE = "unreadable"


@record
class Difference:
    """One difference. ``evidence`` and ``today`` are ids or SHA-256 of the model, or ``today`` is a file or a glob."""

    kind: DifferenceKind
    today: str
    evidence: str = ""


def find_differences(lifecycle: Lifecycle, evidence: Evidence) -> tuple[Difference, ...]:
    """In what the evidence is not of this lifecycle with its sources of today; empty when it is.

    Reads the files that the lifecycle's globs match. What cannot be read is a difference, not an error.
    """
    if evidence.model_id != lifecycle.id:
        return (Difference(DifferenceKind.MODEL, lifecycle.id, evidence.model_id),)
    found = []
    if evidence.model_sha256 != lifecycle.origin.sha256:
        found.append(Difference(DifferenceKind.VERSION, lifecycle.origin.sha256, evidence.model_sha256))
    if evidence.environment.database == "PostgreSQL":
        # As the proof has read it, whatever the model says.
        lifecycle = replace(lifecycle, dialect=Dialect.POSTGRESQL)
    today, unreadable = _hashes(lifecycle)
    then = {source.file: source.sha256 for source in evidence.sources}
    found += [Difference(DifferenceKind.CHANGED, name) for name in today if name in then and then[name] != today[name]]
    found += [Difference(DifferenceKind.GONE, name) for name in then if name not in today and name not in unreadable]
    found += [Difference(DifferenceKind.NEW, name) for name in today if name not in then]
    return (*found, *(Difference(DifferenceKind.UNREADABLE, name) for name in unreadable))


def _hashes(lifecycle: Lifecycle) -> tuple[dict[str, str], tuple[str, ...]]:
    """The SHA-256 of every source by its name, and the names and globs that cannot be read."""
    folder = lifecycle.origin.folder
    files: dict[str, Path] = {}
    unreadable: list[str] = []
    for glob in lifecycle.source_globs:
        try:
            files |= {relative_name(file, folder): file for file in match_glob(folder, glob)}
        except InputError:
            unreadable.append(glob)
    hashes: dict[str, str] = {}
    for name in sorted(files):
        try:
            if len(hashes) == MAX_FILES:
                raise InputError(f"more than {MAX_FILES} files")
            hashes[name] = hashlib.sha256(read_source(files[name])).hexdigest()
        except InputError:
            unreadable.append(name)
    return hashes, tuple(unreadable)
