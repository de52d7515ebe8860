"""Rung lines: by what a transition stands on each rung of the proof, or what is missing there, in a few words."""

from __future__ import annotations

from collections.abc import Iterable

from arrowproof.model.evidence import Guard, Side, SneakPath, TransitionEvidence
from arrowproof.model.log import Log
from arrowproof.model.record import record
from arrowproof.model.rung import Rung
from arrowproof.render.proof_words import MAX_SENTENCE, ProofWords, bounded
from arrowproof.render.standing import TransitionStanding


@record
class RungLine:
    """One rung: its word, by what it is reached or what is missing, its sign, and its tone.

    ``sign`` is that of a bead: a rung that is reached, ``missing``, ``none`` for what was not asked for, or ``sneak``.
    ``tone`` is ``holds``, ``gap``, ``wrong``, ``quiet`` for what is not reached and need not be, or ``plain``.
    """

    word: str
    fact: str
    sign: str
    tone: str


def rung_lines(
    standing: TransitionStanding, guard: Guard | None, log: Log | None, words: ProofWords
) -> tuple[RungLine, ...]:
    """The lines of a transition, from written to guarded, and how often a log holds it where one was read."""
    found = standing.evidence
    lines = (
        _written(found, words),
        _walked(found, words),
        _survived(found, words),
        _guarded(standing.rung, guard, words),
    )
    return (*lines, *_logged(standing.count, log, words))


def sneak_lines(path: SneakPath, words: ProofWords) -> tuple[RungLine, ...]:
    """The lines of a sneak path: whether a statement can make it, whether it happened, and why it is accepted."""
    language = words.language
    tone = "wrong" if path.accepted is None else "plain"
    possible, happened = language("sneak.possible"), language("sneak.happened")
    lines = [
        RungLine(possible, words.places(path.possible), "sneak", tone)
        if path.possible
        else RungLine(possible, language("proof.not_written"), "none", "quiet"),
        RungLine(happened, language.count("proof.in_journal", len(path.happened)), "sneak", tone)
        if path.happened
        else RungLine(happened, language("proof.not_seen"), "none", "quiet"),
    ]
    if path.accepted is not None:
        lines.append(RungLine(language("proof.accepted"), bounded(path.accepted, MAX_SENTENCE), "none", "plain"))
    return tuple(lines)


def _line(rung: Rung, fact: str, sign: str, tone: str, words: ProofWords) -> RungLine:
    return RungLine(words.language(f"ladder.{rung}"), fact, sign, tone)


def _written(found: TransitionEvidence, words: ProofWords) -> RungLine:
    if found.written:
        return _line(Rung.WRITTEN, words.places(found.written), "written", "holds", words)
    tone = "gap" if found.is_walked else "wrong"
    return _line(Rung.WRITTEN, words.language("proof.not_written"), "missing", tone, words)


def _walked(found: TransitionEvidence, words: ProofWords) -> RungLine:
    wrong = sum(walk.problem is not None for walk in found.walks)
    if wrong:
        fact = words.language.count("proof.walks_wrong", len(found.walks), wrong=wrong)
        return _line(Rung.WALKED, fact, "missing", "wrong", words)
    if found.walks:
        times = words.language.count("proof.times", len(found.walks))
        by = words.processes(process for walk in found.walks for process in walk.processes)
        fact = words.language("proof.walked_by", times=times, processes=by) if by else times
        return _line(Rung.WALKED, fact, "walked", "holds", words)
    sign, tone = ("missing", "gap") if found.is_written else ("none", "quiet")
    return _line(Rung.WALKED, words.language("proof.not_walked"), sign, tone, words)


def _survived(found: TransitionEvidence, words: ProofWords) -> RungLine:
    if not found.kills:
        return _line(Rung.SURVIVED, words.language("proof.not_killed"), "none", "quiet", words)
    right = sum(kill.problem is None for kill in found.kills)
    fact = words.language.count("proof.kills_survived", len(found.kills), right=right)
    if right < len(found.kills):
        return _line(Rung.SURVIVED, fact, "not_survived", "wrong", words)
    sides = {kill.side for kill in found.kills}
    if sides == set(Side):
        return _line(Rung.SURVIVED, fact, "survived", "holds", words)
    only = "proof.only_before" if Side.BEFORE in sides else "proof.only_after"
    return _line(Rung.SURVIVED, words.language(only, kills=fact), "none", "quiet", words)


def _guarded(rung: Rung, guard: Guard | None, words: ProofWords) -> RungLine:
    if guard is None:
        return _line(Rung.GUARDED, words.language("proof.not_guarded"), "none", "quiet", words)
    if not guard.holds:
        fact = words.language("proof.guard_leaks", refused=guard.refused, tried=guard.tried)
        return _line(Rung.GUARDED, fact, "missing", "gap", words)
    sign, tone = ("guarded", "holds") if rung is Rung.GUARDED else ("none", "quiet")
    return _line(Rung.GUARDED, words.language.count("proof.refused", guard.refused), sign, tone, words)


def _logged(count: int | None, log: Log | None, words: ProofWords) -> Iterable[RungLine]:
    if log is None or count is None:
        return
    fact = words.language.count("proof.times", count)
    total = sum(each.count for each in log.transitions)
    if count and total:
        fact = words.language("proof.share", times=fact, percent=_percent(count / total))
    yield RungLine(words.language("proof.log"), fact, "", "plain")


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.01 else "<1"
