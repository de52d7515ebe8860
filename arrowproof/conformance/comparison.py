"""The comparison: what has changed from one proof of a lifecycle to a later one.

What is compared is what a reviewer asks after a change of the code: which transitions are proven now and which no
longer, which sneak paths have come and gone, which statements say something else. A statement that stands on another
line of its file, with the same text, has not changed. A transition counts as *proven* here while its rung holds: it is
written, every walk of it ended right, and so did every kill.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import StrEnum

from arrowproof.conformance.baseline import ACCEPTED, HAPPENED, POSSIBLE, POSSIBLE_IN_RACE, Baseline
from arrowproof.conformance.display import one_line
from arrowproof.conformance.report import COVERAGE_NAMES
from arrowproof.model.evidence import Place, Share, Statement, Verdict
from arrowproof.model.record import record
from arrowproof.model.rung import Rung
from arrowproof.model.transitions import Pair, transition_name

COVERAGE = "Coverage"
_BADNESS = (None, ACCEPTED, POSSIBLE_IN_RACE, POSSIBLE, HAPPENED)


class Tone(StrEnum):
    """Whether a change is for the better."""

    BETTER = "better"
    WORSE = "worse"
    NEITHER = "neither"


class StatementFate(StrEnum):
    """What has become of a statement. ``moved`` is into another file, with the same text."""

    NEW = "new"
    GONE = "gone"
    CHANGED = "changed"
    MOVED = "moved"


@record
class RungChange:
    """A transition on another rung, or one that is new or gone: its rung is None where the model does not have it."""

    pair: Pair
    before: Rung | None
    after: Rung | None

    @property
    def tone(self) -> Tone:
        """Whether it is proven now and was not, or the other way round."""
        was, now = (rung is not None and rung.tone == "holds" for rung in (self.before, self.after))
        if self.after is None or was == now:
            return Tone.NEITHER
        return Tone.BETTER if now else Tone.WORSE


@record
class SneakPathChange:
    """A sneak path that is new or gone, or of which another word is true: possible, happened or accepted."""

    pair: Pair
    before: str | None
    after: str | None

    @property
    def tone(self) -> Tone:
        """One that nobody has accepted is for the worse, unless it was worse."""
        was, now = (_BADNESS.index(word) for word in (self.before, self.after))
        if max(was, now) <= _BADNESS.index(ACCEPTED):
            return Tone.NEITHER
        return Tone.WORSE if now > was else Tone.BETTER


@record
class StatementChange:
    """A statement that is not what or where it was; it has no place where it does not stand."""

    fate: StatementFate
    before: Place | None
    after: Place | None


@record
class Comparison:
    """What has changed between two proofs of one lifecycle, in the order of the later one; what is gone comes last.

    ``coverage`` has the shares that differ by name, as they were and are; None is one that was not measured.
    """

    before: Verdict
    after: Verdict
    is_same_model: bool
    coverage: tuple[tuple[str, Share | None, Share | None], ...]
    transitions: tuple[RungChange, ...]
    sneak_paths: tuple[SneakPathChange, ...]
    statements: tuple[StatementChange, ...]

    @property
    def is_empty(self) -> bool:
        """Whether all is as it was, but for the bytes of the model and the lines of statements."""
        found = (self.coverage, self.transitions, self.sneak_paths, self.statements)
        return self.before is self.after and not any(found)


def compare(before: Baseline, after: Baseline) -> Comparison:
    """What has changed from one proof to a later one of the same lifecycle."""
    return Comparison(
        before=before.verdict,
        after=after.verdict,
        is_same_model=before.model_sha256 == after.model_sha256,
        coverage=tuple(
            (name, before.coverage.get(name), after.coverage.get(name))
            for name in dict.fromkeys((*after.coverage, *before.coverage))
            if before.coverage.get(name) != after.coverage.get(name)
        ),
        transitions=tuple(
            RungChange(pair, before.rungs.get(pair), after.rungs.get(pair))
            for pair in dict.fromkeys((*after.rungs, *before.rungs))
            if before.rungs.get(pair) != after.rungs.get(pair)
        ),
        sneak_paths=tuple(
            SneakPathChange(pair, before.sneak_paths.get(pair), after.sneak_paths.get(pair))
            for pair in dict.fromkeys((*after.sneak_paths, *before.sneak_paths))
            if before.sneak_paths.get(pair) != after.sneak_paths.get(pair)
        ),
        statements=tuple(_statement_changes(before.statements, after.statements)),
    )


def _statement_changes(before: Sequence[Statement], after: Sequence[Statement]) -> Iterator[StatementChange]:
    """Statements are the same by file and text; then by text, then by file and name (or line), as far as they go."""
    _, before, after = _pair_off(before, after, lambda it: (it.place.file, it.sql))
    moved, before, after = _pair_off(before, after, lambda it: it.sql)
    changed, before, after = _pair_off(before, after, lambda it: (it.place.file, it.place.name or it.place.line))
    yield from (StatementChange(StatementFate.NEW, None, it.place) for it in after)
    yield from (StatementChange(StatementFate.CHANGED, old.place, new.place) for old, new in changed)
    yield from (StatementChange(StatementFate.MOVED, old.place, new.place) for old, new in moved)
    yield from (StatementChange(StatementFate.GONE, it.place, None) for it in before)


def _pair_off(
    before: Iterable[Statement], after: Iterable[Statement], key: Callable[[Statement], Hashable]
) -> tuple[list[tuple[Statement, Statement]], list[Statement], list[Statement]]:
    """Statements with one key in pairs, in order, and what has no partner on either side."""
    waiting: dict[Hashable, list[Statement]] = defaultdict(list)
    for statement in before:
        waiting[key(statement)].append(statement)
    pairs: list[tuple[Statement, Statement]] = []
    alone: list[Statement] = []
    for statement in after:
        same = waiting[key(statement)]
        if same:
            pairs.append((same.pop(0), statement))
        else:
            alone.append(statement)
    return pairs, [statement for rest in waiting.values() for statement in rest], alone


@record
class Line:
    """One change in words: what it happened to, what happened, and whether that is for the better."""

    name: str
    words: str
    tone: Tone = Tone.NEITHER

    @property
    def text(self) -> str:
        """The whole line."""
        return f"{self.name}: {self.words}"


@record
class Part:
    """The changes of one kind, under their heading; names that stand in code or in the model are ``literal``."""

    title: str
    lines: tuple[Line, ...]
    is_literal: bool = True


def verdict_words(comparison: Comparison) -> str:
    """What became of the verdict, and whether the lifecycle file is the same, in at most two sentences."""
    model = "" if comparison.is_same_model else " The lifecycle file is another version."
    if comparison.is_empty:
        return f"Nothing has changed; the verdict was {comparison.before} as well.{model}"
    if comparison.before is comparison.after:
        return f"The verdict was {comparison.before} as well.{model}"
    return f"The verdict was {comparison.before} and is now {comparison.after}.{model}"


def parts_of(comparison: Comparison) -> tuple[Part, ...]:
    """Every change in words, in each part what is for the worse first; parts without a change are left out."""
    parts = (
        ("Sneak paths", [_sneak_path_line(it) for it in comparison.sneak_paths]),
        ("Transitions", [_transition_line(it) for it in comparison.transitions]),
        ("Statements", [_statement_line(it) for it in comparison.statements]),
        (
            COVERAGE,
            [
                Line(COVERAGE_NAMES.get(name, name), f"{_figure(new)} (was {_figure(old)})")
                for name, old, new in comparison.coverage
            ],
        ),
    )
    rank = (Tone.WORSE, Tone.BETTER, Tone.NEITHER)
    return tuple(
        Part(title, tuple(sorted(lines, key=lambda line: rank.index(line.tone))), is_literal=title != COVERAGE)
        for title, lines in parts
        if lines
    )


def _transition_line(change: RungChange) -> Line:
    what = {Tone.BETTER: "newly proven, ", Tone.WORSE: "no longer proven, ", Tone.NEITHER: ""}[change.tone]
    if change.after is None:
        words = "no longer in the model" + (f" (was {change.before.words})" if change.before else "")
    elif change.before is None:
        words = f"new in the model, {change.after.words}"
    else:
        words = f"{what}{change.after.words} (was {change.before.words})"
    return Line(one_line(transition_name(*change.pair)), words, change.tone)


def _sneak_path_line(change: SneakPathChange) -> Line:
    if change.after is None:
        words = f"gone (was {change.before})"
    else:
        words = f"new, {change.after}" if change.before is None else f"{change.after} (was {change.before})"
    return Line(one_line(transition_name(*change.pair)), words, change.tone)


def _statement_line(change: StatementChange) -> Line:
    place, was = change.after or change.before, change.before
    moved = f" from {one_line(str(was))}" if change.fate is StatementFate.MOVED else ""
    return Line(one_line(str(place)), f"{change.fate}{moved}")


def _figure(share: Share | None) -> str:
    return "not measured" if share is None else str(share)
