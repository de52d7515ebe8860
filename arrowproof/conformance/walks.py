"""Walks: one transition made by the service, and the judgement of what the journal held for it.

The subject is what is walked and killed: a lifecycle, a driver with its service running, and the journal that watches.
What a journal row witnesses follows from the model alone, by :func:`classify`.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from arrowproof.conformance import abilities
from arrowproof.conformance.answers import checked_beats, checked_walked
from arrowproof.conformance.display import one_line
from arrowproof.conformance.driver import BeatingDriver, Driver, DriverError, Walked
from arrowproof.conformance.journal import Journal
from arrowproof.conformance.rows import BoundRow, in_key_order, key_text, stored_key
from arrowproof.errors import ArrowproofError
from arrowproof.model.evidence import JournalKind, JournalRow, Row, Scalar, Walk
from arrowproof.model.lifecycle import Binding, Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition, transition_map, transition_name

if TYPE_CHECKING:
    from arrowproof.conformance.relay import Relay

_Result = TypeVar("_Result")


@record
class Subject:
    """A lifecycle with a binding, its running service, and the journal on the service's database.

    ``relay`` is what its connections come by, where they can be cut.
    """

    lifecycle: Lifecycle
    driver: Driver
    journal: Journal
    relay: Relay | None = None

    @property
    def binding(self) -> Binding:
        """The bound table."""
        return self.journal.binding

    @cached_property
    def transitions(self) -> Mapping[Pair, Transition]:
        """The transitions of the model."""
        return transition_map(self.lifecycle)

    def row(self, key: Row | None) -> BoundRow | None:
        """The row by SELECT; None when there is none, or no key yet."""
        if key is None:
            return None
        return self.journal.bound_row(key)

    def key(self, given: Row) -> Row:
        """A driver's key in the order of the binding.

        Raises:
            DriverError: its columns are not those of the binding.
        """
        key = in_key_order(self.binding, given)
        if key is None:
            columns = ", ".join(self.binding.key)
            raise DriverError(f"The driver gave the key {key_text(given)!r}; the binding's key is ({columns}).")
        return key

    def stored_key(self, key: Row | None, row: BoundRow | None) -> Row | None:
        """The key as the database holds it, when there is a row to see it in."""
        return key if row is None else stored_key(self.binding, row)

    @property
    def beats(self) -> frozenset[str]:
        """The columns that the service moves by itself; see :class:`~arrowproof.conformance.driver.BeatingDriver`."""
        driver: object = self.driver
        return checked_beats(driver.beats) if isinstance(driver, BeatingDriver) else frozenset()

    def is_beat(self, row: JournalRow) -> bool:
        """Whether a journal row is a touch of nothing but what the service moves by itself."""
        if row.operation != "update" or self.pair(row) is not None:
            return False
        watched = zip(row.old_watched, row.new_watched, strict=True)
        changed = {column for (column, old), (_, new) in watched if old != new}
        return bool(changed) and changed <= self.beats

    def pair(self, row: JournalRow) -> Pair | None:
        """What a journal row witnesses; see :func:`classify`."""
        return classify(self.lifecycle, self.transitions, row)


def classify(lifecycle: Lifecycle, transitions: Container[Pair], row: JournalRow) -> Pair | None:
    """The transition that a journal row witnesses, declared or not, as a pair of state ids; None for a touch.

    A row that leaves its state is a transition. One that names its state and leaves it is a self-transition when it
    changes a watched column, or when the model has that self-transition; otherwise it is a touch (DESIGN, section 1).
    """
    source = None if row.operation == "insert" else state_name(lifecycle, row.old_state)
    target = None if row.operation == "delete" else state_name(lifecycle, row.new_state)
    if row.kind is JournalKind.CHANGED:
        return (source, target)
    if row.kind is JournalKind.NAMED and (row.old_watched != row.new_watched or (source, target) in transitions):
        return (source, target)
    return None


def state_name(lifecycle: Lifecycle, value: Scalar) -> str:
    """The id of the state with this column value. A value that no state has stands as its own text, never as an id."""
    state = lifecycle.state_of_value(value)
    if state is not None:
        return state.id
    text = "NULL" if value is None else one_line(str(value))
    stored = {state.id for state in lifecycle.stored_states}
    return f"{text} (a value of no state)" if text in stored else text


def take_walk(subject: Subject, transition: Transition, key: Row | None, mark: int) -> Walk:
    """Have the driver walk one transition, and judge it by what the journal holds after order ``mark``.

    What goes wrong is told in the walk's ``problem``; errors of the environment or the input are raised.
    """
    before = subject.row(key)
    walked, problem = attempt(lambda: keyed(subject, checked_walked(subject.driver.walk(transition, key), "walk")))
    if walked is not None:
        key = walked.key
    after = subject.row(key)
    key = subject.stored_key(key, after or before)
    journal = subject.journal.rows(after=mark)
    path, path_problem = _path(subject, transition, walked)
    problem = (
        beside(subject, problem, journal)
        or _source_problem(subject, transition, before)
        or journal_problem(subject, transition, key, journal)
        or _target_problem(subject, transition, after)
        or path_problem
    )
    return Walk(
        source=transition.source,
        target=transition.target,
        path=path,
        key=key or (),
        processes=walked.processes if walked else (),
        before=before.columns if before else None,
        after=after.columns if after else None,
        journal=journal,
        problem=problem,
    )


@record
class Arrival:
    """Where a row stands at the end of its way; ``mark`` is the journal's last order by then."""

    key: Row | None
    mark: int
    problem: str | None
    """Why it did not come there; None when it did."""


def bring_row(subject: Subject, tour: Sequence[Transition], steps: int) -> Arrival:
    """Announce a tour to the driver, and walk its first steps with a new row, up to the first that fails."""
    _, problem = attempt(lambda: abilities.begin(subject.driver, tour))
    key, mark = None, subject.journal.last_order()
    for step in tour[:steps] if problem is None else ():
        walk = take_walk(subject, step, key, mark)
        mark = subject.journal.last_order()
        key = walk.key or key
        if walk.problem is not None:
            return Arrival(key, mark, f"The way to {tour[steps].source} failed at {step.name}: {walk.problem}")
    return Arrival(key, mark, problem)


def attempt(call: Callable[[], _Result]) -> tuple[_Result | None, str | None]:
    """What a call of the driver gave, or why it failed. A driver is someone's code: any exception is its failure.

    What it prints goes to standard error: standard output is for what the proof came to.
    """
    with redirect_stdout(sys.stderr):
        return attempt_in_thread(call)


def attempt_in_thread(call: Callable[[], _Result]) -> tuple[_Result | None, str | None]:
    """The same for another thread, while this one is in :func:`attempt`.

    Standard output is one for all threads: a thread that comes to its end late must not turn it aside for good.
    """
    try:
        return call(), None
    except (ArrowproofError, KeyboardInterrupt):
        raise
    except DriverError as error:
        return None, one_line(str(error)) or "The driver gave up without a reason."
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return None, one_line(f"The driver failed: {type(error).__name__}: {error} ({where})")


def journal_problem(
    subject: Subject,
    transition: Transition,
    key: Row | None,
    journal: Sequence[JournalRow],
    ahead: Sequence[Pair] = (),
) -> str | None:
    """Why these journal rows are not exactly this transition of the row ``key``, touches of it aside; None if so.

    Transitions that were meant to come ahead of it must have come, in their order.
    """
    others = [row for row in journal if row.key != key and not subject.is_beat(row)]
    if key is not None and others and all(_reads_like(row.key, key) for row in others):
        return (
            f"The driver gave the key {key_text(key)}, and the database holds {key_text(others[0].key)}: the same value"
            " in another type. Have the driver give it as the database does."
        )
    if others:
        asked = "a row that nobody knows the key of" if key is None else f"one row ({key_text(key)})"
        return f"{transition.name} was asked of {asked}; also came {describe(subject, others)}."
    pairs = [pair for pair in map(subject.pair, journal) if pair is not None]
    if pairs == [*ahead, transition.pair]:
        return None
    if not pairs:
        count = "a touch" if len(journal) == 1 else f"{len(journal)} touches"
        touches = f" but {count}" if journal else ""
        return f"{transition.name} was asked for; the journal holds no transition{touches}."
    return f"{transition.name} was asked for; the journal holds {describe(subject, journal)}."


def _reads_like(stored: Row, given: Row) -> bool:
    """Whether two keys are the same but for the types of their values, such as '16' and 16."""
    return [(column, str(value)) for column, value in stored] == [(column, str(value)) for column, value in given]


def describe(subject: Subject, journal: Sequence[JournalRow]) -> str:
    """Journal rows in one phrase: ``pending -> failed (id=3), then …``; the first six of them."""
    shown = [_described(subject, row) for row in journal[:6]]
    more = len(journal) - len(shown)
    return ", then ".join(shown) + (f", and {more} more" if more else "")


def _described(subject: Subject, row: JournalRow) -> str:
    pair = subject.pair(row)
    what = f"a touch in {state_name(subject.lifecycle, row.new_state)}" if pair is None else transition_name(*pair)
    return f"{what} ({key_text(row.key)})"


def keyed(subject: Subject, walked: Walked) -> Walked:
    """What a driver did, with its key in the order of the binding; a DriverError when its columns are others."""
    return replace(walked, key=subject.key(walked.key), processes=tuple(walked.processes))


def beside(subject: Subject, problem: str | None, journal: Sequence[JournalRow]) -> str | None:
    """The driver's own problem, with what the journal says beside it."""
    if problem is None:
        return None
    held = f"The journal holds {describe(subject, journal)}." if journal else "The journal holds nothing."
    return f"{problem} {held}"


def state_problem(subject: Subject, wanted: str | None, row: BoundRow | None, when: str) -> str | None:
    """Why a row is not in the wanted state (None: there must be no row); None if it is."""
    found = None if row is None else state_name(subject.lifecycle, row.state)
    if found == wanted:
        return None
    held = "there was no row" if found is None else f"the row was in {found}"
    return f"{when} {held}, where {'none' if wanted is None else wanted} was expected."


def _source_problem(subject: Subject, transition: Transition, before: BoundRow | None) -> str | None:
    return state_problem(subject, transition.source, before, "Before the walk")


def _target_problem(subject: Subject, transition: Transition, after: BoundRow | None) -> str | None:
    return state_problem(subject, transition.target, after, "After the walk")


def _path(subject: Subject, transition: Transition, walked: Walked | None) -> tuple[tuple[str, ...], str | None]:
    """The arrow path that was taken, empty when nobody says; and what is wrong with the driver's word for it.

    A driver that says nothing about a transition of several paths is credited with none of them.
    """
    if walked is None:
        return (transition.paths[0] if len(transition.paths) == 1 else ()), None
    if walked.path is None:
        paths = subject.transitions[transition.pair].paths
        return (paths[0] if len(paths) == 1 else ()), None
    path = tuple(walked.path)
    if path in transition.paths:
        return path, None
    wanted = " or ".join(", ".join(arrows) for arrows in transition.paths)
    return path, f"{transition.name} was asked for by {wanted}; the driver says that it went by {', '.join(path)}."
