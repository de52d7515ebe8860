"""Signs: how code writes what is done to a string, as patterns for what stands ahead of it and behind it."""

from __future__ import annotations

import re

PATH = r"[$@&*]{0,2}[A-Za-z_][\w$]*(?:(?:%s)[A-Za-z_$][\w$]*)*[!?]?"
"""A name, with the names of what it belongs to; ``%s`` is filled with the signs between them."""
NUMBER = re.compile(r"\d[\w.]*")
"""A number, with its unit or its point."""
HARMLESS = re.compile(
    r"\s*\.\s*(?:trimIndent|trimMargin|stripMargin|stripIndent|strip_heredoc|strip|trim|freeze|squish|to_s|toString|"
    r"to_string|to_owned|into|as_str|dedent|html_safe|c_str|unindent|chomp|lstrip|rstrip|intern)\b(?:\([^()]*\))?"
)
"""Methods that leave a string what it is, but for white space."""
ENDS_OF_JOINTS = frozenset("+.<>&_\\")
"""How the signs end that join two strings, in any language."""
SUFFIX = re.compile(r"\s*+[.%]")
"""How everything begins that is looked for behind a literal."""
CONCAT = re.compile(r"\s*\.\s*concat\s*\(\s*")
"""The method that adds strings."""
REPLACE = re.compile(r"\s*\.\s*(?:replace|replaceAll|gsub|sub|tr|Replace)\s*\(")
"""Methods that put one text in the place of another."""
CUT = re.compile(
    r"\s*\.\s*(?P<name>slice|substr(?:ing)?|Substring|Remove|remove(?:Suffix|Prefix|Range)|drop(?:Last)?|take(?:Last)?)\s*\("
)
"""Methods that leave a part of a string."""
FORMATTED = re.compile(r"\s*\.\s*format(?:ted)?\s*\(")
"""The method of a string that fills its placeholders."""
PERCENT = re.compile(r"\s*%\s*(?=[\[({\w@$])")
"""The sign that does this in Ruby, ahead of what fills them."""
FORMAT_CALL = re.compile(
    r"(?:[Ff]ormat|[Ss]printf|Fprintf|Errorf|Printf|printf|format!|write!|println!)\s*\(\s*(?:&?[\w.]+\s*,\s*){0,2}\Z"
)
"""Ahead of a format that a function fills."""
BUILDER = re.compile(
    r"(?:String(?:Builder|Buffer)|\.\s*append(?:Line|ln)?|\.\s*Append(?:Line|Format)?|\.\s*WriteString|\.\s*write_str"
    r"|\.\s*push_str|\bappend(?:Line|ln)?|Fprintf?\s*\(\s*&?\w+\s*,|Fprint(?:ln)?\s*\(\s*&?\w+\s*,|write!\s*\(\s*&?(?:mut\s+)?\w+\s*,)"
    r"\s*\(?\s*\Z"
)
"""Ahead of a literal that is given to a builder of strings."""
APPENDED = re.compile(r"\s*\)\s*\.\s*(?:append|append(?:Line|ln)|Append(?:Line)?)\s*\(\s*")
"""What adds one string more to a builder, in the same chain of calls."""
FINISHED = re.compile(r"\s*\)\s*\.\s*(?:toString|ToString|build)\s*\(\s*\)")
"""What makes a string of a builder."""
NEW_BUILDER = re.compile(r"\bnew\s+String(?:Builder|Buffer)\s*\(\s*\Z")
"""Ahead of a literal that a new builder begins with."""
JOINED_BEHIND = re.compile(
    r"(?:\s*\.\s*(?:filter\w*|compact|flat|flatten)\b(?:\([^()]{0,80}\))?){0,3}"
    r"\s*\)?\s*\.\s*(?P<name>join|joinToString|mkString|Join)\b\s*(?P<open>\(?)"
)
"""Behind a list, from which what is no string may be taken first."""
JOINING = re.compile(r"(?:\b(?:[Ss]tring|[Ss]trings|StringUtils)\.[Jj]oin|\bimplode|\bjoin)\s*\(?\s*\Z")
"""Ahead of what is joined by a separator that is given with it."""
GLUING = re.compile(r"(?:\bconcat!|\b[Ss]tring\.Concat|\btable\.concat)\s*\(?\s*\Z")
"""Ahead of what is joined by nothing."""
DEFAULT_SEPARATORS = {"joinToString": ", ", "mkString": "", "join": ",", "Join": ","}
"""What a list is joined by where no separator is given; in languages without blocks it is nothing."""
