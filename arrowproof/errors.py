"""What can go wrong, and the exit status that says so.

Every error that a user can meet derives from :class:`ArrowproofError` and carries its exit status. A message holds the
offending value and the way out. Anything else that escapes is a bug, reported as :class:`InternalError`.

========  ==============================================================
status    meaning
========  ==============================================================
0         holds
1         does not hold; only ever with a written verdict
2         the input is wrong: :class:`InputError`, :class:`ModelError`
3         the environment lacks something: :class:`MissingEnvironmentError`
4         an internal error: :class:`InternalError`
130       interrupted
========  ==============================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HOLDS = 0
DOES_NOT_HOLD = 1
INPUT_IS_WRONG = 2
ENVIRONMENT_LACKS = 3
INTERNAL = 4
INTERRUPTED = 130

ERROR = "error"
WARNING = "warning"
"""The severities of a problem."""

MAX_LISTED = 100
"""A message lists so many problems; ``problems`` holds them all."""


class ArrowproofError(Exception):
    """Base of all errors that Arrowproof raises on purpose."""

    exit_status = INTERNAL


class InternalError(ArrowproofError):
    """A bug in Arrowproof: something that must not happen did."""


class InputError(ArrowproofError):
    """The input (a file, an option, a database) is wrong; the message says what to change."""

    exit_status = INPUT_IS_WRONG


class MissingEnvironmentError(ArrowproofError):
    """The machine lacks something (a browser, a library); ``remedy`` is the one command that fixes it."""

    exit_status = ENVIRONMENT_LACKS

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}\nTo fix it: {remedy}")
        self.remedy = remedy


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a lifecycle file, with its place.

    ``path`` is a JSON path such as ``$.states[2].kind``; ``line`` and ``column`` count from 1; ``value`` is the
    offending value as short JSON text (bounded), or None when there is none; ``fix`` says what to do; ``rule`` is the
    stable name of the rule, for example ``unknown-field``.
    """

    rule: str
    path: str
    line: int
    column: int
    message: str
    fix: str
    value: str | None = None
    severity: str = ERROR

    def __str__(self) -> str:
        value = f": {self.value}" if self.value is not None else ""
        rule = self.rule if self.severity == ERROR else f"{self.severity}: {self.rule}"
        return f"{self.line}:{self.column} {self.path}: {self.message}{value}. {self.fix} [{rule}]"


class ModelError(InputError):
    """The lifecycle file means nothing; ``problems`` holds every reason, in file order, and may hold warnings too."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        count = len(self.problems)
        errors = sum(problem.severity == ERROR for problem in self.problems)
        counted = [_counted(errors, ERROR), *([_counted(count - errors, WARNING)] if count > errors else [])]
        lines = [f"{source}:{problem}" for problem in self.problems[:MAX_LISTED]]
        if count > MAX_LISTED:
            lines.append(f"and {count - MAX_LISTED} more")
        super().__init__("\n".join([f"{source} has {' and '.join(counted)}", *lines]))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
