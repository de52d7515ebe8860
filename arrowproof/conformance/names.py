"""Names: how SQLite compares the names of tables and columns."""

from __future__ import annotations

import string

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def fold(name: str) -> str:
    """A name in the form in which two names are the same to SQLite: without case, in ASCII alone.

    To SQLite ``État`` and ``état`` are two columns, and the Kelvin sign is no K.
    """
    return name.translate(_LOWER)


def fold_keyword(word: str) -> str:
    """A word in upper case as SQLite looks for it among its keywords: the long s of ``ſet`` is no S."""
    return word.translate(_UPPER)
