"""Names of code: what each is bound to where it is used, scope by scope, as far as that can be told without a compiler.

A name stands for a string only if the innermost scope around its use binds it once, to that string, and nothing in that
scope gives it another value. A parameter, the variable of a loop and a part of another value are bindings to what is
not known. In languages whose blocks are not told by braces the whole file is one scope.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from arrowproof.conformance.brackets import Brackets, Pair
from arrowproof.conformance.languages import Language
from arrowproof.model.record import record

MAX_HEADER = 200
"""Characters ahead of a parenthesis, or behind it, that say whether it lists parameters."""

_ASSIGNMENT = re.compile(
    r"(?P<owner>(?:\.|->|::)\s*)?(?<![\w$@])(?P<name>[$@]{0,2}[A-Za-z_]\w*)"
    r"[ \t]*(?::[ \t]*(?!=)[\w<>&'\[\]. |?]{1,60}?)?\s*(?P<sign>:=|\+=|\.=|<<=?|\|\|=|\?\?=|<>=|\?=|=)(?![=>~])"
)
"""A name with the sign that assigns or adds to it, ``name = …`` or ``owner.name += …``; its type may stand between."""
_TYPED = re.compile(
    r"(?:[({;\n]|\b(?:const|var)[ \t])[ \t]*"
    r"(?!(?:const|var|type|for|if|switch|case|else|return|go|defer|range)\b)(?P<name>[A-Za-z_]\w*)[ \t]+[*\[\]\w.]*\Z"
)
"""Ahead of a type that stands between a name and its sign, where a language writes types so."""
_DECLARING = re.compile(
    r"(?:\b(?:const|final|val|var|let|readonly|define|static|public|private|protected|internal|export|my|our|local|auto)"
    r"\s+"
    r"(?:mut\s+)?(?:[\w<>:&'*?\[\]]+\s+){0,4}|(?:^|[;{}\n])[ \t]*[A-Z][\w<>\[\],.?]*[ \t*&]+)\*?\Z"
)
"""Ahead of a name that is declared: a keyword, or the name of a type."""
_CONSTANT = re.compile(r"\b(?:const|final|val|readonly|static|define)\b[^\n;{}=]*\Z")
"""Ahead of a name that gets no other value."""
_SEVERAL = re.compile(r"(?:^|[;{}\n(])[ \t]*(?:(?:local|var|let|my)\s+)?\(?[\w$@]+(?:\s*,\s*[\w$@]+){0,6}\s*,\s*\Z")
"""Ahead of the last of several names that are assigned at once."""
_DEFINER = re.compile(
    r"\b(?:func|function|fn|fun|defp?|sub|macro)\b\s*(?:\([^()]*\)\s*)?(?:<[^<>]*>\s*)?"
    r"[*&]?\s*[\w.:$?!]*\s*(?:[<\[][^<>(){}]*[>\]]\s*)?\Z"
)
"""Ahead of the parameters of a function that a keyword begins."""
_ARROW = re.compile(r"\s*(?::[^=(){};\n]{1,80})?\s*(?:=>|->\s)")
"""Behind the parameters of a function that is an arrow."""
_BODY = re.compile(
    r"\s*(?:throws\s+[\w.,\s]+|:\s*[^=(){};\n]{1,80}|->[^(){};\n]{1,80}|(?:const|noexcept|override)\b\s*"
    r"|[\w.*\[\]]{1,40}\s*|\([^()]*\)\s*)?\{"
)
"""Behind the parameters of a function, up to where its body opens."""
_METHOD = re.compile(r"(?:^|[;{}\n])[ \t]*(?:[\w<>\[\],.?&*@]+[ \t]+){0,6}[#*]?[\w~$]+\s*\Z")
"""Ahead of the parameters of a method that no keyword begins: types, and its name."""
_NO_METHOD = re.compile(r"\b(?:if|while|switch|for|foreach|return|new|await|throw|else|with|synchronized|using|lock)\b")
"""Words that have such a form and begin no method."""
_LOOSE = re.compile(
    r"(?:\bdo|[{(,=]|\bmove)\s*+\|(?P<block>[^|\n]{1,120})\|"
    r"|\{[ \t]*+(?P<lambda>[\w$][\w$, :<>?]{0,120}?)(?:->|\bin\b)"
    r"|\bfn\s+(?P<elixir>[^\n(]{1,120}?)->"
    r"|\bfor(?:each|\s+await)?\b\s*\(?(?P<loop>[^(){};\n]{1,120}?)(?:\b(?:in|of)\b|(?<!:):(?![:=]))"
    r"|\bforeach\s*\([^(){};\n]{1,120}\bas\b(?P<each>[^(){};\n]{1,120})"
    r"|\bread\s+(?:-\w+\s+)*(?P<read>\w[\w ]{0,100})"
    r"|\b(?:const|let|var|val|my|local)\s*[\{\[(](?P<parts>[^}\])=]{1,300})[}\])]\s*="
)
"""Names that stand in no parentheses: parameters of blocks and lambdas, variables of loops, parts of a value."""
_ONE_ARROW = re.compile(r"(?<![\w.$:>])(?P<name>[A-Za-z_$][\w$]*)\s*(?:=>|->\s)")
"""The one parameter of an arrow."""
_WORD = re.compile(r"[@A-Za-z_]\w*")
_OWN = re.compile(r"\b(?:private|final|const|val|let)\b")
"""Ahead of a member that no derived class gives another value."""
_OPEN_BLOCK = re.compile(r"\bcompanion\s+object\b[^{}\n]*\Z")
"""Ahead of a block whose names are those of the block around it."""
_SELF = re.compile(r"(?<![\w.])(?:this|self)\Z")
"""Ahead of a member: the object itself."""
_HANDED_OUT = re.compile(
    r"(?<![\w)\]&|])&\s*(?:mut\s+)?(?P<name>\$?[A-Za-z_]\w*)|[(,]\s*(?:ref|out)\s+(?P<out>[A-Za-z_]\w*)"
)
"""``&name``, ``ref name``: who is given it may bind it anew."""
_LENT = re.compile(r"&\s*mut\s+(?P<name>[A-Za-z_]\w*)(?P<out>)")
"""The same in Rust, where ``&name`` is only looked at."""
_OWNER = re.compile(r"(?:[\w$@]+\s*(?:\.|->|::)\s*)+")
"""What a member belongs to."""


@record
class Bound:
    """One place that binds a name. ``value`` is the offset at which what it is bound to begins, None when not known."""

    position: int
    scope: tuple[int, int]
    value: int | None = None
    is_constant: bool = False
    is_declared: bool = True


def bare(name: str) -> str:
    """A name without the sign of a variable: ``$table`` and ``${table}`` are the variable ``table``."""
    return name.strip().lstrip("$")


class CodeNames:
    """The bindings of one file, by name."""

    def __init__(self, code: str, brackets: Brackets, language: Language) -> None:
        self._code = code
        self._brackets = brackets
        self._language = language
        self._bound: dict[str, list[Bound]] = {}
        self._members: dict[str, int] = {}
        self._own: set[str] = set()
        """The members of the object itself that are bound, where their names alone mean them too."""
        handed_out = (_LENT if language.fills_names else _HANDED_OUT).finditer(code)
        self._handed_out = {bare(match["name"] or match["out"]) for match in handed_out}
        self._read_assignments()
        self._read_parameters()
        self._read_loose()

    def add(self, name: str, position: int, value: int) -> None:
        """A binding of another form than an assignment: ``#define NAME "text"``, ``@name "text"``."""
        self._bound.setdefault(bare(name), []).append(Bound(position, self._scope(position), value, is_constant=True))

    def values(self) -> Iterator[tuple[str, Bound]]:
        """Each binding to a value, with its name."""
        for name, found in self._bound.items():
            yield from ((name, each) for each in found if each.value is not None)

    def lookup(self, expression: str, position: int) -> Bound | None:
        """The one binding that a name has at a place, None where it has none or may have another."""
        owner = _OWNER.match(expression)
        name = bare(expression[owner.end() :] if owner is not None else expression)
        found = self._bound.get(name, [])
        if owner is not None:
            is_alone = len(found) == 1 and found[0].is_declared and self._members.get(name, 0) == 0
            return found[0] if is_alone and self._is_own(owner.group(), found[0]) else None
        around = [each for each in found if each.scope[0] <= position <= each.scope[1]]
        if not around:
            return None
        inner = max(around, key=lambda each: (each.scope[0], -each.scope[1]))
        rivals = [each for each in found if inner.scope[0] <= each.position <= inner.scope[1]]
        is_hidden = any(each is not inner and (each.scope == inner.scope or not each.is_declared) for each in rivals)
        is_bound_apart = name in self._own or name in self._handed_out
        is_late = inner.position > position or is_bound_apart
        return None if is_hidden or (is_late and not inner.is_constant) else inner

    def is_bound_as_member(self, name: str) -> bool:
        """Whether anything binds a member of this name."""
        return self._members.get(name, 0) > 0

    def _is_own(self, owner: str, bound: Bound) -> bool:
        """Whether a member is this one in derived classes too, which may stand in other files."""
        line = self._code[self._code.rfind("\n", 0, bound.position) + 1 : bound.position]
        if owner.startswith("static"):
            return re.search(r"\b(?:private|final)\b", line) is not None
        return not owner.startswith(("this", "$this", "self.")) or _OWN.search(line) is not None

    # How names are bound

    def _scope(self, position: int) -> tuple[int, int]:
        for pair in self._brackets.around(position) if self._language.has_blocks else ():
            header = self._code[max(0, pair.start - MAX_HEADER) : pair.start]
            if pair.sign == "{" and not _OPEN_BLOCK.search(header):
                return pair.start, pair.end
        return 0, len(self._code)

    def _read_assignments(self) -> None:
        for match in _ASSIGNMENT.finditer(self._code):
            name, position = bare(match["name"]), match.start("name")
            before = self._line_ahead(position)
            typed = self._typed(match)
            if typed is not None:
                name, position = typed
                before = self._line_ahead(position)
            elif match["owner"]:
                self._members[name] = self._members.get(name, 0) + 1
                if self._language.has_own_names and _SELF.search(self._code[max(0, match.start() - 6) : match.start()]):
                    self._own.add(name)
                continue
            in_list = next((each for each in self._brackets.around(position)), None)
            is_argument = in_list is not None and in_list.sign == "(" and not self._is_group(in_list)
            sign = match["sign"]
            is_known = sign in ("=", ":=") and not is_argument and not self._is_one_of_several(position)
            is_declared = is_argument or sign == ":=" or _DECLARING.search(before) is not None
            self._bound.setdefault(name, []).append(
                Bound(
                    position,
                    self._scope(position),
                    match.end() if is_known else None,
                    _CONSTANT.search(before) is not None or name.isupper() or name[:1] == "@",
                    is_declared or typed is not None or self._is_first(name, before),
                )
            )

    def _typed(self, match: re.Match[str]) -> tuple[str, int] | None:
        """The name and the place of what is declared with its type behind it, which looks like the name itself."""
        if not self._language.types_follow or match["sign"] != "=":
            return None
        start = max(0, match.start() - MAX_HEADER)
        typed = _TYPED.search("\n" + self._code[start : match.start()])
        return (typed["name"], start - 1 + typed.start("name")) if typed is not None else None

    def _is_first(self, name: str, before: str) -> bool:
        """Whether a plain assignment declares, as the first one of a constant does where no keyword is written."""
        return name.isupper() and not before.rpartition("\n")[2].strip()

    def _line_ahead(self, position: int) -> str:
        """The line up to a place, behind the end of the line before."""
        return "\n" + self._code[max(0, position - MAX_HEADER) : position].rpartition("\n")[2]

    def _is_one_of_several(self, position: int) -> bool:
        """``a, b = …``: which value is whose is not told."""
        before = self._code[max(0, position - MAX_HEADER) : position].rstrip()
        return before.endswith(",") and _SEVERAL.search(before) is not None

    def _is_group(self, pair: Pair) -> bool:
        """Go: ``const ( … )``."""
        return re.search(r"\b(?:const|var)\s*\Z", self._code[max(0, pair.start - 20) : pair.start]) is not None

    def _read_parameters(self) -> None:
        for pair in self._brackets.all("("):
            if self._lists_parameters(pair):
                for start, end in self._brackets.parts(pair):
                    self._bind(self._code[start:end].partition("=")[0], start, self._scope_behind(pair.start, pair.end))

    def _lists_parameters(self, pair: Pair) -> bool:
        before = self._code[max(0, pair.start - MAX_HEADER) : pair.start]
        if _DEFINER.search(before) or _ARROW.match(self._code, pair.end + 1, pair.end + MAX_HEADER):
            return True
        if not _BODY.match(self._code, pair.end + 1, pair.end + MAX_HEADER):
            return False
        method = _METHOD.search(self._line_ahead(pair.start))
        has_name = method is not None and (self._language.has_regexes or len(method.group().split()) > 1)
        return has_name and method is not None and not _NO_METHOD.search(method.group())

    def _read_loose(self) -> None:
        for match in _LOOSE.finditer(self._code):
            group = match.lastgroup or ""
            self._bind(match[group], match.start(group), self._scope_behind(match.start(), match.end()))
        for match in _ONE_ARROW.finditer(self._code) if self._language.joint == r"\+" else ():
            self._bind(match["name"], match.start(), self._scope_behind(match.start(), match.end()))

    def _scope_behind(self, start: int, end: int) -> tuple[int, int]:
        """The block that a list of parameters, which begins at ``start``, belongs to."""
        if not self._language.has_blocks:
            return 0, len(self._code)
        header = re.compile(r"[^;{}]{0,200}\{").match(self._code, end)
        block = self._brackets.opened_at(header.end() - 1) if header is not None else None
        if block is not None:
            return start, block.end
        outer = next(self._brackets.around(start), None)
        blank = self._code.find("\n\n", end)
        return start, min(outer.end if outer is not None else len(self._code), blank if blank >= 0 else len(self._code))

    def _bind(self, text: str, position: int, scope: tuple[int, int]) -> None:
        for match in _WORD.finditer(text):
            self._bound.setdefault(bare(match.group()), []).append(Bound(position + match.start(), scope))
