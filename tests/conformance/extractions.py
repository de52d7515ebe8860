"""The statements that are found in one file of code, as a test reads them."""

from __future__ import annotations

import hashlib
from textwrap import dedent

from arrowproof.conformance.extraction import Extraction, extract_statements
from arrowproof.conformance.sources import Source
from arrowproof.conformance.statements import SqlStatement
from arrowproof.model.lifecycle import Binding, Dialect

JOBS = Binding("jobs", ("id",), "status", watch=("attempts",))
VALUES = ("pending", "retry_wait", "completed", "failed")


def extract(files: dict[str, str], dialect: Dialect = Dialect.SQLITE, binding: Binding = JOBS) -> Extraction:
    """What is found in files by name."""
    sources = [Source(name, text, hashlib.sha256(text.encode()).hexdigest()) for name, text in files.items()]
    return extract_statements(sources, binding, VALUES, dialect)


def found(file: str, text: str, dialect: Dialect = Dialect.SQLITE) -> list[SqlStatement]:
    """The statements in one file."""
    return list(extract({file: dedent(text)}, dialect).statements)


def lines(file: str, text: str, dialect: Dialect = Dialect.SQLITE) -> list[str]:
    """The statements in one file, each as its line and its SQL on one line; the undecided ones with their reasons."""
    return [
        f"{each.place.line}: {' '.join(each.sql.split())}" + (f" ({each.problem})" if each.problem else "")
        for each in found(file, text, dialect)
    ]
