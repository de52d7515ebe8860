"""Methods of strings in Python code: what ``format``, ``join``, ``replace``, ``%`` and their kin make of chunks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from string import Formatter
from typing import TYPE_CHECKING

from arrowproof.conformance.pieces import Chunk, chunks_of
from arrowproof.conformance.python_constants import last_name
from arrowproof.conformance.python_scopes import Scope
from arrowproof.conformance.python_text import MAX_TEXT, shown, written_text

if TYPE_CHECKING:
    from arrowproof.conformance.python_strings import Strings

_WRAPPERS = frozenset(
    {"text", "SQL", "dedent", "cleandoc", "sql_text", "TextClause", "str", "RawSQL", "LiteralString", "Template", "DDL"}
)
_SAME = frozenset({"strip", "lstrip", "rstrip", "as_string", "__str__", "encode", "decode", "as_bytes", "expandtabs"})
_CASES = frozenset({"upper", "lower", "casefold", "title", "capitalize", "swapcase"})
_EXACT = frozenset({"strip", "lstrip", "rstrip", "removeprefix", "removesuffix"})
_PARTS = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition"})
_NOT_FOLLOWED = frozenset({"translate", "ljust", "rjust", "center", "zfill", *_CASES, *_EXACT, *_PARTS, "replace"})
_FILLING = frozenset({"format", "substitute", "safe_substitute", "format_map", "replace"})
_PERCENT = re.compile(r"%(?:\((?P<key>\w+)\)|(?P<percent>%))?(?(percent)|[-+ #0]*\d*[sdrfgixua])")
_ESCAPED = re.compile(r"(?<!%)(?:%%)*%\Z")
_DOLLAR = re.compile(r"\$\{?(\w+)\}?")


def read_call(strings: Strings, node: ast.Call, scope: Scope, depth: int) -> list[Chunk] | None:
    """What a call makes of the strings that it is given."""
    name = last_name(node.func)
    subject = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in _WRAPPERS and node.args and not isinstance(node.args[0], ast.Starred) and not node.args[1:]:
        strings.consumed.add(id(node))
        return strings.chunks(node.args[0], scope, depth + 1)
    if name in ("Identifier", "Literal", "Composed"):
        return _composed(strings, name, node, scope, depth)
    if name in ("sub", "subn") and len(node.args) >= 3 and subject is not None:
        chunks = strings.chunks(node.args[2], scope, depth + 1)
        if chunks is not None:
            strings.doubt(node, chunks, "what replaces a pattern in it is not followed", is_any_table=True)
        return None
    if subject is None:
        return None
    if name == "join" and len(node.args) == 1:
        return _join(strings, subject, node.args[0], scope, depth)
    if name in ("get", "pop") and node.args and (elements := strings.elements(subject, scope)) is not None:
        options = [value for key, value in elements[0] if key is not None]
        return strings.one_of(id(node), [*options, *node.args[1:2], *([None] if elements[1] else [])], scope, depth)
    if name in _FILLING:
        strings.is_filled(subject, scope)
    if name in _SAME | _NOT_FOLLOWED | _FILLING:
        chunks = strings.chunks(subject, scope, depth + 1)
        return _method(strings, name, node, chunks, scope, depth) if chunks is not None else None
    return None


def _method(
    strings: Strings, name: str, node: ast.Call, chunks: list[Chunk], scope: Scope, depth: int
) -> list[Chunk] | None:
    strings.consumed.add(id(node))
    if name in ("format", "substitute", "safe_substitute"):
        return _format(strings, chunks, node, scope, depth)
    is_script = name == "split" and len(node.args) == 1 and strings.constant(node.args[0], scope) == ";"
    if (name in _SAME and not (node.args and name in _EXACT)) or name == "format_map" or is_script:
        return chunks
    text, arguments = written_text(chunks), [_argument(strings, each, scope) for each in node.args]
    is_known = not node.keywords and all(each is not None for each in arguments)
    if name == "replace" and (made := _replaced(strings, node, chunks, scope, depth)) is not None:
        return made
    if name in _CASES and not node.args:
        return [each if each.is_hole else Chunk(_cased(each.text, name), each.line, each.last_line) for each in chunks]
    first, last = chunks[0].line, max(chunks[-1].line, chunks[-1].last_line)
    if name in _PARTS and (parts := parts_of(strings, node, scope, depth)) is not None:
        index = strings.choices.choose(id(node), len(parts))
        return parts[index] if index is not None else None
    if text is not None and is_known and len(text) <= MAX_TEXT and name in _EXACT:
        try:
            made_of: str = getattr(text, name)(*arguments)
        except (TypeError, ValueError):
            return None
        return list(chunks_of(made_of, first, last))
    reason = f"what .{name}(…) makes of it is not followed"
    strings.doubt(node, chunks, reason, is_any_table=name in ("replace", "translate"))
    return None


def parts_of(strings: Strings, node: ast.Call, scope: Scope, depth: int) -> list[list[Chunk]] | None:
    """The parts of a string that ``split`` and its kin make, None when they cannot be seen."""
    name = last_name(node.func)
    if name not in _PARTS or not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    chunks = strings.chunks(node.func.value, scope, depth + 1)
    text, arguments = written_text(chunks), [_argument(strings, each, scope) for each in node.args]
    if chunks is None or text is None or len(text) > MAX_TEXT or any(each is None for each in arguments):
        return None
    try:
        parts: Sequence[str] = getattr(text, name)(*arguments)
    except (TypeError, ValueError):
        return None
    first, last = chunks[0].line, max(chunks[-1].line, chunks[-1].last_line)
    return [list(chunks_of(part, first, last)) for part in parts]


def _cased(text: str, name: str) -> str:
    made: str = getattr(text, name)()
    return made


def _argument(strings: Strings, node: ast.expr, scope: Scope) -> str | int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return strings.constant(node, scope)


def read_percent(strings: Strings, node: ast.BinOp, scope: Scope, depth: int) -> list[Chunk] | None:
    """``"…" % values``: each placeholder is the text that fills it, when that can be seen."""
    left = strings.chunks(node.left, scope, depth + 1)
    if left is None:
        return None
    strings.consumed.add(id(node))
    values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
    named = _dictionary(node.right)
    made: list[Chunk] = []
    written = {id(each) for each in left if not each.is_hole and "%" in each.text}
    for chunk in left:
        match = _PERCENT.fullmatch(chunk.text) if chunk.is_hole else None
        if match is None:
            made.append(chunk)
            continue
        if made and not made[-1].is_hole and _ESCAPED.search(made[-1].text):  # %%s is what is left for the driver
            made.append(chunk)
            continue
        value = named.get(match["key"]) if match["key"] else (values.pop(0) if values and not named else None)
        made += [chunk] if value is None else strings.filled(value, chunk, scope, depth)
    return [each if id(each) not in written else _unescaped(each) for each in made]


def _unescaped(chunk: Chunk) -> Chunk:
    """Text of a format, with ``%`` for ``%%``, the last of which may stand ahead of a placeholder."""
    return Chunk(re.sub(r"%%|%\Z", lambda match: match[0][1:] and "%", chunk.text), chunk.line, chunk.last_line)


def _composed(strings: Strings, name: str, node: ast.Call, scope: Scope, depth: int) -> list[Chunk] | None:
    """psycopg's ``Identifier``, ``Literal`` and ``Composed``."""
    if not node.args or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    if name == "Composed":
        elements = strings.elements(node.args[0], scope)
        if elements is None:
            return None
        strings.consumed.add(id(node))
        parts = [each for _, value in elements[0] for each in strings.or_hole(value, scope, depth)]
        return [*parts, Chunk("…", node.lineno, node.lineno, is_hole=True)] if elements[1] else parts
    if name == "Literal":
        literal = _literal(strings, node.args[0], scope)
        return [Chunk(literal, node.lineno, node.lineno)] if literal is not None else [strings.hole(node)]
    named = [(each, strings.chunks(each, scope, depth + 1)) for each in node.args]
    if named[-1][1] is None:
        return [strings.hole(node)]
    strings.consumed.add(id(node))
    dot = Chunk(".", node.lineno, node.lineno)
    return [chunk for part in named for chunk in (dot, *_identifier(strings, *part))][1:]


def _identifier(strings: Strings, node: ast.expr, chunks: list[Chunk] | None) -> list[Chunk]:
    """One name in quotes, with a hole for what is not known of it."""
    if chunks is None:
        return [strings.hole(node)]
    texts = [
        each if each.is_hole else Chunk(each.text.replace('"', '""'), each.line, each.last_line) for each in chunks
    ]
    quote = Chunk('"', node.lineno, node.lineno)
    return [quote, *texts, quote]


def _literal(strings: Strings, node: ast.expr, scope: Scope) -> str | None:
    """A constant as a literal of SQL."""
    if isinstance(node, ast.Constant) and node.value is None:
        return "NULL"
    if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        return shown(node)
    text = strings.constant(node, scope)
    return "'" + text.replace("'", "''") + "'" if text is not None else None


def _replaced(strings: Strings, node: ast.Call, chunks: list[Chunk], scope: Scope, depth: int) -> list[Chunk] | None:
    """``"…".replace(old, new)`` where ``old`` is constant."""
    old = strings.constant(node.args[0], scope) if node.args[1:] else None
    if not old:
        return None
    first, last = chunks[0].line, max(chunks[-1].line, chunks[-1].last_line)
    runs: list[Chunk] = []
    for chunk in chunks:
        is_written = not chunk.is_hole or written_text([chunk]) is not None
        if runs and is_written and not runs[-1].is_hole:
            runs[-1] = Chunk(runs[-1].text + chunk.text, runs[-1].line, max(chunk.line, chunk.last_line))
        else:
            runs.append(Chunk(chunk.text, chunk.line, chunk.last_line, not is_written))
    made: list[Chunk] = []
    new = written_text(strings.chunks(node.args[1], scope, depth + 1))
    if sum(len(run.text) + run.text.count(old) * len(new or "") for run in runs) > MAX_TEXT:
        return None
    for run in runs:
        parts = [run.text] if run.is_hole else run.text.split(old)
        line = run.line
        for index, part in enumerate(parts):
            made += strings.filled(node.args[1], Chunk("", line), scope, depth) if index else []
            made += [run] if run.is_hole else chunks_of(part, line, max(line, run.last_line)) if part else []
            line = min(line + part.count("\n"), max(line, run.last_line))
    text = written_text(made)
    return list(chunks_of(text, first, last)) if text is not None and len(text) <= MAX_TEXT else made


def _format(strings: Strings, chunks: Sequence[Chunk], node: ast.Call, scope: Scope, depth: int) -> list[Chunk]:
    named = {each.arg: each.value for each in node.keywords if each.arg is not None}
    if node.args and last_name(node.func) != "format":
        named |= _dictionary(node.args[0])
    made: list[Chunk] = []
    place = 0
    for chunk in chunks:
        dollar = _DOLLAR.fullmatch(chunk.text) if chunk.is_hole and last_name(node.func) != "format" else None
        if dollar is not None and (value := named.get(dollar[1])) is not None:
            made += strings.filled(value, chunk, scope, depth)
            continue
        if not chunk.is_hole or not chunk.text.startswith("{") or chunk.text.startswith("{{"):
            made.append(chunk)
            continue
        field_name, spec = next(((each[1], each[2]) for each in _parsed(chunk.text) if each[1] is not None), ("", ""))
        value = None
        if field_name and not field_name.isdigit():
            value = named.get(field_name)
        else:
            index = int(field_name) if field_name and len(field_name) < 5 else place
            place += 1
            is_plain = not any(isinstance(each, ast.Starred) for each in node.args[: index + 1])
            value = node.args[index] if index < len(node.args) and is_plain else None
        made += [chunk] if value is None or spec not in ("", "s", "d") else strings.filled(value, chunk, scope, depth)
    return made


def _join(strings: Strings, glue: ast.expr, parts: ast.expr, scope: Scope, depth: int) -> list[Chunk] | None:
    between = strings.chunks(glue, scope, depth + 1)
    if between is None:
        return None
    if isinstance(parts, ast.Call) and last_name(parts.func) in ("split", "splitlines") and not parts.args:
        # White space in another form: ``" ".join(query.split())``.
        is_space = isinstance(parts.func, ast.Attribute) and not (written_text(between) or "x").strip()
        if is_space and isinstance(parts.func, ast.Attribute):
            strings.consumed.add(id(parts))
            return strings.chunks(parts.func.value, scope, depth + 1)
    elements = strings.elements(parts, scope)
    if elements is None or any(key is not None for key, _ in elements[0]) or isinstance(parts, ast.Set):
        return None
    made: list[Chunk] = []
    for index, (_, part) in enumerate(elements[0]):
        made += [*(between if index else ()), *strings.or_hole(part, scope, depth)]
    if not elements[1]:
        return made or [Chunk("", parts.lineno, parts.lineno)]
    return [*made, *(between if made else ()), Chunk("…", parts.lineno, parts.lineno, is_hole=True)]


def _dictionary(node: ast.expr) -> dict[str, ast.expr]:
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
    return {}


def _parsed(text: str) -> Iterable[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(text))
    except ValueError:
        return []
