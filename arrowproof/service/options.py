"""The options: what a command says of itself, what server and worker share, and what a number of theirs may be."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable

from arrowproof.service.database import BUSY_SECONDS

LONGEST_SECONDS = 1_000_000.0
LARGEST_COUNT = 2**31 - 1
REQUEST_SECONDS = 10.0


def whole_number(lowest: int, highest: int = LARGEST_COUNT) -> Callable[[str], int]:
    """A parser of whole numbers from ``lowest`` to ``highest``, for argparse."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and lowest <= int(text) <= highest):
            raise ArgumentTypeError(f"{text!r} is no whole number from {lowest} to {highest}")
        return int(text)

    return parse


def seconds_up_to(longest: float) -> Callable[[str], float]:
    """A parser of times in seconds from 0 to ``longest``, for argparse."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        # Written so that NaN is refused too.
        if not 0 <= value <= longest:
            raise ArgumentTypeError(f"{text!r} is no time in seconds from 0 to {longest:.0f}")
        return value

    return parse


seconds = seconds_up_to(LONGEST_SECONDS)


def positive_seconds(text: str) -> float:
    """A time in seconds that is more than none, for argparse."""
    value = seconds(text)
    if value == 0:
        raise ArgumentTypeError(f"{text!r} leaves no time; give more than 0 seconds")
    return value


def command_parser(module: str, purpose: str, *examples: str) -> ArgumentParser:
    """The parser of a command, whose help ends with ``examples``: arguments that it may be given as they stand."""
    program = f"python -m arrowproof.service.{module}"
    shown = "".join(f"\n  {program} {example}" for example in examples)
    return ArgumentParser(
        prog=program,
        description=purpose,
        # As it is written: an example that is broken across lines cannot be copied.
        formatter_class=RawDescriptionHelpFormatter,
        epilog=f"examples:{shown}",
    )


def add_database_options(parser: ArgumentParser, what: str) -> None:
    """Add ``--db`` and ``--busy-timeout``. ``what`` says in the help what is expected of a SQLite file."""
    parser.add_argument(
        "--db", required=True, metavar="DATABASE", help=f"a SQLite file ({what}), or postgresql://USER@HOST:PORT/NAME"
    )
    parser.add_argument(
        "--busy-timeout", type=seconds, default=BUSY_SECONDS, metavar="S", help="seconds to wait for a lock (5)"
    )
