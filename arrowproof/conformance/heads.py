"""Heads: where text that was found in code begins a statement of SQL, told from prose by SQL's grammar.

``UPDATE jobs SET status = …`` is a head and "Update jobs set up by hand" is none: behind the name of the table must
stand what the grammar wants there. A head that is cut off (``"UPDATE jobs "`` with its rest elsewhere) counts where it
is written as SQL is, all in capitals, or all in small letters at the very beginning. Heads are looked for in *marked*
text, in which the character :data:`HOLE` stands for each place that is filled when the program runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from arrowproof.conformance.names import fold
from arrowproof.model.record import record

HOLE = "\ufdd0"
"""Stands for a hole in marked text. Unicode keeps it free of any meaning, so that no source has it for its own."""

_PART = rf"(?:[\w$#{HOLE}]+|\"[^\"\n]*\"|`[^`\n]*`|\[[^\]\n]*\])"
_PATH = rf"{_PART}(?:\s*\.\s*{_PART})*"
_GAP = r"\s+"
_DEFINED = (
    r"(?:OR\s+REPLACE\s+|TEMP(?:ORARY)?\s+|UNLOGGED\s+|UNIQUE\s+|CONSTRAINT\s+|VIRTUAL\s+|MATERIALIZED\s+|RECURSIVE\s+)*"
    r"(?:TABLE|VIEW|TRIGGER|INDEX|RULE|FUNCTION|PROCEDURE)"
)
_STRONG = rf"""
    (?P<update>UPDATE){_GAP}(?:OR\s+\w+\s+|ONLY\s+|IGNORE\s+|LOW_PRIORITY\s+)*(?P<u>{_PATH})
        (?:\s*\*)?(?:\s+(?!SET\b)[^;']{{1,300}}?)?
        (?:\s+SET\s+(?:{_PART}(?:\s*\.\s*{_PART})*\s*(?::?=|\[)|\(|{HOLE})|\s*<(?:set|trim)\b)
  | (?P<insert>(?:INSERT|REPLACE){_GAP}(?:(?:OR\s+)?{HOLE}\s+|OR\s+\w+\s+|IGNORE\s+|LOW_PRIORITY\s+|DELAYED\s+)*INTO)
        {_GAP}(?P<i>{_PATH})
        (?:\s*\(|\s+(?:VALUES?|SELECT|WITH|DEFAULT|AS|ON|SET|TABLE|OVERRIDING)\b|\s*{HOLE})
  | (?P<delete>DELETE(?:\s+{HOLE})?{_GAP}FROM){_GAP}(?:ONLY\s+)?(?P<d>{_PATH})
        (?=\s*[;)<]|(?:\s*\*)?(?:\s+AS)?(?:\s+\w+)?\s+(?:WHERE|USING|RETURNING|ORDER|LIMIT)\b|\s*{HOLE})
  | (?P<merge>MERGE{_GAP}INTO){_GAP}(?:ONLY\s+)?(?P<m>{_PATH})(?:\s+(?:AS\s+)?\w+)?\s+USING\b
  | (?P<truncate>TRUNCATE{_GAP}TABLE){_GAP}(?:ONLY\s+)?(?P<t>{_PATH})
  | (?P<copy>\\?COPY){_GAP}(?P<c>{_PATH})\s*(?:\([^()]*\)\s*)?FROM\b
  | (?P<define>(?:CREATE|DROP)\s+{_DEFINED}\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?P<f>{_PATH})
        |ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?(?P<a>{_PATH})\s+(?:ADD|DROP|RENAME|ALTER|SET|ATTACH|\w+ABLE)\b)
"""
_CONDITION = r"\(*\s*[\w.\"`]+\s*(?:[=<>!]|(?:IN|IS|NOT|LIKE|BETWEEN)\b)"
_WEAK = rf"""
    (?P<wu>UPDATE){_GAP}(?P<cut_update>{_PATH})\s*(?:SET\s*)?(?:\Z|{HOLE})
  | (?P<wi>(?:INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO)(?:{_GAP}(?P<cut_insert>{_PATH}))?\s*\Z
  | (?P<wd>DELETE(?:\s+{HOLE})?{_GAP}FROM)(?:{_GAP}(?P<cut_delete>{_PATH}))?\s*\Z
  | (?P<wt>TRUNCATE){_GAP}(?P<cut_truncate>{_PATH})\s*(?:\Z|;|,|CASCADE\b|RESTART\b)
"""
_HEAD = re.compile(rf"(?<![\w.$])(?:{_STRONG}|{_WEAK})", re.IGNORECASE | re.VERBOSE)
_BARE = re.compile(rf"(?<![\w.$])(?:DELETE\s+FROM|TRUNCATE)\s+(?P<table>{_PATH})[ \t]*(?=[;\"'`<\n]|\Z)")
"""A removal of all rows in a file of no known language: in capitals, up to the end of what may be a line or literal."""
# Prose is in small letters, and does not compare or assign: one of the two is asked for.
_HIDDEN_VERB = re.compile(
    rf"""
    (?<![\w.$'"{HOLE}]){HOLE}(?:\s{{0,9}}{HOLE}){{0,4}}+\s+(?:
        (?-i:FROM)\s+(?:ONLY\s+)?(?P<d>{_PATH})(?:\s*(?:;|\Z|{HOLE})|(?:\s+AS)?(?:\s+\w+)?\s+(?-i:WHERE|USING|RETURNING)\b)
      | (?:(?-i:FROM)\s+)?(?P<w>{_PATH})\s+(?-i:WHERE)\s+{_CONDITION}
      | (?-i:TABLE)\s+(?P<t>{_PATH})\s*(?:;|\Z|CASCADE\b|RESTART\b)
      | FROM\s+(?P<f>{_PATH})\s+WHERE\s+{_CONDITION}
      | INTO\s+(?P<i>{_PATH})\s*(?:\([^()]{{1,300}}\)\s*(?:VALUES|SELECT|DEFAULT|OVERRIDING|{HOLE})
            |(?<=\s)(?:VALUES\s*\(|SELECT\s|DEFAULT\s+VALUES))
      | (?P<u>{_PATH})(?:\s+AS)?(?:\s+\w+)?\s+SET\s+(?:{_PATH}\s*:?=|\([^()]{{1,300}}\)\s*=)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A statement on a table that is written out, whose verb is a hole: ``{verb} FROM jobs WHERE …``."""
_SURE_CHANGES = frozenset({"i"})
"""Forms that no query has: they change rows even where the table is a hole too."""
_HIDDEN_TABLES = ("d", "w", "t", "f", "i", "u")
_BEHIND_HIDDEN = re.compile(r"(?:\A|;|\b(?:BEGIN|THEN|ELSE|LOOP|EXPLAIN|ANALYZE))\s*\Z", re.IGNORECASE)
_KEYWORD = re.compile(r"update|insert|delete|replace|merge|truncate|create|alter|drop|copy", re.IGNORECASE)
_TABLES = ("u", "i", "d", "m", "t", "c", "f", "a", "cut_update", "cut_insert", "cut_delete", "cut_truncate")
_CUT = {"wu", "wi", "wd", "wt"}
_BEHIND = re.compile(
    rf"(?:\A|[;(){HOLE}'$]|<script>|\b(?:BEGIN|THEN|ELSE|LOOP|RETURN\s+QUERY|AS|DO|INSTEAD|ALSO|ROW|EXPLAIN"
    r"|ANALYZE|ATOMIC|NOTHING))\s*\Z",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"'(?:[^']|'')*+'|\"[^\"]*+\"|(--[^\n]*|/\*(?s:.*?)(?:\*/|\Z))")
_LAST_PART = re.compile(rf"{_PART}\Z")
MAX_LOOK_BEHIND = 200
"""Characters ahead of a head in which the word is looked for that it may follow."""


@record
class Head:
    """The beginning of a statement at ``start`` of the marked text, and the table that it names as it is written.

    ``is_cut`` says that the text ends ahead of what a statement of its kind needs.
    """

    start: int
    table: str
    is_definition: bool = False
    is_cut: bool = False


def may_hold_statement(text: str) -> bool:
    """Whether a word stands in the text without which it begins no statement: a cheap look ahead of a closer one."""
    return _KEYWORD.search(text) is not None


def find_heads(marked: str) -> Iterator[Head]:
    """The heads in marked text that stand where a statement may begin."""
    if _KEYWORD.search(marked) is None:
        return
    text = without_comments(marked)
    first = len(text) - len(text.lstrip())
    for match in _each_head(text):
        keyword = next(name for name in match.groupdict() if match[name] is not None and name not in _TABLES)
        table = next((match[name] for name in _TABLES if match[name] is not None), "")
        start = match.start()
        is_first = start <= first
        if keyword in _CUT and not _is_written_as_sql(match[keyword], is_first):
            continue
        if is_first or _BEHIND.search(text, max(0, start - MAX_LOOK_BEHIND), start):
            is_cut = keyword in ("wu", "wi") and match.end() == len(text)
            yield Head(start, table, keyword == "define", is_cut)


def _each_head(text: str) -> Iterator[re.Match[str]]:
    """What looks like a head, and also what does behind the table of another, with which that one may not go on."""
    match = _HEAD.search(text)
    while match is not None:
        yield match
        behind = max(match.end(name) for name in _TABLES)
        match = _HEAD.search(text, behind if behind > 0 else match.end())


def find_hidden_verbs(marked: str) -> Iterator[Head]:
    """Where a statement on a named table may begin whose verb is a hole, told from prose by what stands behind it."""
    if HOLE not in marked:
        return
    text = without_comments(marked)
    for match in _HIDDEN_VERB.finditer(text):
        group, table = next((name, match[name]) for name in _HIDDEN_TABLES if match[name] is not None)
        is_told = group in _SURE_CHANGES or HOLE not in _LAST_PART.findall(table)[-1]
        if is_told and _BEHIND_HIDDEN.search(text, max(0, match.start() - MAX_LOOK_BEHIND), match.start()):
            yield Head(match.start(), table)


def without_comments(marked: str) -> str:
    """The text with the comments of SQL as white space of the same length."""
    if "--" not in marked and "/*" not in marked:
        return marked
    return _COMMENT.sub(lambda match: _blank(match[1]) if match[1] else match[0], marked)


def _blank(text: str) -> str:
    return "".join("\n" if char == "\n" else " " for char in text)


def _is_written_as_sql(keyword: str, is_first: bool) -> bool:
    return keyword.isupper() or (keyword.islower() and is_first)


def may_name(table: str, words: frozenset[str]) -> bool:
    """Whether the name of a table, with its holes, can be one of ``words`` (folded). An empty name can be any."""
    last = _LAST_PART.search(table)
    if last is None:
        return True
    name = last[0][1:-1] if last[0][0] in '"`[' else last[0]
    if HOLE not in name:
        return fold(name) in words
    pattern = _pattern_of(fold(name))
    return any(pattern.fullmatch(word) for word in words)


@lru_cache(maxsize=1_000)
def _pattern_of(name: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in name.split(HOLE)), re.DOTALL)


def find_written(text: str) -> Iterator[Head]:
    """The whole heads in text of any kind, wherever they stand: what is left where literals cannot be told."""
    found: set[int] = set()
    for match in _each_head(text) if _KEYWORD.search(text) is not None else ():
        table = next((match[name] for name in _TABLES if match[name] is not None), "")
        if not any(match[name] for name in (*_CUT, "define")):
            found.add(match.start())
            yield Head(match.start(), table)
    for match in _BARE.finditer(text):
        if match.start() not in found:
            yield Head(match.start(), match["table"])
