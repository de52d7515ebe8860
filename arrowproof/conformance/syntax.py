"""Syntax: the parser's tree of a change, or the reason why there is none, in words that name no class of the parser."""

from __future__ import annotations

import re
from itertools import pairwise

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError, SqlglotError

from arrowproof.conformance.changes import Change, Verb
from arrowproof.conformance.display import one_line

_PYTHON_PARAMETER = re.compile(r"%(?:\([^()%]{1,100}\))?[A-Za-z]\b")


class MisreadError(Exception):
    """The parser's tree is not what was expected; the message is the reason for *undecided*."""


def parse_change(change: Change) -> exp.Expr:
    """The tree of a change, of the kind that its verb promises, with a target.

    Raises:
        MisreadError: the parser cannot read it, or takes it for something else.
    """
    try:
        tree = parse_one(change.sql, dialect="sqlite")
    except SqlglotError as error:
        raise MisreadError(_unreadable(change, error)) from error
    wanted = {Verb.INSERT: exp.Insert, Verb.UPDATE: exp.Update, Verb.DELETE: exp.Delete}[change.verb]
    if not isinstance(tree, wanted) or target_of(tree) is None:
        raise MisreadError(f"the parser does not take it for the {change.verb} that it is")
    return tree


def _unreadable(change: Change, error: SqlglotError) -> str:
    """Why the parser cannot read a statement. Its own message speaks of its classes, and is not shown."""
    for token, following in pairwise(change.statement.tokens):
        if token.word == "%" and token.end == following.start:
            end = _PYTHON_PARAMETER.match(change.statement.sql, token.start - change.statement.tokens[0].start)
            if end is not None:
                return f"`{one_line(end.group())}` is no SQLite parameter; write ? or :name"
    places = error.errors if isinstance(error, ParseError) else []
    near = one_line(str(places[0].get("highlight") or ""), 40) if places else ""
    return f"the parser cannot read it, near `{near}`" if near else "the parser cannot read it"


def target_of(tree: exp.Expr) -> exp.Table | None:
    """The table that a tree changes, when it is one plain table."""
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    return target if isinstance(target, exp.Table) and not target.args.get("joins") else None
