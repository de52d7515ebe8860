"""What a driver answers, checked before anything is believed of it.

A driver is a user's class. One that returns None, or a key of its own invention, must be told so: an answer of the
wrong form would otherwise leave a walk or a kill without anything that could go wrong in it.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from math import isfinite
from pathlib import Path
from typing import Any
from uuid import UUID

from arrowproof.conformance.display import one_line
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.rows import scalar
from arrowproof.errors import InputError
from arrowproof.model.evidence import Moment, Process, Row, Scalar
from arrowproof.model.transitions import Pair

_WALKED = 'Walked(key), with a key such as (("id", 7),)'
_KILLED = "Killed(point, processes, key)"


def checked_database(answer: Any, folder: Path) -> Path:
    """The answer of ``start``: the database file of the service, inside ``folder``.

    Raises:
        DriverError: it is no path, no file is there, or the file is elsewhere.
    """
    wanted = f"it must answer the path of the service's database, a file in {folder}, once its tables are made"
    if not isinstance(answer, str | os.PathLike):
        raise DriverError(f"The driver's start() answered {_shown(answer)}; {wanted}.")
    database = Path(answer)
    if not database.is_file():
        raise DriverError(f"The driver's start() answered {database}, where no file is; {wanted}.")
    # A file of two names may be somebody's, wherever the other one is.
    if not database.resolve().is_relative_to(folder.resolve()) or database.stat().st_nlink > 1:
        raise DriverError(f"The driver's start() answered {database}, a file elsewhere; {wanted}.")
    return database


def checked_walked(answer: Any, method: str) -> Walked:
    """The answer of ``walk`` or ``recover``, with its key and processes as tuples.

    Raises:
        DriverError: it is no Walked, or a part of it has another form; the message shows the right one.
    """
    if not isinstance(answer, Walked):
        raise DriverError(f"The driver's {method}() answered {_shown(answer)}; it must answer {_WALKED}.")
    path, ahead = _checked_path(answer.path, method), _checked_pairs(answer.ahead, method)
    return Walked(_checked_key(answer.key, method), _checked_processes(answer.processes, method), path, ahead)


def checked_killed(answer: Any) -> Killed:
    """The answer of ``kill``, with its key and processes as tuples; the key may be None while no row is known.

    Raises:
        DriverError: as for :func:`checked_walked`.
    """
    if not isinstance(answer, Killed):
        raise DriverError(f"The driver's kill() answered {_shown(answer)}; it must answer {_KILLED}.")
    key = None if answer.key is None else _checked_key(answer.key, "kill")
    return Killed(str(answer.point), _checked_processes(answer.processes, "kill"), key)


def checked_beats(beats: Any) -> frozenset[str]:
    """The columns that a service moves by itself, as its driver names them.

    Raises:
        InputError: they are no collection of names; a name alone is none.
    """
    if isinstance(beats, str) or not isinstance(beats, Collection) or not all(isinstance(each, str) for each in beats):
        raise InputError(f'The driver\'s beats are {_shown(beats)}; they are columns, such as ("leased_until",).')
    return frozenset(beats)


def checked_moments(moments: Any) -> tuple[Moment, ...]:
    """The moments at which a service can hold its first worker, in their order.

    Raises:
        InputError: they are no collection of moments.
    """
    if not isinstance(moments, Collection) or not all(isinstance(each, Moment) for each in moments):
        form = "they are those at which the service can be held, such as (Moment.READ, Moment.WRITTEN)"
        raise InputError(f"The driver's moments are {_shown(moments)}; {form}.")
    return tuple(each for each in Moment if each in moments)


def _checked_key(key: Any, method: str) -> Row:
    is_row = isinstance(key, tuple | list) and all(
        isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str) for pair in key
    )
    if not is_row:
        form = 'a key is column and value pairs, such as (("id", 7),)'
        raise DriverError(f"The driver's {method}() gave the key {_shown(key)}; {form}.")
    return tuple((column, _checked_value(value, key, method)) for column, value in key)


def _checked_value(value: Any, key: Any, method: str) -> Scalar:
    """A value of a key as evidence holds it: of what a client gives for a uuid or a blob, the text."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes):
        return scalar(value)
    is_held = value is None or (
        _is_text(value)
        or (isinstance(value, int) and -(2**63) <= value < 2**63)
        or (isinstance(value, float) and isfinite(value))
    )
    if not is_held:
        form = "its values are text, numbers of 64 bits, or None, as the database holds them"
        raise DriverError(f"The driver's {method}() gave the key {_shown(key)}; {form}.")
    return value  # type: ignore[no-any-return]  # a Scalar by what it is


def _is_text(value: Any) -> bool:
    """Whether it is text that a database and a report can hold: no half of a pair of surrogates."""
    return isinstance(value, str) and value == value.encode(errors="replace").decode()


def _checked_path(path: Any, method: str) -> tuple[str, ...] | None:
    if path is None:
        return None
    if not isinstance(path, tuple | list) or not all(isinstance(arrow, str) for arrow in path):
        form = 'it is the ids of arrows, such as ("pick", "succeed")'
        raise DriverError(f"The driver's {method}() gave the path {_shown(path)}; {form}.")
    return tuple(path)


def _checked_processes(processes: Any, method: str) -> tuple[Process, ...]:
    if not isinstance(processes, tuple | list) or not all(map(_is_process, processes)):
        form = "it must be a tuple of Process(role, pid, ended)"
        raise DriverError(f"The driver's {method}() gave the processes {_shown(processes)}; {form}.")
    return tuple(processes)


def _is_process(process: Any) -> bool:
    return (
        isinstance(process, Process)
        and isinstance(process.pid, int)
        and isinstance(process.role, str)
        and isinstance(process.ended, str)
    )


def _checked_pairs(ahead: Any, method: str) -> tuple[Pair, ...]:
    is_pairs = isinstance(ahead, tuple | list) and all(
        isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(end, str | None) for end in pair)
        for pair in ahead
    )
    if not is_pairs:
        form = 'they are pairs of states, such as (("running", "queued"),)'
        raise DriverError(f"The driver's {method}() gave the transitions ahead {_shown(ahead)}; {form}.")
    return tuple((source, target) for source, target in ahead)


def _shown(value: object) -> str:
    return one_line(repr(value), 80)
