"""Short script: the parts of a script in fewer characters, each by itself, and together what they were before.

Variables get short names, the same in every part, and white space goes where it parts nothing. Names of properties
stay, and so does what the browser has given a name to: nothing has to be known of which variable is meant where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, product
from string import ascii_letters

from arrowproof.render.script_tokens import KEYWORDS, Sort, Token, script_tokens

OF_BROWSER = frozenset({"close", "event", "find", "name", "open", "parent", "scroll", "status", "stop", "top"})
"""Names of variables that are names in the browser, too, so that one of them might mean what the browser has."""

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_BETWEEN = {*";,:?=.<>", "=>", "&&", "||", "??", "?.", "==", "!=", "===", "!==", "<=", ">="}
_GOES_ON, _ENDS_ANYHOW = _BETWEEN.union(_OPENING), _BETWEEN.union(_CLOSING)
"""Signs behind which, and before which, the end of a line is no end of a statement that would not be there without."""


def short_scripts(sources: Mapping[str, str]) -> dict[str, str]:
    """These parts of one script, by their names, shortened.

    Raises:
        ValueError: one of them cannot be read.
    """
    parts = {name: list(script_tokens(source)) for name, source in sources.items()}
    names = short_names([token for part in parts.values() for token in part])
    return {name: _joined(_renamed(part, names)) for name, part in parts.items()}


def short_names(tokens: Sequence[Token]) -> dict[str, str]:
    """The new name of each variable of a script that gets one: the shorter the more characters that saves."""
    code = [token for token in tokens if token.sort is not Sort.LINE_END]
    uses = Counter(token.text for token in code if token.is_name)
    variables = set(_declared(code)) - OF_BROWSER
    free = (name for name in _names() if name not in uses and name not in KEYWORDS)
    by_gain = sorted(variables, key=lambda name: (-uses[name] * (len(name) - 1), name))
    return {name: new for name, new in zip(by_gain, free, strict=False) if len(new) < len(name)}


def _names() -> Iterator[str]:
    for length in count(1):
        yield from map("".join, product(ascii_letters, repeat=length))


def _declared(tokens: Sequence[Token]) -> Iterator[str]:
    """The names that ``const`` and ``let`` and the heads of functions declare; more may be, and then they stay."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.is_sign(*_OPENING):
            opened.append(place)
        elif token.is_sign(*_CLOSING):
            partners[place] = opened.pop()
            if tokens[partners[place] - 1].text in ("const", "let"):
                yield from _bound(tokens, partners[place], place)
        elif token.is_sign("=>"):
            yield from _bound(tokens, partners.get(place - 1, place - 1), place - 1)
        elif token.is_name and tokens[place - 1].text in ("const", "let"):
            yield token.text


def _bound(tokens: Sequence[Token], first: int, last: int) -> Iterator[str]:
    """The names that a pattern binds, without what stands there as a default; keys count, and do no harm."""
    depth, default = 0, None
    for token in tokens[first : last + 1]:
        depth += token.is_sign(*_OPENING) - token.is_sign(*_CLOSING)
        if default is not None and (depth < default or (depth == default and token.is_sign(","))):
            default = None
        if default is None and token.is_sign("="):
            default = depth
        if default is None and token.is_name:
            yield token.text


def _renamed(tokens: Sequence[Token], names: Mapping[str, str]) -> Iterator[Token]:
    """The tokens with the new names; where a variable stands for a property of its name, both are said."""
    code = [Token(Sort.SIGN, ";"), *(token for token in tokens if token.sort is not Sort.LINE_END)]
    code.append(code[0])
    methods = set(_methods(code))
    in_object = [False]
    place = 0
    for token in tokens:
        if token.sort is Sort.LINE_END:
            yield token
            continue
        place += 1
        before, after = code[place - 1], code[place + 1]
        if token.closes:
            in_object.pop()
        if token.opens:
            in_object.append(token.is_sign("{") and _precedes_object(before))
        if not token.is_name or token.text not in names:
            yield token
            continue
        new = Token(Sort.WORD, names[token.text])
        is_part = in_object[-1] and before.is_sign("{", ",")
        if before.is_sign(".", "?.") or (is_part and after.is_sign(":")) or place in methods:
            yield token
        elif is_part:
            yield from (token, Token(Sort.SIGN, ":"), new)
        else:
            yield new


def _precedes_object(token: Token) -> bool:
    """Whether a brace behind this token begins an object or a pattern, and no block."""
    if token.sort is Sort.WORD:
        return token.text not in ("else", "try", "finally", "do", "catch")
    return not token.is_sign(")", "=>", ";", "{", "}")


def _methods(tokens: Sequence[Token]) -> Iterator[int]:
    """The places of names of methods: before brackets with a body behind them."""
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.is_sign("("):
            opened.append(place)
        elif token.is_sign(")"):
            name = opened.pop() - 1
            if tokens[place + 1].is_sign("{") and tokens[name - 1].text != "function":
                yield name


def _joined(tokens: Iterator[Token]) -> str:
    """The tokens with white space only between those that it parts."""
    written: list[str] = []
    before, has_ended = Token(Sort.SIGN, ";"), False
    for token in tokens:
        if token.sort is Sort.LINE_END:
            has_ended = True
            continue
        if has_ended and not (before.is_sign(*_GOES_ON) or token.is_sign(*_ENDS_ANYHOW)):
            written.append("\n")
        elif (before.sort is token.sort is Sort.WORD) or (token.text[0] in "+-/" and before.text[-1] == token.text[0]):
            written.append(" ")
        written.append(token.text)
        before, has_ended = token, False
    return f"{''.join(written)}\n"
