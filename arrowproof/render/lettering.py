"""The lettering of a page: which texts each of its faces draws, and so how much of each face it has to embed.

A letter in the SQL of a proof asks for more of the code face alone, and one in a label for more of the text face alone.
A face that is given a text which it does not draw is only larger than it need be; one that is not given a text which it
draws would leave letters to a font of the reader's machine, which a test in a browser looks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.render.language import Language
from arrowproof.render.outline import Outline

if TYPE_CHECKING:
    from arrowproof.render.proof import Proof
    from arrowproof.render.proof_column import ProofColumn
    from arrowproof.render.proof_header import ProofHeader
    from arrowproof.render.proof_panel import ProofPanel


@record
class Lettering:
    """All that may be drawn in the text face and in the code face of a page, each as one text."""

    sans: str
    mono: str


def letter_page(outline: Outline, lifecycle: Lifecycle, language: Language) -> Lettering:
    """The lettering of a page without a proof."""
    paths = (path for row in outline.transitions for path in row.paths)
    mono = (outline.id, outline.model_hash, *paths, language("transitions.or"), *(fact.value for fact in outline.facts))
    return Lettering(sans=f"{lifecycle!r}{language.texts!r}", mono="".join(mono))


def letter_proof(
    plain: Lettering, proof: Proof | None, header: ProofHeader, column: ProofColumn | None, panels: Iterable[ProofPanel]
) -> Lettering:
    """The lettering of a page with a proof, by that of the page without it.

    Args:
        plain: the lettering without the proof.
        proof: what of it is drawn; None where it is of another lifecycle, and only the header speaks of it.
        header: its part of the header.
        column: its column, if it has one.
        panels: its panels, as much of them as is shown.
    """
    panels = tuple(panels)
    sans = [plain.sans, repr(header)]
    mono = [plain.mono, *(fact.code for fact in header.origin)]
    if proof is not None:
        sans.append(f"{proof.lifecycle!r}{proof.captions!r}{proof.shared}")
    if column is not None:
        sans.append(repr(replace(column, panels=())))
        mono.extend(head.id for head in column.heads)
    for panel in panels:
        sans.append(repr(_without_code(panel)))
        mono.extend(_code(panel))
    return Lettering("".join(sans), "".join(mono))


def _code(panel: ProofPanel) -> Iterator[str]:
    """What of a panel is drawn in the code face: ids, the place and the lines of SQL, and what a row holds."""
    yield panel.arrows
    if panel.statement is not None:
        yield panel.statement.place
        yield from (span.text for line in panel.statement.lines for span in line.spans)
    if panel.row is not None:
        yield from (value.text for line in panel.row.lines for value in (line.name, line.before, line.after))
    yield from (number for _, number, _ in panel.processes)


def _without_code(panel: ProofPanel) -> ProofPanel:
    """A panel without the lines of SQL and the values of the row."""
    statement = None if panel.statement is None else replace(panel.statement, place="", lines=())
    row = None if panel.row is None else replace(panel.row, lines=())
    return replace(panel, arrows="", statement=statement, row=row)
