"""Random walks: steps that the model has, and events that it does not have, one after the other on a new row.

Hypothesis draws them and, once one fails, looks for the shortest that fails too. Each is judged as any other walk: by
the journal. What a service makes otherwise within the model on a longer way than need be ends the walk and is no
failure (see :mod:`arrowproof.conformance.drive`). The same seed gives the same walks of the same model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from tempfile import TemporaryDirectory

from arrowproof.conformance import abilities
from arrowproof.conformance.driver import FireDriver
from arrowproof.conformance.illegal_events import events_to_fire
from arrowproof.conformance.walks import Subject, attempt, take_walk
from arrowproof.errors import ArrowproofError, MissingEnvironmentError
from arrowproof.model.evidence import Detour, JournalRow, RandomWalks, Row, Walk
from arrowproof.model.progress import Progress
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition

MAX_STEPS = 12
"""Steps of the longest walk: a row comes round every loop that matters in fewer, and a failure is shrunk anyway."""

MAX_TRIES = 60
"""Walks that are made at most to find the shortest one that fails, behind the first that did."""

_SEEDS = 2**32
_SHRUNK = 40
"""Those of them that Hypothesis makes. It tries other steps as well, and may not come to drop all that it can."""
_DRAWN = 5
"""Walks that are drawn for each that is made: small models have few that differ."""

Step = Transition | str
"""A transition to walk, or an event to fire where the model does not have it."""


class _FailedWalkError(Exception):
    """Tells Hypothesis that a walk failed."""


@record
class Wanderer:
    """Makes random walks on one subject; ``is_detour`` says of a way and its last walk that it is no failure."""

    subject: Subject
    is_detour: Callable[[Sequence[Transition], Walk], bool]
    progress: Progress
    known: dict[tuple[Step, ...], str | None] = field(default_factory=dict)
    """What came of each walk: why it failed, None when it did not."""
    taken: list[Step] = field(default_factory=list)
    """Every step that was taken."""
    detours: list[Detour] = field(default_factory=list)
    """What went otherwise and is no failure."""
    stopped: list[ArrowproofError] = field(default_factory=list)

    def wander(self, count: int, seed: int | None) -> RandomWalks:
        """Make so many walks, or as many as there are; up to the first that fails, and what shrinks it.

        Raises:
            MissingEnvironmentError: Hypothesis is not installed.
            ArrowproofError: the environment or the input went wrong on the way.
        """
        seed = random.randrange(_SEEDS) if seed is None else seed
        menus = self._menus()
        _search(menus, lambda steps: self._try(steps, count), _DRAWN * count, seed)
        failed = [steps for steps, problem in self.known.items() if problem is not None]
        steps = self._shortened(min(failed, key=len), menus) if failed else ()
        if self.stopped:
            raise self.stopped[0]
        return RandomWalks(
            asked=count,
            seed=seed,
            walks=len(self.known),
            steps=len(self.taken),
            failed=tuple(map(_name, steps)),
            problem=self.known[steps] if failed else None,
        )

    def _menus(self) -> dict[str | None, list[Step]]:
        """What a walk can do in each state: the transitions out of it by each arrow path, and its illegal events."""
        menus: dict[str | None, list[Step]] = {}
        for transition in self.subject.transitions.values():
            each = (replace(transition, paths=(path,)) for path in transition.paths)
            menus.setdefault(transition.source, []).extend(each)
        if isinstance(self.subject.driver, FireDriver):
            for state, event in events_to_fire(self.subject).left:
                menus.setdefault(state, []).append(event)
        return menus

    def _try(self, steps: tuple[Step, ...], count: int) -> None:
        """Make one of the walks that Hypothesis draws, unless there are enough."""
        tries = self._tries()
        is_enough = len(self.known) >= count if tries is None else tries >= _SHRUNK
        if steps in self.known or not is_enough:
            self._make(steps)
        if self.known.get(steps) is not None:
            raise _FailedWalkError

    def _make(self, steps: tuple[Step, ...]) -> None:
        """Make a walk that was not made before, unless something has stopped them all."""
        if steps in self.known or self.stopped:
            return
        self.progress(f"random walk {len(self.known) + 1}", len(self.known), len(self.known) + 1)
        try:
            self.known[steps] = self._walk(steps)
        except ArrowproofError as error:
            self.stopped.append(error)

    def _tries(self) -> int | None:
        """How many walks were made since the first that failed; None while none has."""
        outcomes = [problem is not None for problem in self.known.values()]
        return len(outcomes) - outcomes.index(True) - 1 if True in outcomes else None

    def _shortened(self, steps: tuple[Step, ...], menus: Mapping[str | None, Sequence[Step]]) -> tuple[Step, ...]:
        """A walk that failed without the steps that it fails without, as far as there are tries left."""
        fewer = (
            (*steps[:at], *steps[at + size :])
            for size in range(len(steps) - 1, 0, -1)
            for at in range(len(steps) - size + 1)
        )
        for shorter in fewer:
            if _is_walk(menus, shorter) and (self._tries() or 0) < MAX_TRIES:
                self._make(shorter)
                if self.known.get(shorter) is not None:
                    return self._shortened(shorter, menus)
        return steps

    def _walk(self, steps: Sequence[Step]) -> str | None:
        """Take the steps on a new row, up to the first that goes otherwise; why that is a failure, if it is one."""
        driver, journal = self.subject.driver, self.subject.journal
        way = tuple(step for step in steps if isinstance(step, Transition))
        _, problem = attempt(lambda: abilities.begin(driver, way))
        key: Row | None = None
        mark, rows = journal.last_order(), tuple[JournalRow, ...]()
        done: list[Transition] = []
        for step in steps if problem is None else ():
            if isinstance(step, Transition):
                done.append(step)
                walk = take_walk(self.subject, step, key, mark)
                key, rows, problem = walk.key or key, walk.journal, walk.problem
                if problem is not None and self.is_detour(done, walk):
                    self.detours.append(Detour(tuple(map(_name, done)), problem))
                    problem = None
                    break
            elif key is not None and isinstance(driver, FireDriver):
                event = events_to_fire(self.subject).fire(driver, step, str(done[-1].target), key, mark)
                rows, problem = (event.journal, event.problem) if event is not None else ((), None)
            self.taken.append(step)
            mark = max([mark, *(row.order for row in rows)])
            if problem is not None or (isinstance(step, str) and any(row.key == key for row in rows)):
                break
        _, left = attempt(lambda: abilities.end(driver, key))
        return problem or left


def _search(
    menus: dict[str | None, list[Step]], attempt_walk: Callable[[tuple[Step, ...]], None], count: int, seed: int
) -> None:
    """Have Hypothesis draw walks and shrink the first that fails."""
    try:
        import hypothesis
        from hypothesis import configuration, strategies
    except ImportError as error:
        raise MissingEnvironmentError("random walks are drawn by Hypothesis", "pip install hypothesis") from error

    # Bits and no numbers: among those it mixes some of the code that is loaded, so that a seed would give other walks
    # with another driver, and it keeps a list of them in the current folder.
    bits = max(len(menu) - 1 for menu in menus.values()).bit_length()
    number = strategies.tuples(*[strategies.booleans()] * bits)
    choices = strategies.lists(number, min_size=1, max_size=MAX_STEPS)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(choices)
    def search(chosen: list[tuple[bool, ...]]) -> None:
        attempt_walk(_steps(menus, [sum(bit << place for place, bit in enumerate(each)) for each in chosen]))

    # What it keeps would go into a folder `.hypothesis` where the command was called.
    with TemporaryDirectory() as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            search()
        except (_FailedWalkError, hypothesis.errors.HypothesisException):
            return  # what failed is known already
        finally:
            configuration.set_hypothesis_home_dir(None)


def _steps(menus: dict[str | None, list[Step]], chosen: Sequence[int]) -> tuple[Step, ...]:
    """The steps that numbers stand for, each one of what its state offers; none behind a removal."""
    steps: list[Step] = []
    state: str | None = None
    for number in chosen:
        menu = menus.get(state, []) if state is not None or not steps else []
        if not menu:
            break
        steps.append(menu[number % len(menu)])
        if isinstance(steps[-1], Transition):
            state = steps[-1].target
    return tuple(steps)


def _is_walk(menus: Mapping[str | None, Sequence[Step]], steps: Sequence[Step]) -> bool:
    """Whether each step is one of what its state offers."""
    state: str | None = None
    for number, step in enumerate(steps):
        if (state is None and number > 0) or step not in menus.get(state, ()):
            return False
        if isinstance(step, Transition):
            state = step.target
    return True


def _name(step: Step) -> str:
    return f"fire {step}" if isinstance(step, str) else step.name
