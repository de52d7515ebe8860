"""The driver: the small class by which a proof reaches a service. One per service, written by its owner.

A driver starts and stops the service on a database of its own, creates a row, and walks a transition, each time by
the service's own doors (HTTP, processes, a queue), never by writing the bound table itself. What the database held
before and after is read by the drive, not by the driver. Three methods make a driver: ``start``, ``stop`` and ``walk``.
Each of the others is asked for where it is there; what cannot be tried without it is said in the report.

A driver waits on signals (a line, a file, the exit of a process) with a deadline, never for a guessed time;
:mod:`arrowproof.conformance.processes` has the means. Everything that it writes goes into the folder of ``start``.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Collection, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Protocol, runtime_checkable

from arrowproof.errors import InputError
from arrowproof.model.evidence import Process, Row, Side
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition

NEEDED = ("start", "stop", "walk")
"""The methods that every driver has; one for a service on a PostgreSQL server may have ``start_on`` for ``start``."""


class DriverError(Exception):
    """The service did not do what the driver asked of it; the message says what was asked and what came."""


@record
class Walked:
    """What a driver did for one transition: the row's key, the processes that took part, and the arrow path.

    A driver names the processes that it knows of. A walk without any counts like another, since it is judged by the
    journal; the report then names none. ``path`` is None when the transition has one path only. ``ahead`` are other
    transitions that ``recover`` had to have made first, each by its source and target: whoever loses a lease by a kill
    gets its row back by no other way. The journal must then hold these, in this order, and then the transition. A
    service that lost its connection may have left the source by them, as by a failure that it counts; what must then
    have come is the transition from where they led.
    """

    key: Row
    processes: tuple[Process, ...] = ()
    path: tuple[str, ...] | None = None
    ahead: tuple[Pair, ...] = ()


@record
class Killed:
    """What a driver did for one kill: the hold point, the processes, and the key (None while no row is known)."""

    point: str
    processes: tuple[Process, ...]
    key: Row | None


@runtime_checkable
class Driver(Protocol):
    """What `prove` asks of a service. Methods raise :class:`DriverError` when the service answers otherwise."""

    def start(self, folder: Path) -> Path:
        """Start the service on a new database inside ``folder``; return the database file once it is ready."""

    def stop(self) -> None:
        """End every process that this driver started. Safe to call twice, and after a start that failed."""

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Make the service take one transition with the row ``key`` (None: create the row)."""


@runtime_checkable
class TourDriver(Protocol):
    """What a driver may have besides, for a service whose rows are not all created in the same way."""

    def begin(self, tour: Sequence[Transition]) -> None:
        """Announce the tour that comes next, so that its row can be created in the right way.

        The last step may be one to be killed. Its ``paths``, and those of each other step, may be fewer than the
        model's: those that are wanted.
        """


@runtime_checkable
class TidyDriver(Protocol):
    """What a driver may have besides, for a service that picks rows up by itself."""

    def end(self, key: Row | None) -> None:
        """The tour is over: leave no row behind that a later walk could pick up by mistake."""


@runtime_checkable
class BeatingDriver(Protocol):
    """What a driver may have besides, for a service that touches rows by itself while nobody asks, as a heartbeat does.

    ``beats`` names the columns that are moved so. A touch that changes no other is taken for nobody's half-done work.
    """

    beats: Collection[str]


@runtime_checkable
class CrashDriver(Protocol):
    """What a driver may have besides, so that crash checks can be made."""

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Start the same transition and SIGKILL the process that makes it, on one side of its commit.

        Give the killed process among the processes, with ``ended="SIGKILL"``.
        """


@runtime_checkable
class RestartDriver(Protocol):
    """What a driver may have besides, for a service that has to be started again after a kill."""

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        """Start the service again after a kill and let it do what it does: finish the transition, or leave it.

        Without this method the transition is walked once more where the kill came before the commit, and nothing is
        done where it came after it.
        """


@runtime_checkable
class ServerDriver(Protocol):
    """What `prove --db` asks of a driver beside that: a service which can work on a PostgreSQL server."""

    def start_on(self, url: str, folder: Path) -> None:
        """Start the service on the empty database at ``url``, in place of ``start``; return once it is ready.

        The database is the proof's own and is dropped after it. Files go into ``folder``.
        """


@runtime_checkable
class FireDriver(Protocol):
    """What a driver may have besides, so that events can be fired where the model does not have them."""

    def fire(self, event: str, key: Row) -> object:
        """Do to the row ``key`` what this event of the model stands for, once, whatever state the row is in.

        What the service answers is given back, or raised as a :class:`DriverError` when it refuses; either is fine.
        Any other exception says that the event could not be fired.
        """


class Killable(Protocol):
    """A process that can be killed; :class:`~arrowproof.conformance.processes.RunningProcess` is one."""

    def kill(self) -> None:
        """SIGKILL, and wait for the exit."""

    def record(self) -> Process:
        """This process as evidence holds it, with how it ended."""


@runtime_checkable
class ProcessDriver(Protocol):
    """What a driver may have besides, for a service on PostgreSQL: it names the process.

    The connection of that can then be taken from it (:mod:`arrowproof.conformance.lost_connection`), and where the
    driver has no ``kill``, it can be killed while the database holds its transaction in place of the service
    (:mod:`arrowproof.conformance.held_kill`). ``walk`` is called in another thread meanwhile, and has to end, by an
    error, when its process is killed.
    """

    def process_of(self, transition: Transition) -> Killable:
        """The process that is making this transition now."""


@runtime_checkable
class SparingDriver(Protocol):
    """What a driver that names the process may have besides, where several transitions are made by the same code."""

    def is_cut(self, transition: Transition) -> bool:
        """Whether this transition has its connection taken from it; each has where this is not there."""


def load_driver(spec: str, folder: Path | None = None) -> Driver:
    """A new driver by its name, ``module:Class``; the module is also looked for in ``folder``, of the lifecycle file.

    This imports the module: only call it for a lifecycle whose owner asked for a proof.

    Raises:
        InputError: the name, the module or the class is wrong, or the import fails; the message says why.
    """
    match = re.fullmatch(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*)", spec)
    if match is None:
        raise InputError(f"{spec[:100]!r} names no driver; write module:Class, such as drivers.jobs:JobsDriver.")
    name, class_name = match.groups()
    if folder is not None and str(folder.resolve()) not in sys.path:
        sys.path.append(str(folder.resolve()))  # last: no file there may stand in for a library
    try:
        with redirect_stdout(sys.stderr):
            made = getattr(importlib.import_module(name), class_name)()
    except ModuleNotFoundError as error:
        needed = "" if error.name == name else f", which {name} imports"
        beside = "" if folder is None else "beside the lifecycle file, "
        raise InputError(
            f"There is no module {error.name!r}{needed}; is it {beside}on PYTHONPATH, or installed?"
        ) from error
    except AttributeError as error:
        raise InputError(f"Driver {spec!r} cannot be made: {error}.") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"Driver {spec!r} cannot be made: {type(error).__name__}: {error}"[:500]) from error
    missing = [method for method in NEEDED if not callable(getattr(made, method, None))]
    if isinstance(made, ServerDriver) and "start" in missing:
        missing.remove("start")  # a service that works on a server alone
    if missing:
        raise InputError(f"Driver {spec!r} has no method {', '.join(missing)}; a driver has {', '.join(NEEDED)}.")
    return made  # type: ignore[no-any-return]  # a Driver by its methods
