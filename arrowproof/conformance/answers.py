"""What a driver answers, checked before anything is believed of it.

A driver is a user's class. One that returns None, or a key of its own invention, must be told so: an answer of the
wrong form would otherwise leave a walk or a kill without anything that could go wrong in it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from arrowproof.conformance.display import one_line
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.model.evidence import Process, Row
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
    if not database.resolve().is_relative_to(folder.resolve()):
        raise DriverError(f"The driver's start() answered {database}, a file elsewhere; {wanted}.")
    return database


def checked_walked(answer: Any, method: str) -> Walked:
    """The answer of ``walk`` or ``recover``, with its key and processes as tuples.

    Raises:
        DriverError: it is no Walked, or a part of it has another form; the message shows the right one.
    """
    if not isinstance(answer, Walked):
        raise DriverError(f"The driver's {method}() answered {_shown(answer)}; it must answer {_WALKED}.")
    path = None if answer.path is None else tuple(answer.path)
    ahead = _checked_pairs(answer.ahead, method)
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


def _checked_key(key: Any, method: str) -> Row:
    is_row = isinstance(key, tuple | list) and all(
        isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str) for pair in key
    )
    if not is_row:
        form = 'a key is column and value pairs, such as (("id", 7),)'
        raise DriverError(f"The driver's {method}() gave the key {_shown(key)}; {form}.")
    return tuple((column, value) for column, value in key)


def _checked_processes(processes: Any, method: str) -> tuple[Process, ...]:
    if not isinstance(processes, tuple | list) or not all(isinstance(process, Process) for process in processes):
        form = "it must be a tuple of Process(role, pid, ended)"
        raise DriverError(f"The driver's {method}() gave the processes {_shown(processes)}; {form}.")
    return tuple(processes)


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
