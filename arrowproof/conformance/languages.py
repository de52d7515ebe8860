"""Languages: how the text of a programming language falls into comments, string literals and code.

Only as much of each is known as it takes to find its string literals and what fills their holes. Sources of the rules:
the lexical chapters of each language's reference. A file of no known language has no literals that could be trusted.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from arrowproof.model.record import record


@record
class Quote:
    """One form of string literal.

    ``opening`` is a pattern of how it begins; ``closing`` the text that ends it, in which ``{0}`` stands for the first
    group of the opening. ``escape`` is the character that takes the next one's meaning (a quote that is doubled stands
    for itself where it is the closing's own). ``holes`` are the openings of expressions inside.
    """

    opening: str
    closing: str
    escape: str = "\\"
    is_multiline: bool = False
    holes: tuple[str, ...] = ()
    is_heredoc: bool = False
    is_string: bool = True


@record
class Language:
    """A family of languages: the patterns of its comments, its quotes, and how it joins two strings (a pattern)."""

    comments: str
    quotes: tuple[Quote, ...]
    joint: str = r"\+"
    has_regexes: bool = False
    """Whether a slash may begin a pattern, whose quotes open no string."""
    has_blocks: bool = True
    """Whether braces tell where a name that is bound in a block ends."""
    adjacent: str | None = None
    """What may stand between two literals that are one, where nothing need join them (a pattern)."""
    has_macros: bool = False
    """Whether a name in capitals beside a literal may stand for another."""
    has_positions: bool = False
    """Whether ``$1`` is a parameter of the program, not of the database."""
    has_own_names: bool = False
    """Whether the name of a member alone means that of the object itself."""
    writes_lists: bool = False
    """Whether a list of strings is written as one string."""
    indexes: str = ""
    """What belongs to a hole behind ``$name`` (a pattern), as in ``$row[id]``."""
    types_follow: bool = False
    """Whether the type of a name stands right behind it: ``const Done State = "done"``."""
    fills_names: bool = False
    """Whether ``{name}`` in a plain literal stands for the name, as it does in the formats of Rust."""


_SLASHES = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_HASH = r"\#(?![{!])[^\n]*"

_DOUBLE = Quote('"', '"')
_SINGLE = Quote("'", "'")
_DOLLAR = ("${", "$")
_CHARACTER = Quote(r"'(?=(?:\\.[^'\n]{0,8}|[^'\\\n])')", "'", is_string=False)

_AHEAD_OF_STRING = ("return", "case", "typeof", "else", "in", "of", "void", "throw", "await", "yield", "from", "import")
# An apostrophe behind a letter is one of the text between tags, but for the words that a string may follow.
_SCRIPT_SINGLE = Quote("(?:" + "|".join([r"(?<!\w)", *(rf"(?<=\b{each})" for each in _AHEAD_OF_STRING)]) + ")'", "'")

_JAVASCRIPT = Language(
    _SLASHES,
    (Quote("`", "`", is_multiline=True, holes=("${",)), _DOUBLE, _SCRIPT_SINGLE),
    has_regexes=True,
)
_GO = Language(_SLASHES, (Quote("`", "`", "", is_multiline=True), _DOUBLE, _CHARACTER), types_follow=True)
_JAVA = Language(_SLASHES, (Quote('"""', '"""', is_multiline=True), _DOUBLE, _CHARACTER), has_own_names=True)
_KOTLIN = Language(
    _SLASHES,
    (
        Quote(r'\$\$"""', '"""', "", is_multiline=True, holes=("$${",)),
        Quote('"""', '"""', "", is_multiline=True, holes=_DOLLAR),
        Quote('"', '"', holes=_DOLLAR),
        _CHARACTER,
    ),
    joint=r"\+\+?",
    has_own_names=True,
)
_GROOVY = Language(
    _SLASHES,
    (
        Quote('"""', '"""', is_multiline=True, holes=_DOLLAR),
        Quote("'''", "'''", is_multiline=True),
        Quote('"', '"', holes=_DOLLAR),
        _SINGLE,
    ),
    has_own_names=True,
)
_DART = Language(
    _SLASHES,
    (
        Quote('r"', '"', ""),
        Quote("r'", "'", ""),
        Quote('"""', '"""', is_multiline=True, holes=_DOLLAR),
        Quote("'''", "'''", is_multiline=True, holes=_DOLLAR),
        Quote('"', '"', holes=_DOLLAR),
        Quote("'", "'", holes=_DOLLAR),
    ),
    adjacent=r"\s*",
    has_own_names=True,
)
_SWIFT = Language(
    _SLASHES,
    (
        Quote(r'#"""', '"""#', "", is_multiline=True, holes=("\\#(",)),
        Quote(r'#"', '"#', "", holes=("\\#(",)),
        Quote('"""', '"""', is_multiline=True, holes=("\\(",)),
        Quote('"', '"', holes=("\\(",)),
    ),
    has_own_names=True,
)
_CSHARP = Language(
    _SLASHES,
    (
        Quote(r'\$*("{3,})', "{0}", "", is_multiline=True, holes=("{",)),
        Quote(r'(?:\$@|@\$)"', '"', '"', is_multiline=True, holes=("{",)),
        Quote('@"', '"', '"', is_multiline=True),
        Quote(r'\$"', '"', holes=("{",)),
        _DOUBLE,
        _CHARACTER,
    ),
    has_own_names=True,
)
_BASIC = Language(
    r"'[^\n]*",
    (Quote(r'\$"', '"', '"', is_multiline=True, holes=("{",)), Quote('"', '"', '"', is_multiline=True)),
    joint=r"[+&]|_\n",
    has_blocks=False,
)
_RUST = Language(
    _SLASHES,
    (
        Quote(r'b?r(\#*)"', '"{0}', "", is_multiline=True),
        Quote('"', '"', is_multiline=True),
        _CHARACTER,
    ),
    fills_names=True,
)
_C = Language(
    _SLASHES,
    (Quote(r'(?:u8|[uUL])?R"([^\s()\\]{0,16})\(', '){0}"', "", is_multiline=True), _DOUBLE, _CHARACTER),
    joint=r"\+|<<",
    adjacent=r"\s*",
    has_macros=True,
    has_own_names=True,
)
_PHP = Language(
    # What stands outside of <?php … ?> is no code, and a comment on one line ends ahead of ?>.
    r"\A(?=(?s:.*?)<\?)(?s:.*?)<\?(?:php\b|=)?|\?>(?s:.*?)(?:<\?(?:php\b|=)?|\Z)"
    r"|(?://|\#(?!\[))(?:(?!\?>)[^\n])*|/\*(?s:.*?)(?:\*/|\Z)",
    (
        Quote(r"<<<[ \t]*'(\w+)'", "{0}", "", is_heredoc=True, is_multiline=True),
        Quote(r"<<<[ \t]*\"?(\w+)\"?", "{0}", is_heredoc=True, is_multiline=True, holes=("{$", "${", "$")),
        Quote('"', '"', is_multiline=True, holes=("{$", "${", "$")),
        Quote("'", "'", is_multiline=True),
    ),
    joint=r"\.",
    indexes=r"\[[^\]\n]{1,80}\]",
)
_RUBY = Language(
    rf"{_HASH}|^=begin\b(?s:.*?)(?:^=end\b|\Z)",
    (
        Quote(r"<<[~-]?'(\w+)'", "{0}", "", is_heredoc=True, is_multiline=True),
        Quote(r"<<[~-]?[\"`]?([A-Z_]\w*)[\"`]?", "{0}", is_heredoc=True, is_multiline=True, holes=("#{",)),
        Quote(r"%Q?\(", ")", is_multiline=True, holes=("#{",)),
        Quote(r"%Q?\{", "}", is_multiline=True, holes=("#{",)),
        Quote(r"%Q?\[", "]", is_multiline=True, holes=("#{",)),
        Quote(r"%Q?\|", "|", is_multiline=True, holes=("#{",)),
        Quote(r"%q\(", ")", is_multiline=True),
        Quote(r"%q\{", "}", is_multiline=True),
        Quote('"', '"', is_multiline=True, holes=("#{",)),
        Quote("'", "'", is_multiline=True),
    ),
    joint=r"\+|<<|\\\n",
    has_blocks=False,
    adjacent=r"[ \t]+",
)
_ELIXIR = Language(
    _HASH,
    (
        Quote(r'~S"""', '"""', "", is_multiline=True),
        Quote(r'(?:~s)?"""', '"""', is_multiline=True, holes=("#{",)),
        Quote(r"~[sS]'''|'''", "'''", is_multiline=True, holes=("#{",)),
        Quote(r"~[sS]\|", "|", is_multiline=True, holes=("#{",)),
        Quote(r"~[sS]\(", ")", is_multiline=True, holes=("#{",)),
        Quote(r"~[sS]\[", "]", is_multiline=True, holes=("#{",)),
        Quote(r"~[sS]\{", "}", is_multiline=True, holes=("#{",)),
        Quote(r'(?:~[sS])?"', '"', is_multiline=True, holes=("#{",)),
        Quote(r"\?[\"']", "", is_string=False),
        Quote("'", "'", is_multiline=True, holes=("#{",)),
    ),
    joint="<>",
    has_blocks=False,
    writes_lists=True,
)
_SHELL = Language(
    r"(?<![^\s;])\#[^\n]*",
    (
        Quote(r"<<-?[ \t]*(?:'(\w+)'|\\(\w+))", "{0}", "", is_heredoc=True, is_multiline=True),
        Quote(r"<<-?[ \t]*\"?([A-Za-z_]\w*)\"?", "{0}", is_heredoc=True, is_multiline=True, holes=_DOLLAR),
        Quote('"', '"', is_multiline=True, holes=("${", "$(", "$")),
        Quote("'", "'", "", is_multiline=True),
    ),
    joint="",
    has_blocks=False,
    adjacent="",
    has_positions=True,
)
_PERL = Language(
    r"(?<![$\w])\#[^\n]*|^=\w+(?s:.*?)(?:^=cut\b|\Z)",
    (
        Quote(r"<<~?'(\w+)'", "{0}", "", is_heredoc=True, is_multiline=True),
        Quote(r"<<~?\"?([A-Z_]\w*)\"?", "{0}", is_heredoc=True, is_multiline=True, holes=("@{", "${", "$")),
        Quote(r"\bqq\{", "}", is_multiline=True, holes=("@{", "${", "$")),
        Quote(r"\bq\{", "}", is_multiline=True),
        Quote(r"\bqq\(", ")", is_multiline=True, holes=("@{", "${", "$")),
        Quote(r"\bq\(", ")", is_multiline=True),
        Quote('"', '"', is_multiline=True, holes=("@{", "${", "$")),
        Quote("'", "'", is_multiline=True),
    ),
    joint=r"\.",
    indexes=r"(?:(?:->)?(?:\[[^\]\n]{1,80}\]|\{[^}\n]{1,80}\}))+",
)
_LUA = Language(
    r"--\[\[(?s:.*?)(?:\]\]|\Z)|--[^\n]*",
    (Quote(r"\[(=*)\[", "]{0}]", "", is_multiline=True), _DOUBLE, _SINGLE),
    joint=r"\.\.",
    has_blocks=False,
)

_FAMILIES = {
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte": _JAVASCRIPT,
    ".go": _GO,
    ".java": _JAVA,
    ".kt .kts .scala .sc": _KOTLIN,
    ".dart": _DART,
    ".groovy .gradle": _GROOVY,
    ".swift": _SWIFT,
    ".cs .fs": _CSHARP,
    ".vb .bas": _BASIC,
    ".rs": _RUST,
    ".c .h .cc .cpp .cxx .hpp .hh .m .mm .zig .d": _C,
    ".php .phtml": _PHP,
    ".rb .rake .ru .cr": _RUBY,
    ".ex .exs": _ELIXIR,
    ".sh .bash .zsh .ksh": _SHELL,
    ".pl .pm": _PERL,
    ".lua": _LUA,
}
_LANGUAGES = {suffix: language for suffixes, language in _FAMILIES.items() for suffix in suffixes.split()}

SUFFIXES = frozenset({".sql", ".py", *_LANGUAGES})
"""The kinds of files that are read where a whole folder is named."""


def language_of(file: str) -> Language | None:
    """The language of a file by its name, None when it is none that is known."""
    return _LANGUAGES.get(PurePosixPath(file).suffix.lower())


_GENERATED = re.compile(r"Code generated\b[^\n]{0,200}\bDO NOT EDIT|@generated\b", re.IGNORECASE)
MAX_MARK = 2_000
"""Characters at the beginning of a file in which it may say that it is generated."""


def is_generated(text: str) -> bool:
    """Whether a file says that it is generated: by Go's convention, or by ``@generated``."""
    beginning = text[:MAX_MARK]
    return "generated" in beginning.lower() and _GENERATED.search(beginning) is not None
