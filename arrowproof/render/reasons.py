"""Reasons: why the verdict of a proof is not better, as its column says it.

Evidence has a reason for each sneak path. They all ask for the same, and each of them stands in the list below, so many
of one kind are one sentence here.
"""

from __future__ import annotations

from arrowproof.model.evidence import Evidence
from arrowproof.model.transitions import transition_name
from arrowproof.render.language import Language
from arrowproof.render.proof_words import MAX_SENTENCE, bounded

_FEW = 2
"""So many sneak paths of a kind have their own reasons, which say where they are written."""

_KINDS = {" is possible: ": "proof.all_possible", " happened: ": "proof.all_happened"}
"""What the reason of a sneak path says behind its name, and the sentence for many of them."""


def say_reasons(evidence: Evidence, language: Language) -> tuple[str, ...]:
    """One sentence each, in the order of the evidence; that of a kind of sneak paths stands where the first did."""
    names = {f"Sneak path {transition_name(path.source, path.target)}" for path in evidence.sneak_paths}
    kinds = [_kind(reason, names) for reason in evidence.reasons]
    many = {kind for kind in _KINDS if kinds.count(kind) > _FEW}
    said = {
        language(_KINDS[kind], number=kinds.count(kind)) if kind in many else _shown(reason): None
        for reason, kind in zip(evidence.reasons, kinds, strict=True)
    }
    return tuple(said)


def _kind(reason: str, names: set[str]) -> str:
    """What a reason says of a sneak path of the evidence; empty for every other reason."""
    return next((kind for kind in _KINDS if reason.partition(kind)[0] in names), "")


def _shown(reason: str) -> str:
    return bounded(reason, MAX_SENTENCE).replace(" -> ", " → ")
