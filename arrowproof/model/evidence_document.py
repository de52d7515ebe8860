"""Evidence files, in the format ``arrowproof.evidence/2``: an :class:`Evidence` out and in again.

One UTF-8 JSON file, described by ``evidence.schema.json`` beside this module: ``format`` first, then the fields of
:mod:`arrowproof.model.evidence` under their own names and in their order. A row is an object from column to value in
column order. The same evidence gives the same bytes. What JSON or a column cannot hold is given as text: ``Infinity``,
``NaN`` and integers of more than 64 bits, as the records give blobs; half a surrogate pair becomes ``?``.

History of the format:

- ``arrowproof.evidence/1``: the first. ``log`` and ``guard`` came later, and a file without them means null.
- ``arrowproof.evidence/2``: has more fields (:data:`~arrowproof.model.evidence.SINCE_2`), none of which is needed and
  each of which is left out while it has nothing to say. Files of version 1 are read as what they are: files without.
  ``blow`` of a kill has had the value ``connection lost, commit late`` from later on; what was made before that refuses
  a file with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from arrowproof.errors import InternalError, ModelError, Problem
from arrowproof.model.document import Document, read_document
from arrowproof.model.evidence import EVIDENCE_FORMAT, Evidence, Row, Scalar
from arrowproof.model.scanner import INTEGER_RANGE
from arrowproof.model.schema import check_schema

_FIRST_FORMAT = "arrowproof.evidence/1"
_WAYS_OUT = {
    "empty-file": "Make it with `arrowproof prove`.",
    "syntax": "Make the file anew with `arrowproof prove`.",
    "too-large": "Have the driver create rows with less in them, and prove again.",
    "wrong-format": "Make the file anew with `arrowproof prove`; if a newer Arrowproof made it, update yours.",
}
"""What helps against a problem of a file that a program has written, where it is not what helps whoever writes one."""

MAX_EVIDENCE_BYTES = 16 * 1024 * 1024
"""The largest evidence file; that of the bundled service is below 100 KiB."""


def dump_evidence(evidence: Evidence) -> str:
    """The text of the evidence file, with a line feed at its end.

    Raises:
        InternalError: a row of the evidence names a column twice.
    """
    plain = {"format": EVIDENCE_FORMAT, **_encode(evidence, Evidence)}
    text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def load_evidence(data: bytes, source: str) -> Evidence:
    """The evidence in ``data``; ``source`` names it in messages.

    Raises:
        ModelError: the bytes are no evidence file; every reason is listed.
    """
    try:
        document = _as_of_now(read_document(data, source, limit=MAX_EVIDENCE_BYTES))
        problems = [*document.problems, *check_schema(document, "evidence")]
        if problems:
            raise ModelError(source, sorted(problems, key=lambda problem: (problem.line, problem.column)))
    except ModelError as error:
        raise ModelError(source, [_with_way_out(problem) for problem in error.problems]) from None
    evidence: Evidence = _decode(document.data, Evidence)
    return evidence


def _as_of_now(document: Document) -> Document:
    """A file of the first version as one of this version, which it is but for its name."""
    if isinstance(document.data, dict) and document.data.get("format") == _FIRST_FORMAT:
        return replace(document, data={**document.data, "format": EVIDENCE_FORMAT})
    return document


def _with_way_out(problem: Problem) -> Problem:
    return replace(problem, fix=_WAYS_OUT.get(problem.rule, problem.fix))


def _encode(value: Any, hint: Any) -> Any:
    """A value of a record as plain JSON; ``hint`` is its declared type, which tells a row from other tuples."""
    hint = _without_none(hint)
    if value is None or isinstance(value, StrEnum):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        hints = _hints(type(value))
        return {each.name: _encode(getattr(value, each.name), hints[each.name]) for each in _said_fields(value)}
    if hint == Row:
        row = {column: _encode_scalar(scalar) for column, scalar in value}
        if len(row) != len(value):
            raise InternalError(f"a row of the evidence names a column twice: {[column for column, _ in value]}")
        return row
    if isinstance(value, tuple):
        return [_encode(item, get_args(hint)[0]) for item in value]
    return _encode_scalar(value)


def _said_fields(value: Any) -> list[Field[Any]]:
    """The fields of a record that its file has: all of the first version, and of later ones what says something."""
    return [each for each in fields(value) if "since" not in each.metadata or getattr(value, each.name) != each.default]


def _encode_scalar(value: Scalar) -> Scalar:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if isinstance(value, int) and value not in INTEGER_RANGE:
        return str(value)
    return value


def _decode(plain: Any, hint: Any) -> Any:
    """The record of type ``hint`` that ``plain`` encodes; the schema has said already that it does."""
    hint = _without_none(hint)
    if plain is None or hint == Scalar:
        return plain
    if hint == Row:
        return tuple(plain.items())
    if get_origin(hint) is tuple:
        return tuple(_decode(item, get_args(hint)[0]) for item in plain)
    if is_dataclass(hint) and isinstance(hint, type):
        hints = _hints(hint)
        return hint(**{name: _decode(plain[name], hints[name]) for name in hints if name in plain})
    return hint(plain)


def _without_none(hint: Any) -> Any:
    """``X`` for ``X | None``; every other hint as it is."""
    choices = [choice for choice in get_args(hint) if choice is not type(None)]
    return choices[0] if len(choices) == 1 and len(get_args(hint)) == 2 and get_origin(hint) is not tuple else hint


@cache
def _hints(record: type[Any]) -> Mapping[str, Any]:
    """The declared type of each field of a record, in order."""
    hints = get_type_hints(record)
    return {field.name: hints[field.name] for field in fields(record)}
