"""Stand-ins: other names by which rows of the bound table can be written, and the triggers that write into its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import read_name, skip_words
from arrowproof.model.record import record


def read_stand_ins(statements: Sequence[SqlStatement], table: str) -> Mapping[str, str]:
    """What else shows or holds rows of ``table``, by its name in lower case: ``a view of`` or ``a part of`` it.

    SQLite lets nobody write a view, and has no parts of a table.
    """
    found: dict[str, str] = {}
    created = [each for each in statements if each.grammar.has_routines and each.word(0) == "CREATE"]
    for statement in (*created, *created):  # a view of a view may stand ahead of it
        tokens = statement.tokens
        words = [token.word for token in tokens[:8]]
        kind = next((word for word in words if word in ("VIEW", "TABLE")), "")
        if not kind or "MATERIALIZED" in words[: words.index(kind)]:
            continue
        at = skip_words(tokens, words.index(kind) + 1, "IF", "NOT", "EXISTS")
        _, name, after = read_name(tokens, at)
        names = {fold(token.name or "") for token in tokens[after:]}
        if name is None or not names & {table, *found}:
            continue
        if kind == "VIEW":
            found[fold(name)] = "a view of"
        elif {"PARTITION", "INHERITS"} & {token.word for token in tokens[after:]} and fold(name) != table:
            is_part = skip_words(tokens, after, "PARTITION", "OF") > after
            if is_part or any(token.word == "INHERITS" for token in tokens[after:]):
                found[fold(name)] = "a part of"
    return found


@record
class TriggerUse:
    """That a trigger calls a function: for which table, in lower case, for which events, and whether ahead of them."""

    function: str
    table: str
    events: frozenset[str]
    is_before: bool


def read_trigger_uses(statements: Sequence[SqlStatement]) -> tuple[TriggerUse, ...]:
    """Which functions the triggers of PostgreSQL call."""
    found = []
    for statement in statements:
        tokens = statement.tokens
        words = [token.word for token in tokens]
        if words[:1] != ["CREATE"] or "TRIGGER" not in words[1:5] or "EXECUTE" not in words:
            continue
        events = frozenset({"INSERT", "UPDATE", "DELETE", "TRUNCATE"} & set(words[: words.index("EXECUTE")]))
        on = next((index for index, word in enumerate(words) if word == "ON"), len(words))
        _, table, _ = read_name(tokens, on + 1)
        _, function, _ = read_name(tokens, words.index("EXECUTE") + 2)
        found.append(TriggerUse(fold(function or ""), fold(table or ""), events, "BEFORE" in words[:on]))
    return tuple(found)
