"""Grammars: what a dialect of SQL is to the scan, as data.

A grammar says how text falls into tokens, which words begin what, and which dialect of the parser reads a change. What
follows from it is written once, for all dialects. Sources of the rules: SQLite's documentation of its language and of
parameters (``?1 :a @a $a``); PostgreSQL's chapter on lexical structure, with the placeholders of its drivers (``$1``,
``%s``, ``%(a)s``, ``:a``, ``@a``, ``{a}``, ``?``) and of psql (``:'a'``); MySQL's chapter on language structure, of
which nothing was tried.
"""

from __future__ import annotations

import re

from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record

_LETTER = r"A-Za-z_\u0080-\U0010ffff"
_NAME = rf"{_LETTER}0-9$"
_NUMBER = r"0[xX][0-9A-Fa-f]+|(?:[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?"
# What a template or a migration tool fills ahead of the database.
_FILLED = r"\$\{[^{}\n]{1,100}\}|\{\{[^{}\n]{1,100}\}\}"

# Possessive repeats: a quote that is never closed must not be matched up to an earlier doubled quote instead.
_SQLITE = rf"""
    (?P<space>[ \t\n\f\r][ \t\n\v\f\r]*|\ufeff)
  | (?P<comment>--[^\n]*|/\*(?s:.*?)(?:\*/|\Z))
  | (?P<blob>[xX]'[0-9A-Fa-f]*')
  | (?P<string>'(?:[^']|'')*+')
  | (?P<quoted>"(?:[^"]|"")*+"|`(?:[^`]|``)*+`|\[[^\]]*\])
  | (?P<dollar>\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$)
  | (?P<parameter>{_FILLED}|\?[0-9]*|[$@:\#](?:[{_NAME}]|::)+(?:\([^\s)]{{0,100}}\))?)
  | (?P<number>{_NUMBER})
  | (?P<word>[{_LETTER}][{_NAME}]*)
  | (?P<operator>->>|->|<>|!=|==|<=|>=|<<|>>|\|\||[-+*/%&|~<>=(),;.])
  | (?P<unclosed>['"`\[](?s:.*))
  | (?P<junk>.)
"""

# MySQL runs what stands in /*! … */.
# A question mark is an operator of jsonb ahead of an operand, and a placeholder of JDBC and its kin elsewhere. Behind a
# name or a bracket a colon is the bound of a slice.
_POSTGRESQL = rf"""
    (?P<space>[ \t\n\v\f\r]+|\ufeff)
  | (?P<comment>--[^\n\r]*)
  | (?P<block>/\*)
  | (?P<blob>[bBxX]'(?:[^']|'')*+')
  | (?P<text>[eE]'(?:[^'\\]|''|\\(?s:.))*+'|(?:[nN]|[uU]&)?'(?:[^']|'')*+')
  | (?P<quoted>(?:[uU]&)?"(?:[^"]|"")*+")
  | (?P<dollar>\$(?:[{_LETTER}][{_LETTER}0-9]*)?\$)
  | (?P<parameter>{_FILLED}|\$[0-9]+|%\([^()%]{{1,100}}\)[sbt]|%s(?!\w)
      |(?<![\w\])]):(?:[{_LETTER}][{_NAME}]*|[0-9]+|'[{_NAME}]+'|"[{_NAME}]+")
      |@[{_LETTER}][{_NAME}]*|\{{[{_LETTER}][{_LETTER}0-9.]*\}}|\?(?![|&])(?!\s*['"$?:])[0-9]*)
  | (?P<number>{_NUMBER})
  | (?P<word>[{_LETTER}][{_NAME}]*)
  | (?P<operator>->>|->|\#>>|\#>|\#-|@>|<@|@@|\|\||&&|<=>|<->|<>|!=|<=|>=|<<|>>|!~\*|!~|~\*|\?\||\?&|::|:=|=>|\.\.
      |[-+*/%&|~<>=(),;.\[\]:^\#@!?\\])
  | (?P<unclosed>['"](?s:.*))
  | (?P<junk>.)
"""

_MYSQL = rf"""
    (?P<space>[ \t\n\v\f\r]+|\ufeff|/\*M?![0-9]*|\*/)
  | (?P<comment>--(?=\s|\Z)[^\n]*|\#[^\n]*|/\*(?s:.*?)(?:\*/|\Z))
  | (?P<blob>[bBxX]'(?:[^']|'')*+')
  | (?P<text>'(?:[^'\\]|''|\\(?s:.))*+'|"(?:[^"\\]|""|\\(?s:.))*+")
  | (?P<quoted>`(?:[^`]|``)*+`)
  | (?P<parameter>{_FILLED}|\?|%\([^()%]{{1,100}}\)s|%s(?!\w)|:[{_LETTER}][{_NAME}]*|@{{1,2}}[{_LETTER}][{_NAME}.]*)
  | (?P<number>{_NUMBER})
  | (?P<word>[{_LETTER}][{_NAME}]*)
  | (?P<operator>->>|->|<=>|<>|!=|<=|>=|<<|>>|\|\||&&|:=|[-+*/%&|~<>=(),;.^!])
  | (?P<unclosed>['"`](?s:.*))
  | (?P<junk>.)
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@record
class Grammar:
    """One dialect. ``title`` is its name to a person and ``parser`` its name to the parser.

    ``harmless`` are the words that begin a statement which changes no rows of a table, ``definitions`` those that begin
    one which defines something. ``quotes_names`` says that every name is quoted for the parser, since it keeps words
    that the dialect does not. ``boundaries`` and ``comparisons`` are the words and signs by which
    :func:`arrowproof.conformance.strain.find_strain` tells where an expression begins.
    """

    dialect: Dialect
    title: str
    parser: str
    pattern: re.Pattern[str]
    harmless: frozenset[str]
    definitions: frozenset[str]
    main_schema: str | None = None
    """The one schema whose tables are meant; None where a table is meant in whichever schema it stands."""
    shell: str = ""
    shell_mark: str = ""
    """The sign that begins a command of the database's shell, and those commands that read nothing and run nothing."""
    shell_commands: frozenset[str] = frozenset()
    has_routines: bool = False
    quotes_names: bool = False
    has_rowid: bool = False
    has_races: bool = False
    """Whether writers work side by side, so that a row may have changed since a statement read it without a lock."""
    is_tried: bool = True
    keywords: frozenset[str] = frozenset()
    boundaries: frozenset[str] = _words(
        "AND OR WHEN THEN ELSE WHERE SET FROM ON HAVING SELECT BY RETURNING LIMIT OFFSET VALUES USING DO ,"
    )
    comparisons: frozenset[str] = _words("= == <> != < <= > >= IS IN LIKE GLOB MATCH REGEXP BETWEEN ISNULL NOTNULL")


SQLITE = Grammar(
    Dialect.SQLITE,
    "SQLite",
    "sqlite",
    re.compile(_SQLITE, re.VERBOSE),
    harmless=_words(
        "SELECT VALUES EXPLAIN PRAGMA ANALYZE BEGIN COMMIT END ROLLBACK SAVEPOINT RELEASE REINDEX VACUUM DETACH"
    ),
    definitions=_words("CREATE ALTER DROP"),
    main_schema="main",
    shell="sqlite3",
    shell_mark=".",
    shell_commands=_words(
        ".mode .header .headers .echo .width .timer .print .bail .changes .nullvalue .separator .prompt .tables .schema"
        " .indexes .quit .exit .stats .eqp .show .databases .explain"
    ),
    quotes_names=True,
    has_rowid=True,
    # The words that SQLite keeps for itself. Any other word is a name, and is quoted for the parser, which keeps more.
    keywords=_words(
        """
        ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CONFLICT CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT
        DELETE DESC DISTINCT DO ELSE END ESCAPE EXCEPT EXISTS FALSE FILTER FIRST FROM FULL GLOB GROUP HAVING IN INDEXED
        INNER INSERT INTERSECT INTO IS ISNULL JOIN LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NOT NOTHING NOTNULL
        NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION RECURSIVE REGEXP RETURNING RIGHT ROW ROWS RANGE SELECT SET
        THEN TRUE UNION UNIQUE UPDATE USING VALUES WHEN WHERE WINDOW WITH
        """
    ),
)

POSTGRESQL = Grammar(
    Dialect.POSTGRESQL,
    "PostgreSQL",
    "postgres",
    re.compile(_POSTGRESQL, re.VERBOSE),
    harmless=_words(
        """
        SELECT VALUES TABLE EXPLAIN ANALYZE ANALYSE BEGIN START COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE REINDEX
        VACUUM CLUSTER CHECKPOINT SET RESET SHOW DISCARD LISTEN UNLISTEN NOTIFY LOCK GRANT REVOKE COMMENT SECURITY
        REASSIGN DECLARE FETCH MOVE CLOSE DEALLOCATE CALL REFRESH LOAD PERFORM DO
        """
    ),
    definitions=_words("CREATE ALTER DROP"),
    shell="psql",
    shell_mark="\\",
    shell_commands=_words(
        r"\restrict \unrestrict \echo \set \unset \pset \timing \encoding \q \qecho \warn \x \d \dt \conninfo"
    ),
    has_routines=True,
    has_races=True,
    boundaries=SQLITE.boundaries | _words("MATCHED UNION EXCEPT INTERSECT JOIN FOR ["),
    comparisons=SQLITE.comparisons - _words("== GLOB MATCH REGEXP") | _words("ILIKE SIMILAR"),
)

MYSQL = Grammar(
    Dialect.MYSQL,
    "MySQL",
    "mysql",
    re.compile(_MYSQL, re.VERBOSE),
    harmless=_words(
        """
        SELECT VALUES TABLE EXPLAIN DESCRIBE DESC ANALYZE BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE SET SHOW USE
        LOCK UNLOCK GRANT REVOKE OPTIMIZE CHECK FLUSH DEALLOCATE CALL DELIMITER
        """
    ),
    definitions=_words("CREATE ALTER DROP"),
    has_races=True,
    is_tried=False,
    boundaries=SQLITE.boundaries | _words("UNION JOIN FOR"),
    comparisons=SQLITE.comparisons - _words("== GLOB MATCH") | _words("<=> RLIKE"),
)

_GRAMMARS = {each.dialect: each for each in (SQLITE, POSTGRESQL, MYSQL)}


def grammar_of(dialect: Dialect) -> Grammar:
    """The grammar of a dialect."""
    return _GRAMMARS[dialect]
