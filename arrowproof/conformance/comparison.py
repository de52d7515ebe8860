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

from arrowproof.conformance.baseline import ACCEPTED, Baseline
from arrowproof.conformance.display import one_line
from arrowproof.model.evidence import Place, Share, Statement, Verdict
from arrowproof.model.record import record
from arrowproof.model.rung import Rung
from arrowproof.model.transitions import Pair, transition_name


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
        """One that nobody has accepted is for the worse, whatever was known of it before."""
        if self.after in (None, ACCEPTED):
            return Tone.NEITHER if self.before in (None, ACCEPTED) else Tone.BETTER
        return Tone.WORSE


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
    """One change in words, and whether it is for the better."""

    text: str
    tone: Tone = Tone.NEITHER


@record
class Part:
    """The changes of one kind, under their heading."""

    title: str
    lines: tuple[Line, ...]


def verdict_words(comparison: Comparison) -> str:
    """What became of the verdict, as one sentence."""
    if comparison.is_empty:
        same = "" if comparison.is_same_model else " The lifecycle file has other bytes."
        return f"Nothing has changed since the baseline, which was {comparison.before}.{same}"
    became = "as now" if comparison.before is comparison.after else f"now {comparison.after}"
    drawn = "" if comparison.is_same_model else ", of another version of the lifecycle file"
    return f"The baseline{drawn} was {comparison.before}, {became}."


def parts_of(comparison: Comparison) -> tuple[Part, ...]:
    """Every change in words, in each part what is for the worse first; parts without a change are left out."""
    parts = (
        ("Sneak paths", [Line(_sneak_path_words(it), it.tone) for it in comparison.sneak_paths]),
        ("Transitions", [Line(_transition_words(it), it.tone) for it in comparison.transitions]),
        ("Statements", [Line(_statement_words(it)) for it in comparison.statements]),
        ("Coverage", [Line(f"{name}: {_figure(new)} (was {_figure(old)})") for name, old, new in comparison.coverage]),
    )
    rank = (Tone.WORSE, Tone.BETTER, Tone.NEITHER)
    return tuple(
        Part(title, tuple(sorted(lines, key=lambda line: rank.index(line.tone)))) for title, lines in parts if lines
    )


def _transition_words(change: RungChange) -> str:
    name = one_line(transition_name(*change.pair))
    if change.after is None:
        return f"{name}: no longer in the model (was {change.before.words if change.before else 'unknown'})"
    if change.before is None:
        return f"{name}: new in the model, {change.after.words}"
    what = {Tone.BETTER: "newly proven, ", Tone.WORSE: "no longer proven, ", Tone.NEITHER: ""}[change.tone]
    return f"{name}: {what}{change.after.words} (was {change.before.words})"


def _sneak_path_words(change: SneakPathChange) -> str:
    name = one_line(transition_name(*change.pair))
    if change.after is None:
        return f"{name}: gone (was {change.before})"
    return f"{name}: new, {change.after}" if change.before is None else f"{name}: {change.after} (was {change.before})"


def _statement_words(change: StatementChange) -> str:
    match change.fate, change.before, change.after:
        case StatementFate.MOVED, Place() as old, Place() as new:
            return f"{one_line(str(new))}: moved from {one_line(str(old))}"
        case _, _, Place() as new:
            return f"{one_line(str(new))}: {change.fate}"
        case _, old, _:
            return f"{one_line(str(old))}: {change.fate}"


def _figure(share: Share | None) -> str:
    return "not measured" if share is None else str(share)
