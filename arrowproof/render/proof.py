"""The proof as a page draws it: evidence brought onto a lifecycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from arrowproof.model.lifecycle import Lifecycle, State
from arrowproof.model.record import record
from arrowproof.render.language import Language, load_language
from arrowproof.render.moments import duration_text
from arrowproof.render.sneak_arrows import add_sneak_arrows, shared_words, sneak_words
from arrowproof.render.standing import ArrowStanding, Standing, stand

if TYPE_CHECKING:
    from arrowproof.model.evidence import Evidence, SneakPath
    from arrowproof.model.staleness import Difference


@record
class Proof:
    """Evidence as it is drawn on a lifecycle.

    ``sha256`` is that of the evidence file; ``stale`` says in what it is not of today. ``lifecycle`` is what is drawn:
    the model with an arrow for each sneak path, behind its own arrows, and the times of a log in its notes.
    ``sneak_paths`` holds the sneak paths that are drawn by arrow id, and ``undrawn`` counts the others. ``captions`` is
    the word under the label of each arrow that needs one, by arrow id. ``shared`` is what a legend says of many sneak
    paths at once, empty where they are few.
    """

    evidence: Evidence
    sha256: str
    stale: tuple[Difference, ...]
    standing: Standing
    lifecycle: Lifecycle
    sneak_paths: Mapping[str, SneakPath]
    undrawn: int
    captions: Mapping[str, str]
    shared: str = ""

    @property
    def is_foreign(self) -> bool:
        """Whether the evidence is of another lifecycle, and so proves nothing of this one."""
        if not self.stale:
            return False
        from arrowproof.model.staleness import DifferenceKind  # a drawing without evidence need not pay for it

        return any(difference.kind is DifferenceKind.MODEL for difference in self.stale)

    @property
    def beside_legend(self) -> tuple[Lifecycle, Mapping[str, str]]:
        """What is drawn, and its captions, where a legend says what many sneak paths are: the lines alone say that
        they are sneak paths, and only another fate than that of most has a word."""
        if not self.shared:
            return self.lifecycle, self.captions
        arrows = [replace(each, event=None) if each.id in self.sneak_paths else each for each in self.lifecycle.arrows]
        captions = {
            arrow: words
            for arrow, words in self.captions.items()
            if arrow not in self.sneak_paths or words != self.shared
        }
        return replace(self.lifecycle, arrows=tuple(arrows)), captions


def bring_proof(
    lifecycle: Lifecycle,
    evidence: Evidence,
    sha256: str,
    stale: Sequence[Difference] = (),
    language: Language | None = None,
) -> Proof:
    """The proof of a lifecycle, its words in a language (English when left out).

    Raises:
        ModelError: passing states form a cycle, so that the lifecycle has no transitions.
    """
    language = language or load_language()
    standing = stand(lifecycle, evidence)
    drawn, sneak_paths = add_sneak_arrows(lifecycle, evidence.sneak_paths, language)
    states = tuple(_timed(state, standing.medians.get(state.id), language) for state in drawn.states)
    captions = {arrow: rung_words(standing.arrows[arrow], language) for arrow in standing.arrows}
    captions = {arrow: words for arrow, words in captions.items() if not standing.is_usual(arrow)}
    return Proof(
        evidence=evidence,
        sha256=sha256,
        stale=tuple(stale),
        standing=standing,
        lifecycle=replace(drawn, states=states),
        sneak_paths=sneak_paths,
        undrawn=len(evidence.sneak_paths) - len(sneak_paths),
        captions=captions | {arrow: sneak_words(path, language) for arrow, path in sneak_paths.items()},
        shared=shared_words(sneak_paths.values(), language),
    )


def drawn_proof(proof: Proof | None) -> Proof | None:
    """What of a proof may be drawn: all of it, and nothing where its evidence is of another lifecycle."""
    return None if proof is None or proof.is_foreign else proof


def arrow_words(arrow: str, proof: Proof, language: Language) -> str:
    """What a proof says of an arrow: a sneak path as what it is, another with its rung and how often a log holds it."""
    if arrow in proof.sneak_paths:
        return proof.captions[arrow]
    standing = proof.standing.arrows[arrow]
    words = rung_words(standing, language)
    if standing.count is None:
        return words
    return language("proof.list").join((words, count_words(standing.count, standing.is_exact, language)))


def rung_words(standing: ArrowStanding, language: Language) -> str:
    """The rung of an arrow, with how many of its transitions stand so low when they differ."""
    rung = language(f"rung.{standing.rung}")
    return language("rung.part", rung=rung, at=standing.at, over=standing.over) if standing.is_mixed else rung


def count_words(count: int, is_exact: bool, language: Language) -> str:
    """How often a log holds an arrow or a transition."""
    words = language.count("log.count", count)
    return words if is_exact else language("log.at_most", count=words)


def _timed(state: State, median: float | None, language: Language) -> State:
    """A state with the median time in it as the last line of its note."""
    if median is None:
        return state
    words = language("log.median", time=duration_text(median, language))
    return replace(state, note=f"{state.note}\n{words}" if state.note else words)
