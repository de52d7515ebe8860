"""The starter of a driver: a module with a place for each transition of a lifecycle, for `arrowproof init --driver`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from arrowproof.conformance.display import one_line
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Transition, derive_transitions

_COMMENT_CHARACTERS = 60

_TEMPLATE = '''"""{name}: how a proof reaches the service. Arrowproof's docs/driver.md says what else one may have."""

import sys
from pathlib import Path

from arrowproof.conformance.driver import DriverError, Walked
from arrowproof.conformance.processes import ProcessGroup
from arrowproof.model.evidence import Row
from arrowproof.model.transitions import Transition


class {name}:
    """Starts the service on a database of its own, and asks for each transition as the service's own users do."""

    def start(self, folder: Path) -> Path:
        """Start the service on a new SQLite file in ``folder``, and give the file once the service is ready."""
        self.processes, database = ProcessGroup(folder), folder / "service.sqlite3"
        # TODO: the command of the service. It is ready here when it prints a line; `await_file` waits for a file.
        self.server = self.processes.start("server", [sys.executable, "-m", "your_service", str(database)])
        self.server.read_line()
        return database

    def stop(self) -> None:
        """End every process that was started."""
        self.processes.stop()

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Have the service take one transition with the row ``key``, or create a row when it is None.

        The key is given as the database holds it: {key}. Nothing is written into the table from here.
        """
        match transition.pair:
{cases}
        if key is None:
            raise DriverError(f"{{transition.name}} made no row.")
        return Walked(key, (self.server.record(),))
'''


def driver_name(lifecycle: Lifecycle) -> str:
    """The name of the driver's class: that of the lifecycle in capitals, such as ``MailJobDriver``."""
    return _as_python_reads("".join(word[:1].upper() + word[1:] for word in _words(lifecycle)) + "Driver")


def module_name(lifecycle: Lifecycle) -> str:
    """The name of the driver's module, such as ``mail_job_driver``."""
    return _as_python_reads("_".join([*(word.lower() for word in _words(lifecycle)), "driver"]))


def driver_text(lifecycle: Lifecycle) -> str:
    """The text of a driver module, in which what only the owner of the service knows is still to be written.

    Raises:
        ModelError: the transitions of the lifecycle cannot be derived.
    """
    transitions = derive_transitions(lifecycle)
    columns = () if lifecycle.binding is None else lifecycle.binding.key
    plain = [column for column in columns if column.isidentifier()] or ["id"]
    key = "(" + " ".join(f'("{column}", 7),' for column in plain) + ")"
    cases = "\n".join(line for transition in transitions for line in _case(transition))
    return _TEMPLATE.format(name=driver_name(lifecycle), key=key, cases=cases or "            case _: pass")


def _case(transition: Transition) -> Iterator[str]:
    source, target = (None if state is None else _literal(state) for state in transition.pair)
    ways = ", or ".join(", ".join(path) for path in transition.paths)
    yield f"            case ({source}, {target}):  # {one_line(ways, _COMMENT_CHARACTERS)}"
    if len(transition.paths) > 1:
        yield "                # There are several ways: say in Walked(..., path=...) which of them was taken."
    yield f"                raise DriverError({_literal(f'Not written yet: {transition.name}')})"


def _literal(text: str) -> str:
    """A text as Python source holds it, in double quotes where it can be, and never with a line of its own."""
    shown = ascii(text) if not text.isprintable() else repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown else shown


def _as_python_reads(name: str) -> str:
    """A name in the one of its forms that Python makes of it, so that it is found as it is printed."""
    return unicodedata.normalize("NFKC", name)


def _words(lifecycle: Lifecycle) -> list[str]:
    words = re.findall(r"[^\W_]+", _as_python_reads(lifecycle.id))
    # A name begins with a letter; what is no name even so (a digit of another script) is given up.
    words = words if words and "".join(words).isidentifier() else ["service", *words]
    return words if "".join(words).isidentifier() else ["service"]
