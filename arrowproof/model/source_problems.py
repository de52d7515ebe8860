"""Source problems: what lint says of the globs in the ``sources`` of a lifecycle that was read from a file.

It is apart from :mod:`arrowproof.model.linter`, which knows a lifecycle alone and is asked by every command: this looks
at the folder of the file, and only ``arrowproof lint`` asks for it.

================  ==================================================================
no-source         a glob matches no file, so that no statement in it is ever read
================  ==================================================================
"""

from __future__ import annotations

from arrowproof.errors import WARNING, InputError, Problem
from arrowproof.model.finding import finding
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.source_files import match_glob


def lint_sources(lifecycle: Lifecycle) -> tuple[Problem, ...]:
    """A warning for each source glob that matches no file; none for a lifecycle that no file in a folder holds."""
    path = lifecycle.origin.path
    if path is None or not path.is_file():
        return ()
    return tuple(
        finding(
            lifecycle,
            "no-source",
            f"$.sources[{number}]",
            "no file matches this glob in the folder of the lifecycle file",
            "Put the SQL there, correct the glob, or remove it while there is none.",
            value=glob,
            severity=WARNING,
        )
        for number, glob in enumerate(lifecycle.source_globs)
        if _is_without_file(lifecycle, glob)
    )


def _is_without_file(lifecycle: Lifecycle, glob: str) -> bool:
    try:
        return not match_glob(lifecycle.origin.folder, glob)
    except InputError:  # the scan says what is wrong with such a glob
        return False
