"""The proof column: what stands beside the drawing of a lifecycle with evidence.

It says what keeps the verdict from being better, lists the sneak paths and the transitions with how far each has come,
and holds the panel of each. An arrow that is no transition by itself has a head of its own, which offers the
transitions over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from arrowproof.model.evidence import SneakPath, TransitionEvidence, Verdict
from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition, derive_transitions
from arrowproof.render.language import Language
from arrowproof.render.names import arrow_names, arrow_text
from arrowproof.render.proof import Proof
from arrowproof.render.proof_panel import Limits, ProofPanel, Prover, is_plain, make_prover
from arrowproof.render.proof_words import ProofWords, bounded
from arrowproof.render.reasons import say_reasons
from arrowproof.render.sneak_arrows import sneak_words
from arrowproof.render.standing import Standing

MAX_REASONS = 4
"""Reasons that are shown; the others are counted."""

MAX_KEPT = 16
"""Transitions that do not hold and stay in a list that is too long for the screen."""

MAX_LABEL = 120
"""Characters of the label of an arrow in its head."""

MAX_CHOICES = 6
"""Transitions that the head of an arrow offers, the lowest rungs first; the others are counted."""


PanelMaker = Callable[[Limits], ProofPanel]
"""Makes one panel with as much in it as fits."""


@record
class ProofRow:
    """A line of the list. ``arrows`` are the numbers of the arrows that it walks over, ``spoken`` is all of it."""

    address: tuple[str, str]
    source: str
    target: str
    arrows: str
    sign: str
    tone: str
    walks: str
    kills: str
    spoken: str


@record
class ArrowHead:
    """The head of an arrow over passing states, or beside others: its ends, its label, its id, and its transitions.

    ``arrow`` is the id as an address names it.
    """

    arrow: str
    id: str
    title: tuple[str, str]
    label: str
    choices: tuple[tuple[tuple[str, str], str], ...]
    more: str


@record
class ProofColumn:
    """All texts of the column. ``sneaks`` and ``rows`` are the list, ``more_sneaks`` says how many are not in it.

    ``kept`` are the places of the rows that stay where not all can be shown. ``folded_reasons`` are the words of a fold
    after the first reason, the first two and so on, with those that are only counted; ``folded_sneaks`` are those after
    the first sneak path and so on.
    """

    reasons_heading: str
    reasons: tuple[str, ...]
    more_reasons: str
    folded_reasons: tuple[str, ...]
    sneaks: tuple[ProofRow, ...]
    more_sneaks: str
    folded_sneaks: tuple[str, ...]
    rows: tuple[ProofRow, ...]
    kept: tuple[int, ...]
    heads: tuple[ArrowHead, ...]
    panels: tuple[PanelMaker, ...]


def proof_column(lifecycle: Lifecycle, proof: Proof, language: Language) -> ProofColumn:
    """The column of a lifecycle by its proof.

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions.
    """
    words = ProofWords(lifecycle, language)
    evidence, standing = proof.evidence, proof.standing
    prover = make_prover(lifecycle, evidence, standing, words)
    transitions = derive_transitions(lifecycle)
    numbers = {arrow.id: number for number, arrow in enumerate(proof.lifecycle.arrows)}
    is_red = evidence.verdict is Verdict.NOT_PROVEN
    reasons = say_reasons(evidence, words)
    return ProofColumn(
        reasons_heading=language("proof.what_keeps_red" if is_red else "proof.what_keeps_walked"),
        reasons=reasons[:MAX_REASONS],
        more_reasons=words.more("proof.more_reasons", len(reasons) - MAX_REASONS),
        folded_reasons=tuple(
            words.more("proof.more_reasons", len(reasons) - shown) for shown in range(1, len(reasons[:MAX_REASONS]))
        ),
        sneaks=tuple(
            _sneak_row(path, numbers[arrow], proof.shared, words) for arrow, path in proof.sneak_paths.items()
        ),
        more_sneaks=words.more("proof.more_sneaks", proof.undrawn),
        folded_sneaks=tuple(
            words.more("proof.folded_sneaks", len(proof.sneak_paths) - shown)
            for shown in range(1, len(proof.sneak_paths))
        ),
        rows=(rows := tuple(_row(each, standing, numbers, words) for each in transitions)),
        kept=tuple(number for number, row in enumerate(rows) if row.tone != "holds")[:MAX_KEPT],
        heads=tuple(_heads(transitions, standing, words)),
        panels=(
            *(cache(partial(_sneak_panel, prover, path)) for path in proof.sneak_paths.values()),
            *(cache(partial(_panel, prover, transition)) for transition in transitions),
        ),
    )


def _panel(prover: Prover, transition: Transition, limits: Limits) -> ProofPanel:
    return prover.within(limits).panel(transition)


def _sneak_panel(prover: Prover, path: SneakPath, limits: Limits) -> ProofPanel:
    return prover.within(limits).sneak_panel(path)


def _sneak_row(path: SneakPath, arrow: int, shared: str, words: ProofWords) -> ProofRow:
    """A sneak path in the list, with its fate where that is not the one that is said of most of them at once."""
    pair = (path.source, path.target)
    fate = sneak_words(path, words.language)
    source, target = words.listed_ends(pair)
    return ProofRow(
        address=words.address(pair),
        source=source,
        target=target,
        arrows=str(arrow),
        sign="sneak",
        tone="wrong" if path.accepted is None else "plain",
        walks="",
        kills="" if fate == shared else fate,
        spoken=words.language("proof.spoken_sneak", source=source, target=target, fate=fate),
    )


def _row(transition: Transition, standing: Standing, numbers: dict[str, int], words: ProofWords) -> ProofRow:
    stands = standing.transitions[transition.pair]
    walks, kills = _tallies(stands.evidence, words.language)
    source, target = words.listed_ends(transition.pair)
    over = sorted({numbers[arrow] for path in transition.paths for arrow in path})
    rung = words.language(f"rung.{stands.rung}")
    return ProofRow(
        address=words.address(transition.pair),
        source=source,
        target=target,
        arrows=" ".join(map(str, over)),
        sign=stands.rung,
        tone=stands.rung.tone,
        walks=walks,
        kills=kills,
        spoken=words.language("proof.spoken", source=source, target=target, rung=rung, walks=walks, kills=kills),
    )


def _tallies(found: TransitionEvidence, language: Language) -> tuple[str, str]:
    """The walks that went right and the kills survived, each of those made where some were not."""
    right = sum(walk.problem is None for walk in found.walks)
    survived = sum(kill.problem is None for kill in found.kills)
    walks = str(right) if right == len(found.walks) else language("proof.of", part=right, total=len(found.walks))
    return walks, language("proof.of", part=survived, total=len(found.kills)) if found.kills else "–"


def _heads(transitions: Iterable[Transition], standing: Standing, words: ProofWords) -> Iterable[ArrowHead]:
    names = arrow_names(words.lifecycle)
    over: dict[str, list[Transition]] = {}
    for transition in transitions:
        for arrow_id in dict.fromkeys(arrow for path in transition.paths for arrow in path):
            over.setdefault(arrow_id, []).append(transition)
    for arrow in words.lifecycle.arrows:
        found = over.get(arrow.id, [])
        if found and not (len(found) == 1 and is_plain(found[0])):
            yield _head(arrow, names[arrow.id], found, standing, words)


def _head(arrow: Arrow, name: str, over: Sequence[Transition], standing: Standing, words: ProofWords) -> ArrowHead:
    lowest_first = sorted(over, key=lambda each: standing.transitions[each.pair].rung.height)
    choices = tuple(
        (words.address(each.pair), arrow_text(*words.listed_ends(each.pair))) for each in lowest_first[:MAX_CHOICES]
    )
    return ArrowHead(
        arrow=name,
        id=words.bounded(arrow.id),
        title=words.ends((arrow.source, arrow.target)),
        label=bounded(arrow.label, MAX_LABEL),
        choices=choices,
        more=words.more("proof.more_transitions", len(over) - MAX_CHOICES),
    )
