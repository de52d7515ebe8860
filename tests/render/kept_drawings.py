"""Drawings are made once in a run: many tests look at pages of the same lifecycles, and drawing takes most of a page.

A layout depends on nothing but what it is given, and so do the scenes of a page; that two processes come to the same
is what ``test_layout`` shows. What is kept stands on disk, in the folder of the run, for all of its workers. Whoever
imports a layout by its name to test it gets it as it is, and makes each drawing anew; so does a test that patches
something, by which a drawing may become another one.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from os import getpid
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import pytest

from arrowproof.render import layout, scenes

_MADE_ANEW: list[None] = []
"""As many entries as blocks in which nothing is kept."""


@contextmanager
def drawings_made_anew() -> Iterator[None]:
    """As long as the block lasts, each drawing is made where it is asked for, and none is kept."""
    _MADE_ANEW.append(None)
    try:
        yield
    finally:
        _MADE_ANEW.pop()


@contextmanager
def drawings_kept(folder: Path) -> Iterator[None]:
    """As long as the block lasts, pages take their drawings and scenes from this folder where it has them."""
    known: dict[str, Any] = {}
    kept_layout = _kept(layout.layout_lifecycle, folder, known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "layout_lifecycle", kept_layout)
        patch.setattr(scenes, "layout_lifecycle", kept_layout)
        patch.setattr(scenes, "plan_scenes", _kept(scenes.plan_scenes, folder, known))
        yield


def _kept(make: Callable[..., Any], folder: Path, known: dict[str, Any]) -> Callable[..., Any]:
    """The same function of a lifecycle and more, which keeps what it has made in memory and in the folder."""

    @wraps(make)
    def made(*given: Any, **named: Any) -> Any:
        if _MADE_ANEW:
            return make(*given, **named)
        # The origin of a lifecycle is no part of its repr.
        asked = repr((make.__name__, scenes.MAX_SCENES, given[0].origin, given, sorted(named.items())))
        key = sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
        if key not in known:
            known[key] = _read_or_make(folder / key, lambda: make(*given, **named))
        return known[key]

    return made


def _proxy(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)


class _Pickler(pickle.Pickler):
    """Writes a mapping that cannot be changed as well, which pickle by itself does not."""

    dispatch_table: ClassVar = {**copyreg.dispatch_table, MappingProxyType: lambda it: (_proxy, (dict(it),))}


def _read_or_make(file: Path, make: Callable[[], Any]) -> Any:
    try:
        return pickle.loads(file.read_bytes())
    except FileNotFoundError:
        made = make()
    new = file.with_suffix(f".{getpid()}")
    with new.open("wb") as opened:
        _Pickler(opened).dump(made)
    new.replace(file)
    return made
