"""The proof file: the ``--evidence`` of commands that draw, and what it is stale about."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.language import load_language

if TYPE_CHECKING:
    from arrowproof.render.proof import Proof

Command = TypeVar("Command", bound=Callable[..., Any])


def evidence_option(command: Command) -> Command:
    """The ``--evidence`` file."""
    return click.option(
        "--evidence",
        type=click.Path(path_type=Path),
        help="The evidence file of `prove`, to be shown on the drawing.",
    )(command)


def read_proof(path: Path, lifecycle: Lifecycle, lang: str) -> Proof:
    """The proof in an evidence file, compared with the lifecycle and its sources as they are now.

    Raises:
        InputError: there is no such file, or it cannot be read.
        ModelError: the file is no evidence.
    """
    # Most drawings are made without evidence, and need not pay for this.
    from arrowproof.model.evidence_document import MAX_EVIDENCE_BYTES, load_evidence
    from arrowproof.model.loader import read_bytes
    from arrowproof.model.staleness import find_differences
    from arrowproof.render.proof import bring_proof

    data = read_bytes(path, limit=MAX_EVIDENCE_BYTES, maker="`arrowproof prove`")
    evidence = load_evidence(data, str(path))
    stale = find_differences(lifecycle, evidence)
    return bring_proof(lifecycle, evidence, hashlib.sha256(data).hexdigest(), stale, load_language(lang))


def stale_sentences(proof: Proof | None) -> tuple[str, ...]:
    """In what a proof is not of today, in English, as every message of a command; nothing without a proof."""
    if proof is None or not proof.stale:
        return ()
    from arrowproof.render.proof_header import stale_reasons

    return stale_reasons(proof.stale, load_language())
