"""The tokens: which clients the server knows, and the command that makes a new one.

Usage: ``python -m arrowproof.service.tokens NAME`` prints a new token for a client and the line that stands for it in
the file that the server is given by ``--tokens``.

The file is text in UTF-8. A line holds the name of a client and the SHA-256 of its token in hexadecimal digits, with
white space between; empty lines and lines that begin with ``#`` say nothing. A name has 1 to 64 letters, digits and
``._-`` of ASCII. A client may have several tokens, so that an old one can be replaced without a pause; no token may
stand for two clients. The file holds no secret, as long as tokens are as long and as random as the command makes them;
but who can write it can let anybody in, and so a file that others can write is refused.

The file is read once, when the server starts.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before the other imports, which take their time.
    from arrowproof.service.beginning import begin

    begin()

import argparse
import os
import re
import secrets
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Final

from arrowproof.service.options import command_parser
from arrowproof.service.refusal import RefusedError
from arrowproof.service.streams import say

LARGEST_FILE_BYTES: Final = 1_000_000
_LINE = re.compile(r"([A-Za-z0-9._-]{1,64})[ \t]+([0-9a-f]{64})")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Tokens:
    """The known tokens: the name of the client by the SHA-256 of its token, in hexadecimal digits."""

    clients: Mapping[str, str]

    def client_of(self, token: str) -> str | None:
        """The name of the client that the token was given to, or None.

        Every known digest is looked at, and each for as long as the others, so that time tells nothing of them.
        """
        digest = token_digest(token)
        found = None
        for known, name in self.clients.items():
            if compare_digest(known, digest):
                found = name
        return found


def token_digest(token: str) -> str:
    """What the file holds of a token."""
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def read_tokens(file: Path) -> Tokens:
    """The tokens of a file.

    Raises:
        RefusedError: it cannot be read, others can write it, a line is not understood, or there is no token in it.
    """
    shown = repr(str(file))
    try:
        mode, content = _read(file, shown)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        raise RefusedError(f"--tokens {shown} cannot be read: {error}") from error
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise RefusedError(f"--tokens {shown} can be written by others, who could let anybody in: chmod go-w {shown}")
    if len(content) > LARGEST_FILE_BYTES:
        raise RefusedError(f"--tokens {shown} is larger than {LARGEST_FILE_BYTES} bytes")
    return Tokens(_parse(text, shown))


def _read(file: Path, shown: str) -> tuple[int, bytes]:
    """The mode and the first bytes of one and the same file. A FIFO that nobody writes to is not waited for."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise RefusedError(f"--tokens {shown} is no file")
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            return mode, opened.read(LARGEST_FILE_BYTES + 1)
    finally:
        os.close(descriptor)


def _parse(text: str, shown: str) -> dict[str, str]:
    clients: dict[str, str] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        # What the line holds is not shown: it may be a token itself, put there by mistake.
        if match is None:
            raise RefusedError(
                f"--tokens {shown}, line {number}: write NAME and the 64 hexadecimal digits of its token's SHA-256; "
                "python -m arrowproof.service.tokens NAME prints such a line"
            )
        name, digest = match.groups()
        if digest in clients:
            raise RefusedError(
                f"--tokens {shown}, line {number}: this token stands there before; remove one of the two"
            )
        clients[digest] = name
    if not clients:
        raise RefusedError(
            f"--tokens {shown} holds no token; python -m arrowproof.service.tokens NAME prints a line for it"
        )
    return clients


def make_token() -> str:
    """A new token: 256 random bits, with a beginning that tells what it is for when it turns up somewhere."""
    return f"notes_{secrets.token_urlsafe(32)}"


def _name(text: str) -> str:
    if _NAME.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no name: 1 to 64 letters, digits and ._- of ASCII")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; gives the exit status."""
    parser = command_parser("tokens", "Make a token for a client, and the line for the file of --tokens.", "alice")
    parser.add_argument("name", type=_name, metavar="NAME", help="of the client")
    name = parser.parse_args(arguments).name
    token = make_token()
    # Nothing else came of it: a token that nobody saw is none.
    return 0 if say(f"token: {token}\nline: {name} {token_digest(token)}") else 1


if __name__ == "__main__":
    sys.exit(main())
