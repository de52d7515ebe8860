"""Bundles: several arrows of a proof that are drawn as one, and what keeps a folded group from being quiet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from arrowproof.render.language import Language
from arrowproof.render.proof import Proof, rung_words
from arrowproof.render.standing import ArrowStanding


def bundle_proof(proof: Proof, bundles: Mapping[str, Sequence[str]], language: Language) -> Proof:
    """The proof with a standing and, where it needs one, a caption for each bundle: that of its lowest arrows."""
    standings = {name: _lowest([proof.standing.arrows[each] for each in members]) for name, members in bundles.items()}
    standing = replace(proof.standing, arrows={**proof.standing.arrows, **standings})
    captions = {name: rung_words(each, language) for name, each in standings.items() if not standing.is_usual(name)}
    return replace(proof, standing=standing, captions={**proof.captions, **captions})


def lowest_gap(proof: Proof, arrows: Iterable[str]) -> ArrowStanding | None:
    """Where the lowest of these arrows stand, with how many stand there; None when all of them hold."""
    standings = [proof.standing.arrows[arrow] for arrow in arrows if arrow in proof.standing.arrows]
    lowest = _lowest(standings) if standings else None
    return None if lowest is None or lowest.rung.tone == "holds" else lowest


def _lowest(standings: Sequence[ArrowStanding]) -> ArrowStanding:
    lowest = min(standings, key=lambda each: each.rung.height)
    counts = [each.count for each in standings if each.count is not None]
    return ArrowStanding(
        rung=lowest.rung,
        at=sum(each.rung is lowest.rung for each in standings),
        over=len(standings),
        count=sum(counts) if counts else None,
        is_exact=all(each.is_exact for each in standings),
        step=max(each.step for each in standings),
    )
