"""String expressions of code: literals with what they are joined to, as far as it is written beside them.

``base + "a" + f(x)``, ``["a", b].join(" ")``, ``String.format("… %s", a)``, ``sb.append("a").append("b")`` and their
kin each come to chunks of text and holes. A hole is an operand that is no literal; names are resolved by the reader of
the file. What is put to a string later, by statements of their own, is not followed here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

from arrowproof.conformance import string_signs as signs
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
MAX_METHODS = 20
"""Methods that are called on a literal one after the other."""


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
        self._path = re.compile(signs.PATH % dots)
        self._path_behind = re.compile(rf"(?:{signs.PATH % dots}|\d[\w.]*)?(?:{dots})?\Z")
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
        is_built = header.rstrip()[-1:] in ("(", ",") and signs.BUILDER.search(header) is not None
        if is_built:
            end = self._appended(header, end, chunks, operands)
            is_new = signs.NEW_BUILDER.search(header) is not None
            is_built = not (is_new and signs.FINISHED.match(self._code, end))
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
        name = self._path.match(self._code, position) or signs.NUMBER.match(self._code, position)
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
        if self._joint_ahead is not None and before.rstrip()[-1:] in signs.ENDS_OF_JOINTS:
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
        for _ in range(MAX_METHODS):
            following = self._method(end, chunks) if signs.SUFFIX.match(self._code, end) is not None else None
            if following is None:
                break
            end, chunks = following
        return end, chunks

    def _method(self, end: int, chunks: list[Chunk]) -> tuple[int, list[Chunk]] | None:
        """The same for the one method that is called at ``end``, None where it is none that is known."""
        harmless = signs.HARMLESS.match(self._code, end)
        if harmless is not None:
            return harmless.end(), tidied(harmless.group(), chunks)
        percent = signs.PERCENT.match(self._code, end)
        if percent is not None:
            return self._percent(percent.end(), chunks)
        call = next(
            filter(
                None,
                (each.match(self._code, end) for each in (signs.CONCAT, signs.REPLACE, signs.FORMATTED, signs.CUT)),
            ),
            None,
        )
        pair = self._brackets.opened_at(self._code.rindex("(", call.start(), call.end())) if call is not None else None
        if call is None or pair is None:
            return None
        arguments = self._arguments(pair)
        if call.re is signs.CONCAT:
            chunks = [*chunks, *(chunk for each in arguments for chunk in each)]
        elif call.re is signs.REPLACE:
            chunks = replaced(chunks, arguments)
        elif call.re is signs.FORMATTED:
            chunks = filled(chunks, arguments)
        else:
            line = self._line_of(end)
            left = Chunk(f"what .{call['name']}() leaves", line, line, is_hole=True)
            chunks = [*chunks, Chunk(" ", line, line), left]
        return pair.end + 1, chunks

    def _percent(self, position: int, chunks: list[Chunk]) -> tuple[int, list[Chunk]] | None:
        """Ruby: ``"… %s" % [a, b]``; None where nothing is to be filled, or nothing fills it."""
        if not any(each.is_hole for each in chunks):
            return None
        pair = self._brackets.opened_at(position)
        if pair is not None:
            return pair.end + 1, filled(chunks, self._arguments(pair))
        operand = self._operand(position)
        return (operand[0], filled(chunks, [operand[1]])) if operand is not None else None

    def _arguments(self, pair: Pair, start: int = 0) -> list[list[Chunk]]:
        """What stands between the commas of a pair of brackets, from ``start`` on."""
        parts = islice(self._brackets.parts(pair), MAX_PARTS)
        return [self._value(begin, end) for begin, end in parts if begin >= start]

    def _formatted_call(self, header: str, end: int, chunks: list[Chunk]) -> list[Chunk]:
        """The format of a call, filled with the arguments that stand behind it."""
        if not any(each.is_hole for each in chunks) or signs.FORMAT_CALL.search(header) is None:
            return chunks
        pair = next((each for each in self._brackets.around(end) if each.sign == "("), None)
        if pair is None:
            return chunks
        return filled(chunks, self._arguments(pair, end))

    def _appended(self, header: str, end: int, chunks: list[Chunk], operands: list[tuple[int, int]]) -> int:
        """Take up what is appended in the same chain of calls."""
        adds_line = re.search(r"(?i)append(?:line|ln)\s*\(\s*\Z", header) is not None
        for _ in range(MAX_PARTS):
            call = signs.APPENDED.match(self._code, end)
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
        behind = signs.JOINED_BEHIND.match(self._code, pair.end + 1)
        if behind is not None and pair.sign != "{":
            call = self._brackets.opened_at(behind.start("open")) if behind["open"] else None
            given = self._text_in(call) if call is not None else None
            default = "" if not self._language.has_blocks else signs.DEFAULT_SEPARATORS[behind["name"]]
            return (default if given is None else given), 0, (call.end + 1 if call is not None else behind.end())
        header = self._code[max(0, pair.start - MAX_HEADER) : pair.start + 1]
        if pair.sign == "(" and signs.GLUING.search(header):
            return "", 0, pair.end + 1
        if pair.sign == "(" and signs.JOINING.search(header):
            return self._call_separator(pair)
        if outer is None or outer.sign != "(":
            return None, 0, 0
        header = self._code[max(0, outer.start - MAX_HEADER) : outer.start + 1]
        if not (signs.JOINING.search(header) or signs.GLUING.search(header)):
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
