"""Syntax: the parser's tree of a change, or the reason why there is none, in words that name no class of the parser."""

from __future__ import annotations

import re
from itertools import pairwise

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError, SqlglotError

from arrowproof.conformance.changes import Change, Verb
from arrowproof.conformance.display import one_line
from arrowproof.conformance.names import fold
from arrowproof.model.record import record

_PYTHON_PARAMETER = re.compile(r"%(?:\([^()%]{1,100}\))?[A-Za-z]\b")


class MisreadError(Exception):
    """The parser's tree is not what was expected; the message is the reason for *undecided*."""


@record
class Parsed:
    """The tree of a change, and the whole statement that it is a part of; the same where it is no part."""

    tree: exp.Expr
    whole: exp.Expr


_KINDS = {Verb.INSERT: exp.Insert, Verb.UPDATE: exp.Update, Verb.DELETE: exp.Delete, Verb.MERGE: exp.Merge}


def parse_change(change: Change) -> Parsed:
    """The tree of a change, of the kind that its verb promises, with a target.

    Raises:
        MisreadError: the parser cannot read it, or takes it for something else.
    """
    try:
        whole = parse_one(change.sql, dialect=change.statement.grammar.parser)
    except SqlglotError as error:
        raise MisreadError(_unreadable(change, error)) from error
    parts = [part for part in _parts(whole) if isinstance(part, tuple(_KINDS.values()))]
    nested = sum(1 for each in whole.find_all(*_KINDS.values()) if each.find_ancestor(exp.When) is None)
    if len(parts) != change.parts or nested != change.parts:
        raise MisreadError(f"the parser does not take it for the {change.verb} that it is")
    tree = parts[change.part]
    target = target_of(tree)
    if not isinstance(tree, _KINDS[change.verb]) or target is None or fold(target.name) != change.table:
        raise MisreadError(f"the parser does not take it for the {change.verb} that it is")
    return Parsed(tree, whole)


def _parts(whole: exp.Expr) -> list[exp.Expr]:
    """What may change rows in a statement, in the order of the text: its table expressions, then itself."""
    clause = whole.args.get("with_")
    return [*(each.this for each in clause.expressions), whole] if clause is not None else [whole]


def _unreadable(change: Change, error: SqlglotError) -> str:
    """Why the parser cannot read a statement. Its own message speaks of its classes, and is not shown."""
    for token, following in pairwise(change.statement.tokens):
        if token.word == "%" and token.end == following.start:
            end = _PYTHON_PARAMETER.match(change.statement.sql, token.start - change.statement.tokens[0].start)
            if end is not None:
                return f"`{one_line(end.group())}` is no {change.statement.grammar.title} parameter; write ? or :name"
    places = error.errors if isinstance(error, ParseError) else []
    near = one_line(str(places[0].get("highlight") or ""), 40) if places else ""
    return f"the parser cannot read it, near `{near}`" if near else "the parser cannot read it"


def target_of(tree: exp.Expr) -> exp.Table | None:
    """The table that a tree changes, when it is one plain table."""
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    return target if isinstance(target, exp.Table) and not target.args.get("joins") else None
