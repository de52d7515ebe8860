"""The proof header: the verdict, the figures and the origin of a proof as plain texts for the top of a page.

Evidence is untrusted: every text is cleaned and bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arrowproof.model.evidence import Share, Verdict
from arrowproof.model.record import record
from arrowproof.model.staleness import Difference, DifferenceKind
from arrowproof.render.language import Language
from arrowproof.render.moments import duration_text, time_text
from arrowproof.render.outline import HASH_LENGTH
from arrowproof.render.proof import Proof
from arrowproof.render.text import clean_text

MAX_NAMES = 3
"""Sources that one reason lists; it says how many others there are."""

_MAX_NAME = 60
_MAX_COUNT = 99_999
"""A larger figure is told as more than this; no model has so many states, and evidence may say anything."""

_TONES = {Verdict.PROVEN: "holds", Verdict.WALKED: "gap", Verdict.NOT_PROVEN: "wrong"}


@record
class Figure:
    """A figure with the words under it; ``tone`` is ``wrong``, ``gap``, or empty where nothing is to be looked at."""

    number: str
    caption: str
    tone: str = ""


@record
class OriginFact:
    """One fact of where a proof comes from; ``code`` is the part in the face of code."""

    text: str
    code: str = ""

    @property
    def spoken(self) -> str:
        """All of it on one line."""
        return f"{self.text} {self.code}".strip()


@record
class ProofHeader:
    """What stands at the top of a page of a proof.

    ``tone`` is that of the verdict: ``holds``, ``gap`` or ``wrong``. ``stale`` are the sentences that say in what the
    proof is not of today; the verdict does not hold any more then. Of evidence of another lifecycle there are only
    these and the hash of its file: its verdict and its figures say nothing of this one.
    """

    verdict: str
    tone: str
    transitions: str
    figures: tuple[Figure, ...]
    origin: tuple[OriginFact, ...]
    stale: tuple[str, ...]


def head_proof(proof: Proof, language: Language) -> ProofHeader:
    """The header of a proof in a language."""
    evidence = proof.evidence
    stale = stale_reasons(proof.stale, language)
    if proof.is_foreign:
        return ProofHeader("", "", "", (), (_file(proof, language),), stale)
    share = evidence.coverage.transitions
    return ProofHeader(
        verdict=language(f"verdict.{evidence.verdict.replace(' ', '_')}"),
        tone=_TONES[evidence.verdict],
        transitions=language.count("verdict.transitions", share.total, share=_share(share, language)),
        figures=tuple(_figures(proof, language)),
        origin=_origin(proof, language),
        stale=stale,
    )


def _figures(proof: Proof, language: Language) -> Iterable[Figure]:
    coverage = proof.evidence.coverage
    shares = {
        "states": coverage.states,
        "arrows": coverage.arrows,
        "pairs": coverage.pairs,
        **({"kills": coverage.kills} if proof.evidence.has_kills else {}),
    }
    for name, share in shares.items():
        yield Figure(_share(share, language), language.count(f"figure.{name}", share.total), _tone(name, share))
    yield _sneak_paths(proof, language)
    for name, count in (("undecided", len(proof.evidence.undecided)), ("dynamic", len(proof.evidence.dynamic))):
        if count:
            yield Figure(_number(count), language.count(f"figure.{name}", count), "gap")


def _share(share: Share, language: Language) -> str:
    return language("share", covered=_number(share.covered), total=_number(share.total))


def _number(count: int) -> str:
    return f"{count:,}" if count <= _MAX_COUNT else f"{_MAX_COUNT:,}+"


def _tone(name: str, share: Share) -> str:
    """Kills that were not survived are to be looked at; what is not covered is told by the arrows themselves."""
    return "gap" if name == "kills" and 0 < share.covered < share.total else ""


def _sneak_paths(proof: Proof, language: Language) -> Figure:
    paths = proof.evidence.sneak_paths
    accepted = sum(path.accepted is not None for path in paths)
    caption = language.count("figure.sneak_paths", len(paths))
    if accepted:
        caption = language("figure.accepted", what=caption, number=accepted)
    if proof.undrawn:
        caption = language("figure.drawn", what=caption, number=len(proof.sneak_paths))
    return Figure(_number(len(paths)), caption, "wrong" if len(paths) > accepted else "")


def _origin(proof: Proof, language: Language) -> tuple[OriginFact, ...]:
    evidence = proof.evidence
    database = f"{evidence.environment.database} {evidence.environment.database_version}"
    return (
        OriginFact(time_text(evidence.started, language)),
        OriginFact(duration_text(evidence.seconds, language)),
        OriginFact(_short(database)),
        _file(proof, language),
    )


def _file(proof: Proof, language: Language) -> OriginFact:
    """The file of the evidence by the beginning of its hash."""
    return OriginFact(language("run.evidence"), proof.sha256[:HASH_LENGTH])


def stale_reasons(differences: Sequence[Difference], language: Language) -> tuple[str, ...]:
    """In what evidence is not of today, one sentence each; empty when it is."""
    reasons = []
    for kind in dict.fromkeys(difference.kind for difference in differences):
        found = [difference for difference in differences if difference.kind is kind]
        if kind in (DifferenceKind.MODEL, DifferenceKind.VERSION):
            length = HASH_LENGTH if kind is DifferenceKind.VERSION else _MAX_NAME
            then, today = (clean_text(text)[:length] or "?" for text in (found[0].evidence, found[0].today))
            reasons.append(language(f"stale.{kind}", evidence=then, page=today))
        else:
            names = language("proof.list").join(_short(difference.today) for difference in found[:MAX_NAMES])
            more = len(found) - MAX_NAMES
            listed = names if more <= 0 else language("proof.list_more", listed=names, number=more)
            reasons.append(language.count(f"stale.{kind}", len(found), names=listed))
    return tuple(reasons)


def _short(text: str) -> str:
    cleaned = clean_text(text)
    return cleaned if len(cleaned) <= _MAX_NAME else f"{cleaned[: _MAX_NAME - 1]}…"
