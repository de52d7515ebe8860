"""String expressions of code: literals with what they are joined to, as far as it is written beside them.

``base + "a" + f(x)``, ``["a", b].join(" ")``, ``String.format("… %s", a)``, ``sb.append("a").append("b")`` and their
kin each come to chunks of text and holes. A hole is an operand that is no literal; names are resolved by the reader of
the file. What is put to a string later, by statements of their own, is not followed here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from arrowproof.conformance.brackets import Brackets, Pair
from arrowproof.conformance.languages import Language
from arrowproof.conformance.literals import LITERAL, Reading
from arrowproof.conformance.pieces import Chunk
from arrowproof.conformance.string_formats import filled, replaced, tidied
from arrowproof.model.record import record

MAX_PARTS = 500
"""Elements of a list that are joined, and operands of one expression."""
MAX_HEADER = 80
"""Characters ahead of a bracket in which the name of what is called stands."""
MAX_OPERANDS_AHEAD = 20
"""Operands ahead of the first literal of an expression."""


@record
class Expression:
    """A string expression from ``start`` to ``end`` of the code. ``operands`` are the places of those that are no
    literals; ``is_built`` says that it stands in a call that adds it to a builder, which may be given more."""

    start: int
    end: int
    chunks: tuple[Chunk, ...]
    operands: tuple[tuple[int, int], ...] = ()
    is_built: bool = False

    @property
    def last_line(self) -> int:
        """The line on which it ends."""
        return max((max(each.line, each.last_line) for each in self.chunks), default=1)


_PATH = r"[$@&*]{0,2}[A-Za-z_][\w$]*(?:(?:%s)[A-Za-z_$][\w$]*)*[!?]?"
_NUMBER = re.compile(r"\d[\w.]*")
_HARMLESS = re.compile(
    r"\s*\.\s*(?:trimIndent|trimMargin|stripMargin|stripIndent|strip_heredoc|strip|trim|freeze|squish|to_s|toString|"
    r"to_string|to_owned|into|as_str|dedent|html_safe|c_str|unindent|chomp|lstrip|rstrip|intern)\b(?:\([^()]*\))?"
)
_ENDS_OF_JOINTS = frozenset("+.<>&_\\")
_SUFFIX = re.compile(r"\s*+[.%]")
_CONCAT = re.compile(r"\s*\.\s*concat\s*\(\s*")
_REPLACE = re.compile(r"\s*\.\s*(?:replace|replaceAll|gsub|sub|tr|Replace)\s*\(")
_CUT = re.compile(
    r"\s*\.\s*(?P<name>slice|substr(?:ing)?|Substring|Remove|remove(?:Suffix|Prefix|Range)|drop(?:Last)?|take(?:Last)?)\s*\("
)
_FORMATTED = re.compile(r"\s*\.\s*format(?:ted)?\s*\(")
_PERCENT = re.compile(r"\s*%\s*(?=[\[({\w@$])")
_FORMAT_CALL = re.compile(
    r"(?:[Ff]ormat|[Ss]printf|Fprintf|Errorf|Printf|printf|format!|write!|println!)\s*\(\s*(?:&?[\w.]+\s*,\s*){0,2}\Z"
)
_BUILDER = re.compile(
    r"(?:String(?:Builder|Buffer)|\.\s*append(?:Line|ln)?|\.\s*Append(?:Line|Format)?|\.\s*WriteString|\.\s*write_str"
    r"|\.\s*push_str|\bappend(?:Line|ln)?|Fprintf?\s*\(\s*&?\w+\s*,|Fprint(?:ln)?\s*\(\s*&?\w+\s*,|write!\s*\(\s*&?(?:mut\s+)?\w+\s*,)"
    r"\s*\(?\s*\Z"
)
_APPENDED = re.compile(r"\s*\)\s*\.\s*(?:append|append(?:Line|ln)|Append(?:Line)?)\s*\(\s*")
_FINISHED = re.compile(r"\s*\)\s*\.\s*(?:toString|ToString|build)\s*\(\s*\)")
_NEW_BUILDER = re.compile(r"\bnew\s+String(?:Builder|Buffer)\s*\(\s*\Z")
_JOINED_BEHIND = re.compile(
    r"(?:\s*\.\s*(?:filter\w*|compact|flat|flatten)\b(?:\([^()]{0,80}\))?){0,3}"
    r"\s*\)?\s*\.\s*(?P<name>join|joinToString|mkString|Join)\b\s*(?P<open>\(?)"
)
"""Behind a list, from which what is no string may be taken first."""
_JOINING = re.compile(r"(?:\b(?:[Ss]tring|[Ss]trings|StringUtils)\.[Jj]oin|\bimplode|\bjoin)\s*\(?\s*\Z")
_GLUING = re.compile(r"(?:\bconcat!|\b[Ss]tring\.Concat|\btable\.concat)\s*\(?\s*\Z")
_DEFAULT_SEPARATORS = {"joinToString": ", ", "mkString": "", "join": ",", "Join": ","}


class Expressions:
    """The string expressions of one file, in the order of their first literals."""

    def __init__(self, text: str, code: str, reading: Reading, language: Language, brackets: Brackets) -> None:
        self._text = text
        self._code = code
        self._language = language
        self._brackets = brackets
        self._literals = {literal.start: literal for literal in reading.literals}
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._taken: set[int] = set()
        dots = (
            r"->|::" if r"\." in language.joint and ".." not in language.joint.replace("\\", "") else r"\.|->|::|\?\."
        )
        self._path = re.compile(_PATH % dots)
        self._path_behind = re.compile(rf"(?:{_PATH % dots}|\d[\w.]*)?(?:{dots})?\Z")
        self._joint = re.compile(rf"\s*(?:{language.joint})\s*(?!=)") if language.joint else None
        ahead = language.joint.replace("|<<", "") if language.joint else ""
        self._joint_ahead = re.compile(rf"\s*(?:{ahead})\s*\Z") if ahead else None
        self._adjacent = re.compile(language.adjacent) if language.adjacent is not None else None

    def all(self) -> Iterator[Expression]:
        """Each expression with a literal in it."""
        for literal in list(self._literals.values()):
            if literal.start not in self._taken:
                yield self._around(literal.start)

    def of_name(self, start: int) -> Expression | None:
        """The expression that a name at ``start`` is joined into, where no literal stands in it; None for none."""
        ahead, begin, before = self._ahead(start)
        operand = self._operand(start)
        if operand is None:
            return None
        end, chunks = operand
        operands = [*before, (start, end)]
        end = self._onward(end, chunks, operands)
        return Expression(begin, end, (*ahead, *chunks), tuple(operands)) if len(operands) > 1 else None

    def _around(self, start: int) -> Expression:
        """The expression that the literal at ``start`` stands in."""
        joined = self._joined_list(start)
        if joined is not None:
            return joined
        operands: list[tuple[int, int]] = []
        ahead, begin, before = self._ahead(start)
        operands += before
        end, chunks = self._literal(start)
        end = self._onward(end, chunks, operands)
        header = self._code[max(0, start - MAX_HEADER) : start]
        is_built = header.rstrip()[-1:] in ("(", ",") and _BUILDER.search(header) is not None
        if is_built:
            end = self._appended(header, end, chunks, operands)
            is_new = _NEW_BUILDER.search(header) is not None
            is_built = not (is_new and _FINISHED.match(self._code, end))
        elif not ahead:
            chunks = self._formatted_call(header, end, chunks)
        return Expression(begin, end, (*ahead, *chunks), tuple(operands), is_built)

    # Operands

    def _literal(self, start: int) -> tuple[int, list[Chunk]]:
        literal = self._literals[start]
        self._taken.add(start)
        goes_on = (
            re.compile(r"[ \t]*\.(?!\s*=)").match(self._code, literal.behind) if literal.behind is not None else None
        )
        if goes_on is not None and self._language.joint == r"\.":
            return literal.behind or literal.end, list(literal.chunks)
        return self._methods(literal.end, list(literal.chunks))

    def _hole(self, start: int, end: int) -> tuple[int, list[Chunk]]:
        line = self._line_of(start)
        return end, [Chunk(" ".join(self._text[start:end].split()), line, line, is_hole=True)]

    def _operand(self, position: int) -> tuple[int, list[Chunk]] | None:
        """What stands at a place: where it ends and what it comes to; None when it is no operand."""
        if position in self._literals:
            return self._literal(position) if position not in self._taken else None
        pair = self._brackets.opened_at(position)
        if pair is not None and pair.sign in "([":
            return self._hole(position, self._suffixes(pair.end + 1))
        name = self._path.match(self._code, position) or _NUMBER.match(self._code, position)
        return self._hole(position, self._suffixes(name.end())) if name is not None else None

    def _suffixes(self, position: int) -> int:
        """The offset behind the calls, indexes and members that follow an operand."""
        while True:
            pair = self._brackets.opened_at(position)
            member = re.compile(r"(?:\?\.|\.|->|::)[A-Za-z_]\w*").match(self._code, position)
            if pair is not None and pair.sign in "([":
                position = pair.end + 1
            elif member is not None and self._path.pattern.count(r"\.") > 1:
                position = member.end()
            else:
                return position

    def _ahead(self, start: int) -> tuple[list[Chunk], int, list[tuple[int, int]]]:
        """The operands ahead of a place, the first of them first: their chunks, where they begin, their places."""
        chunks: list[Chunk] = []
        places: list[tuple[int, int]] = []
        for _ in range(MAX_OPERANDS_AHEAD):
            end = self._end_ahead(start)
            if end is None:
                break
            begin = end
            for _ in range(MAX_OPERANDS_AHEAD):
                pair = self._brackets.closed_at(begin - 1)
                at = pair.start if pair is not None and pair.sign in "([" else begin
                name = self._path_behind.search(self._code, max(0, at - MAX_HEADER), at)
                following = name.start() if name is not None else at
                if following == begin:
                    break
                begin = following
            if begin == end or LITERAL in self._code[max(begin, end - MAX_HEADER) : end]:
                break
            chunks = [*self._hole(begin, end)[1], *chunks]
            places.insert(0, (begin, end))
            start = begin
        return chunks, start, places

    def _end_ahead(self, start: int) -> int | None:
        """Where the operand ends that is joined to what begins at ``start``, None when none is."""
        before = self._code[max(0, start - MAX_HEADER) : start]
        offset = start - len(before)
        if self._joint_ahead is not None and before.rstrip()[-1:] in _ENDS_OF_JOINTS:
            joint = self._joint_ahead.search(before)
            if joint is not None:
                return offset + joint.start() if before[: joint.start()].strip() else None
        if self._language.has_macros:
            macro = re.search(r"(?<![\w#])[A-Z_][A-Z0-9_]+\s+\Z", before)
            defined = re.search(r"#\s*define\s+\w+\s+\Z", before)
            return offset + len(before.rstrip()) if macro is not None and defined is None else None
        return None

    def _onward(self, end: int, chunks: list[Chunk], operands: list[tuple[int, int]]) -> int:
        """Take up what is joined behind ``end``; the offset behind all of it."""
        for _ in range(MAX_PARTS):
            start = self._next_operand(end)
            operand = self._operand(start) if start is not None else None
            if operand is None or start is None:
                return end
            if start not in self._literals:
                operands.append((start, operand[0]))
            end = operand[0]
            chunks += operand[1]
        return end

    def _next_operand(self, end: int) -> int | None:
        joint = self._joint.match(self._code, end) if self._joint is not None else None
        if joint is not None:
            return joint.end()
        adjacent = self._adjacent.match(self._code, end) if self._adjacent is not None else None
        if adjacent is not None and adjacent.end() in self._literals:
            return adjacent.end()
        if self._language.has_macros:
            macro = re.compile(r"[ \t]+(?=[A-Z_][A-Z0-9_]+\b(?!\())|\s+(?=([A-Z_][A-Z0-9_]+)\s*$)").match(
                self._code, end
            )
            return macro.end() if macro is not None else None
        return None

    # Methods and calls

    def _methods(self, end: int, chunks: list[Chunk]) -> tuple[int, list[Chunk]]:
        """The literal with what the methods do to it that are called on it right away."""
        for _ in range(MAX_OPERANDS_AHEAD):
            if _SUFFIX.match(self._code, end) is None:
                break
            harmless = _HARMLESS.match(self._code, end)
            call = next((each.match(self._code, end) for each in (_CONCAT, _REPLACE, _FORMATTED, _PERCENT, _CUT)
                         if each.match(self._code, end)), None)  # fmt: skip
            if harmless is not None:
                chunks = tidied(harmless.group(), chunks)
                end = harmless.end()
                continue
            if call is None:
                return end, chunks
            if call.re is _PERCENT:
                if not any(each.is_hole for each in chunks):
                    return end, chunks
                behind, chunks = self._percent(call.end(), chunks)
                if behind is None:
                    return end, chunks
                end = behind
                continue
            pair = self._brackets.opened_at(self._code.rindex("(", call.start(), call.end()))
            if pair is None:
                return end, chunks
            arguments = [self._value(start, stop) for start, stop in list(self._brackets.parts(pair))[:MAX_PARTS]]
            if call.re is _CUT:
                line = self._line_of(end)
                chunks = [
                    *chunks,
                    Chunk(" ", line, line),
                    Chunk(f"what .{call['name']}() leaves", line, line, is_hole=True),
                ]
            elif call.re is _CONCAT:
                chunks = [*chunks, *(chunk for each in arguments for chunk in each)]
            elif call.re is _FORMATTED:
                chunks = filled(chunks, arguments)
            else:
                chunks = replaced(chunks, arguments)
            end = pair.end + 1
        return end, chunks

    def _percent(self, position: int, chunks: list[Chunk]) -> tuple[int | None, list[Chunk]]:
        """Ruby: ``"… %s" % [a, b]``."""
        pair = self._brackets.opened_at(position)
        if pair is not None:
            arguments = [self._value(start, stop) for start, stop in list(self._brackets.parts(pair))[:MAX_PARTS]]
            return pair.end + 1, filled(chunks, arguments)
        operand = self._operand(position)
        return (operand[0], filled(chunks, [operand[1]])) if operand is not None else (None, chunks)

    def _formatted_call(self, header: str, end: int, chunks: list[Chunk]) -> list[Chunk]:
        """The format of a call, filled with the arguments that stand behind it."""
        if not any(each.is_hole for each in chunks) or _FORMAT_CALL.search(header) is None:
            return chunks
        pair = next((each for each in self._brackets.around(end) if each.sign == "("), None)
        if pair is None:
            return chunks
        arguments = [self._value(start, stop) for start, stop in list(self._brackets.parts(pair))[:MAX_PARTS]
                     if start >= end]  # fmt: skip
        return filled(chunks, arguments)

    def _appended(self, header: str, end: int, chunks: list[Chunk], operands: list[tuple[int, int]]) -> int:
        """Take up what is appended in the same chain of calls."""
        adds_line = re.search(r"(?i)append(?:line|ln)\s*\(\s*\Z", header) is not None
        for _ in range(MAX_PARTS):
            call = _APPENDED.match(self._code, end)
            operand = self._operand(call.end()) if call is not None else None
            if call is None or operand is None:
                return end
            if adds_line:
                line = self._line_of(end)
                chunks.append(Chunk("\n", line, line))
            adds_line = re.search(r"(?i)append(?:line|ln)", call.group()) is not None
            if call.end() not in self._literals:
                operands.append((call.end(), operand[0]))
            chunks += operand[1]
            end = self._onward(operand[0], chunks, operands)
        return end

    def _value(self, start: int, stop: int) -> list[Chunk]:
        """What the whole of a stretch of code comes to: a chain of operands, or one hole."""
        text = self._code[start:stop]
        begin = start + len(text) - len(text.lstrip())
        operand = self._operand(begin)
        if operand is None:
            return self._hole(begin if text.strip() else start, stop)[1]  # a pattern is none of the code
        end, chunks = operand
        end = self._onward(end, chunks, [])
        return chunks if not self._code[end:stop].strip() else self._hole(begin, stop)[1]

    # Lists

    def _joined_list(self, start: int) -> Expression | None:
        """The list that the literal at ``start`` is an element of, where it is joined on the spot."""
        pairs = self._brackets.around(start)
        pair = next(pairs, None)
        if pair is None:
            return None
        separator, skipped, end = self._separator(pair, next(pairs, None))
        if separator is None:
            return None
        parts = [each for each in self._brackets.parts(pair) if self._code[each[0] : each[1]].strip()]
        parts = parts[skipped : MAX_PARTS + skipped]
        chunks: list[Chunk] = []
        line = self._line_of(pair.start)
        for number, (begin, stop) in enumerate(parts):
            if number and separator:
                chunks.append(Chunk(separator, line, line))
            values = self._value(begin, stop)
            chunks += values
            line = max((max(each.line, each.last_line) for each in values), default=line)
        if not any(each <= start < stop for each, stop in parts):
            self._taken.add(start)
        self._taken |= set(self._literals_in(pair))
        operands: list[tuple[int, int]] = []
        end = self._onward(end, chunks, operands)
        return Expression(pair.start, end, tuple(chunks or [Chunk("", line, line)]), tuple(operands))

    def _literals_in(self, pair: Pair) -> Iterator[int]:
        """The literals that stand in a list itself, and in no bracket within it."""
        for start, stop in self._brackets.parts(pair):
            at = self._code.find(LITERAL, start, stop)
            yield from (at,) if at in self._literals else ()

    def _separator(self, pair: Pair, outer: Pair | None) -> tuple[str | None, int, int]:
        """What a list is joined by (None: it is not joined), how many of its parts are none, where the call ends."""
        behind = _JOINED_BEHIND.match(self._code, pair.end + 1)
        if behind is not None and pair.sign != "{":
            call = self._brackets.opened_at(behind.start("open")) if behind["open"] else None
            given = self._text_in(call) if call is not None else None
            default = "" if not self._language.has_blocks else _DEFAULT_SEPARATORS[behind["name"]]
            return (default if given is None else given), 0, (call.end + 1 if call is not None else behind.end())
        header = self._code[max(0, pair.start - MAX_HEADER) : pair.start + 1]
        if pair.sign == "(" and _GLUING.search(header):
            return "", 0, pair.end + 1
        if pair.sign == "(" and _JOINING.search(header):
            return self._call_separator(pair)
        if outer is None or outer.sign != "(":
            return None, 0, 0
        header = self._code[max(0, outer.start - MAX_HEADER) : outer.start + 1]
        if not (_JOINING.search(header) or _GLUING.search(header)):
            return None, 0, 0
        others = [each for each in self._brackets.parts(outer) if not each[0] <= pair.start < each[1]]
        given = next((text for each in others if (text := self._text_between(*each)) is not None), "")
        return given, 0, outer.end + 1

    def _call_separator(self, pair: Pair) -> tuple[str | None, int, int]:
        """The same for ``join(" ", a, b)``; a list that is one argument is joined when its own turn comes."""
        parts = list(self._brackets.parts(pair))
        if not parts or self._code[parts[0][0] : parts[0][1]].strip(LITERAL + " \n\t"):
            return None, 0, 0
        last = self._code[parts[-1][0] : parts[-1][1]].rstrip()
        is_list = len(parts) == 2 and last[-1:] in ("]", "}", ")") and LITERAL in last
        given = None if is_list else self._text_between(*parts[0])
        return (None, 0, 0) if given is None else (given, 1, pair.end + 1)

    def _text_in(self, pair: Pair) -> str | None:
        return self._text_between(pair.start + 1, pair.end)

    def _text_between(self, start: int, stop: int) -> str | None:
        """The text of the first literal in a stretch of code, None when there is none."""
        at = self._code.find(LITERAL, start, min(stop, start + MAX_HEADER))
        if at not in self._literals:
            return None
        self._taken.add(at)
        return "".join(each.text for each in self._literals[at].chunks)

    def _line_of(self, offset: int) -> int:
        return bisect_left(self._newlines, offset) + 1
