"""The drive: starts a service on a database of its own and walks every transition of the model, tour by tour.

Each step of a tour is judged by itself. What a tour does not come to is walked by the shortest tours. A step that the
service makes otherwise on a longer way than it need be is no fault of it, as long as it stays within the model: what a
row does may depend on more than its state, such as on attempts that are left. Such a step is told as a *detour*, and
what the shortest tour to it comes to is what counts.

All journal rows of the run are kept and judged, those between walks too: a transition that the model does not have is
a sneak path that happened, whoever made it and whenever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.conformance import abilities
from arrowproof.conformance.answers import checked_database
from arrowproof.conformance.balance import States, find_unbalanced
from arrowproof.conformance.coverage import walked_pairs
from arrowproof.conformance.crash import blows_of, check_crash, spared, untried
from arrowproof.conformance.database_triggers import Trigger
from arrowproof.conformance.driver import Driver, ProcessDriver, ServerDriver
from arrowproof.conformance.illegal_events import IllegalEvents, events_to_fire
from arrowproof.conformance.journal import Address, open_journal
from arrowproof.conformance.postgresql_sessions import sessions_kept
from arrowproof.conformance.rows import key_text
from arrowproof.conformance.service_guard import check_service_guard
from arrowproof.conformance.trials import USUAL, Trials
from arrowproof.conformance.undrawn_rows import undrawn_rows
from arrowproof.conformance.walks import Subject, attempt, take_walk
from arrowproof.errors import InputError
from arrowproof.model.evidence import (
    Blow,
    Detour,
    Environment,
    IllegalEvent,
    Interleaving,
    JournalRow,
    Kill,
    RandomWalks,
    Row,
    Share,
    SneakPath,
    Walk,
)
from arrowproof.model.lifecycle import Binding, Lifecycle
from arrowproof.model.progress import Progress
from arrowproof.model.record import record
from arrowproof.model.tours import PathGoal, Plan, Tour, plan_cover
from arrowproof.model.transitions import Pair, Transition

if TYPE_CHECKING:
    from arrowproof.conformance.guard_check import GuardCheck
    from arrowproof.conformance.relay import Relay

_DONE = {Blow.KILLED: "kill", Blow.CUT: "cut off", Blow.LATE: "cut off early", Blow.ENDED: "end"}
"""What is done to a transition, for those who watch."""


@record
class DriveResult:
    """What a drive saw. ``problems`` are those of the run as a whole, one sentence each; empty when it can be trusted.

    ``sneak_paths`` are the ones that happened, each with its journal rows, in the order of their first row.
    """

    walks: tuple[Walk, ...]
    kills: tuple[Kill, ...]
    journal: tuple[JournalRow, ...]
    sneak_paths: tuple[SneakPath, ...]
    problems: tuple[str, ...]
    environment: Environment
    guard: GuardCheck | None = None
    """What the service's own guard was seen to refuse; None when it has none."""
    left_out: tuple[str, ...] = ()
    """What was not tried, and why, one sentence each."""
    interleavings: tuple[Interleaving, ...] = ()
    detours: tuple[Detour, ...] = ()
    events: tuple[IllegalEvent, ...] = ()
    random_walks: RandomWalks | None = None
    triggers: tuple[Trigger, ...] = ()
    """Every trigger of the database that is not the journal's."""
    event_share: Share | None = None
    """The illegal events that changed nothing, of all there are; None where the driver can fire none."""


def drive(
    lifecycle: Lifecycle,
    driver: Driver,
    folder: Path,
    progress: Progress | None = None,
    *,
    trials: Trials = USUAL,
    plan: Plan | None = None,
    database: str | None = None,
) -> DriveResult:
    """Start the service in ``folder``, walk every transition, kill each on both sides of its commit, stop the service.

    Args:
        lifecycle: a lifecycle with a binding.
        driver: the service's driver; it is stopped in any case.
        folder: a folder that is empty or not there yet; everything is written into it.
        progress: is told of each tour and each kill ahead of it.
        trials: what is tried beside the walks.
        plan: the tours to make, for a test that looks at a part of a service; those of the whole model when left out,
            with every pair of transitions where the trials say so.
        database: the URL of an empty PostgreSQL database; the service makes a file of its own when left out.

    Raises:
        InputError: no binding, a folder with something in it, a service that does not start, a table that does not
            fit the binding.
        ModelError: the transitions of the model cannot be derived.
    """
    binding = _binding_of(lifecycle)
    plan = plan or plan_cover(lifecycle, pairs=trials.pairs)
    _make_folder(folder)
    with _relay(driver, database if trials.crash_checks else None) as (relay, no_relay):
        try:
            address = _started(driver, folder, database, relay)
            journal = open_journal(address, binding)
            start = journal.install()
            subject = Subject(lifecycle, driver, journal, relay)
            run = _Drive(subject, plan, start, progress or _quiet, events_to_fire(subject))
            run.left_out.extend(no_relay)
            can_kill = abilities.can_kill(driver, journal)
            if trials.crash_checks and not can_kill:
                run.left_out.append(abilities.NO_KILL)
            with sessions_kept():
                walks, kills = run.run(trials.crash_checks and can_kill)
                tried = run.interleave(walks) if trials.interleavings else ()
                wandered = run.wander(trials.random_walks, trials.seed) if trials.random_walks else None
        finally:
            _, problem = attempt(driver.stop)
    if problem is not None:
        run.problems.append(f"The service did not stop: {problem}")
    # Read behind the stop: what a service does at its end is judged as well.
    result = replace(run.result(walks, kills), interleavings=tried, random_walks=wandered)
    return result if problem is not None else replace(result, guard=check_service_guard(address, lifecycle))


def _binding_of(lifecycle: Lifecycle) -> Binding:
    if lifecycle.binding is None:
        raise InputError(
            f"Lifecycle {lifecycle.id!r} has no binding, so there is no table to prove it on. Add $.binding."
        )
    return lifecycle.binding


@record
class _Drive:
    """One run over a plan, on one subject; it gathers the problems that are those of no walk and no kill."""

    subject: Subject
    plan: Plan
    start: States
    progress: Progress
    events: IllegalEvents
    problems: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    detours: list[Detour] = field(default_factory=list)
    judged: set[PathGoal] = field(default_factory=set)

    def run(self, crash_checks: bool) -> tuple[list[Walk], list[Kill]]:
        struck = self.plan.one_each if crash_checks else ()
        kills = [(tour, *blow) for tour in struck for blow in blows_of(self.subject, tour.goal)]
        self.left_out.extend(spared(self.subject, [tour.goal for tour in struck]))
        # Kills leave rows in every state on their way. Where none can be made, some are put there to stand by.
        can_kill = abilities.can_kill(self.subject.driver, self.subject.journal)
        tours = (*(() if can_kill else self.plan.to_stand_by), *self.plan.tours)
        total = len(tours) + len(kills)
        walks: list[Walk] = []
        for done, tour in enumerate(tours):
            self.progress(f"walk {tour.goal.name}", done, total)
            walks += self._walk_tour(tour)
        walks += self._walk_the_rest(walks, len(tours), total)
        checked = []
        for done, (tour, blow, side) in enumerate(kills, start=len(tours)):
            self.progress(f"{_DONE[blow]} {tour.goal.name} {side}", done, total)
            kill = check_crash(self.subject, tour.steps[:-1], tour.goal, side, blow)
            if (reason := untried(kill)) is None:
                checked.append(kill)
            else:
                self.left_out.append(reason)
            self._end(kill.key)
        self.progress("done", total, total)
        return walks, checked

    def _walk_the_rest(self, walks: Sequence[Walk], done: int, total: int) -> list[Walk]:
        """What no tour came to, by the shortest tours: each goal first, and then each pair of transitions."""
        rest: list[Walk] = []
        for tour in self.plan.alone:
            if tour.path_goal not in self.judged:
                self.progress(f"walk {tour.goal.name}", done, total)
                rest += self._walk_tour(tour)
        for tour in self.plan.pairs:
            former, latter = (step.pair for step in tour.steps[-2:])
            if (former, latter) not in walked_pairs([*walks, *rest]):
                self.progress(f"walk {tour.steps[-2].name}, then {tour.goal.name}", done, total)
                rest += self._walk_tour(tour)
        return rest

    def _walk_tour(self, tour: Tour) -> list[Walk]:
        """Every step of a tour up to the first that goes wrong; its goal by the wanted arrow path alone."""
        goal = replace(tour.goal, paths=(tour.goal_path,))
        steps = (*tour.steps[:-1], goal)
        _, problem = attempt(lambda: abilities.begin(self.subject.driver, steps))
        if problem is not None:
            self.problems.append(f"The tour to {goal.name} did not begin: {problem}")
            return []
        walks: list[Walk] = []
        key: Row | None = None
        mark = self.subject.journal.last_order()
        for step in steps:
            walk = take_walk(self.subject, step, key, mark)
            key = walk.key or key
            # What came after a walk was judged belongs to the next one: no row of a tour escapes judgement.
            mark = max([mark, *(row.order for row in walk.journal)])
            way = steps[: len(walks) + 1]
            if walk.problem is not None and self._is_detour(way, walk):
                self.detours.append(Detour(tuple(each.name for each in way), walk.problem))
                break
            walks.append(walk)
            self.judged.update((step.pair, path) for path in step.paths if len(step.paths) == 1)
            left = None if walk.problem is not None else self._fire_events(step, key, mark)
            if left is None:
                break
            mark = left
        self._end(key)
        return walks

    def interleave(self, walks: Sequence[Walk]) -> tuple[Interleaving, ...]:
        """Every interleaving of the transitions in the plan; ``walks`` say what each leaves when it is alone."""
        from arrowproof.conformance import interleavings as several
        from arrowproof.conformance.winners import habits_of

        if (reason := several.why_not(self.subject)) is not None:
            self.left_out.append(reason)
            return ()
        schedules = several.plan_interleavings(self.subject, self.plan.shortest)
        habits = habits_of(self.subject, walks)
        tried: list[Interleaving] = []
        patience = several.PATIENCE_SECONDS
        for done, it in enumerate(schedules):
            self.progress(f"interleave {it.first.name} and {it.rival.name}", done, len(schedules))
            tried.append(several.try_interleaving(self.subject, it, habits, patience))
            if tried[-1].unseen:
                patience = several.IMPATIENCE_SECONDS
        self.progress("done", len(schedules), len(schedules))
        return tuple(tried)

    def _fire_events(self, step: Transition, key: Row | None, mark: int) -> int | None:
        """Fire the illegal events of the state that a step led to; gives the mark to go on from, None to stop."""
        return mark if step.target is None or key is None else self.events.fire_all(step.target, key, mark)

    def _is_detour(self, way: Sequence[Transition], walk: Walk) -> bool:
        """Whether a step went otherwise, within the model, at the end of another way than the shortest one to it."""
        pairs = [step.pair for step in way]
        ways = [[step.pair for step in tour.steps] for tour in self.plan.alone]
        made = [self.subject.pair(row) for row in walk.journal]
        return (
            bool(ways)
            and pairs not in ways
            and walk.source is not None
            and way[-1].pair not in made
            and all(pair in self.subject.transitions for pair in made)
            and all(row.key == walk.key for row in walk.journal)
        )

    def wander(self, count: int, seed: int | None) -> RandomWalks:
        """So many random walks."""
        from arrowproof.conformance.random_walks import Wanderer

        wanderer = Wanderer(self.subject, self._is_detour, self.progress)
        made = wanderer.wander(count, seed)
        # Ahead of those of the tours, which are shorter.
        self.detours[:0] = sorted(wanderer.detours, key=lambda detour: -len(detour.steps))
        return made

    def _end(self, key: Row | None) -> None:
        _, problem = attempt(lambda: abilities.end(self.subject.driver, key))
        if problem is not None:
            self.problems.append(f"A tour did not end: {problem}")

    def result(self, walks: Sequence[Walk], kills: Sequence[Kill]) -> DriveResult:
        """What the run saw, by the journal as it stands now."""
        journal = self.subject.journal
        rows, states = journal.rows_and_states()
        problems = [
            f"{transition.name} cannot be walked: the model has no way from creation to {transition.source}."
            for transition in self.plan.unreachable
        ]
        problems += undrawn_rows(self.subject.lifecycle, self.start, states, rows)
        if not journal.stands():
            problems.append("The journal's triggers did not stand to the end: the service rebuilt or dropped them.")
        elif unseen := find_unbalanced(self.start, states, rows):
            keys = "; ".join(map(key_text, unseen[:3])) + (f" and {len(unseen) - 3} more" if len(unseen) > 3 else "")
            problems.append(
                f"The journal does not lead to what the table holds: changes of {keys} were hidden from it."
            )
        return DriveResult(
            walks=tuple(walks),
            kills=tuple(kills),
            journal=rows,
            sneak_paths=_sneak_paths(self.subject, rows),
            problems=(*dict.fromkeys([*self.problems, *problems]),),
            environment=journal.environment(),
            left_out=(*self.left_out, *self.events.left_out),
            triggers=journal.triggers(),
            events=tuple(self.events.fired),
            event_share=self.events.share,
            detours=_latest(self.detours),
        )


def _sneak_paths(subject: Subject, journal: Sequence[JournalRow]) -> tuple[SneakPath, ...]:
    happened: dict[Pair, list[JournalRow]] = {}
    for row in journal:
        pair = subject.pair(row)
        if pair is not None and pair not in subject.transitions:
            happened.setdefault(pair, []).append(row)
    return tuple(SneakPath(*pair, happened=tuple(rows)) for pair, rows in happened.items())


def _latest(detours: Sequence[Detour]) -> tuple[Detour, ...]:
    """One for each pair of transitions: the last one, which is the shortest."""
    return tuple({detour.steps[-2:]: detour for detour in detours}.values())


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_used = any(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be used for a proof: {error.strerror}.") from error
    if is_used:
        raise InputError(f"{folder} is not empty; a proof makes a database of its own. Give a new folder.")


@contextmanager
def _relay(driver: Driver, database: str | None) -> Iterator[tuple[Relay | None, tuple[str, ...]]]:
    """The relay that a service's connections come by, where they can be cut; or why there is none."""
    if database is None or not isinstance(driver, ProcessDriver):
        yield None, ()
        return
    from arrowproof.conformance.relay import NO_RELAY, relay

    with relay(database) as made:
        yield made, () if made is not None else (NO_RELAY,)


def _started(driver: Driver, folder: Path, given: str | None, relay: Relay | None) -> Address:
    if given is not None:
        _start_on(driver, given if relay is None else relay.url, folder)
        return given
    if not isinstance(driver, Driver):
        raise InputError(
            f"{type(driver).__name__} starts its service on a PostgreSQL server alone: it has start_on(url, folder) and"
            " no start(folder). Name a server with --db URL, or have one started with --db postgresql."
        )
    database, problem = attempt(lambda: checked_database(driver.start(folder), folder))
    if database is None:
        raise InputError(f"The service did not start: {problem}")
    return database


def _start_on(driver: Driver, url: str, folder: Path) -> None:
    if not isinstance(driver, ServerDriver):
        raise InputError(
            f"{type(driver).__name__} cannot start its service on a PostgreSQL database: it has no method"
            " start_on(url, folder). Write one, or leave --db out."
        )
    _, problem = attempt(lambda: driver.start_on(url, folder))
    if problem is not None:
        raise InputError(f"The service did not start: {problem}")


def _quiet(_what: str, _done: int, _total: int) -> None:
    """Progress that is shown to nobody."""
