"""The server: the notes API over HTTP.

Usage: ``python -m arrowproof.service.server --db DATABASE [--host 127.0.0.1] [--port 8765] [--tokens FILE]``

Without tokens it listens on a loopback address only. ``--max-attempts`` is stored with each new job.

Once it accepts connections it prints one JSON object on one line: ``ready`` (its URL; with ``--port 0`` the system
chose the port), ``pid``, and what the database is: versions, whether SQLite has the WAL-reset bug, and how commits
reach the disk.

Exit status: 0 ended by SIGTERM; 2 refused: usage, database, address or hold point; 1 the database failed;
130 interrupted.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before the other imports, which take their time.
    from arrowproof.service.beginning import begin

    begin(terminated=0)

import argparse
import json
import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

from arrowproof.service.address import Address, MovedError
from arrowproof.service.beginning import loading
from arrowproof.service.clock import database_clock, timestamp
from arrowproof.service.command import exit_status
from arrowproof.service.database import Database
from arrowproof.service.durability import durability_warnings
from arrowproof.service.hold import SERVER_POINTS, hold_from_environment
from arrowproof.service.log_line import readable
from arrowproof.service.open_files import room_for_clients
from arrowproof.service.options import (
    REQUEST_SECONDS,
    add_database_options,
    command_parser,
    positive_seconds,
    whole_number,
)
from arrowproof.service.pool import MONITOR_CONNECTIONS, MOST_CONNECTIONS, USUAL_CONNECTIONS, Bounds, DatabasePool
from arrowproof.service.refusal import RefusedError
from arrowproof.service.streams import complain
from arrowproof.service.tokens import read_tokens

MOST_ATTEMPTS = 1_000_000
"""Of a job in all, as it is accepted or retried; PostgreSQL counts in 32 bits."""
_GRACE_SECONDS = 2.0
_UNREAD_BYTES = 131_072


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; gives the exit status."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _exit_quietly)
    logging.basicConfig(handlers=[_Telling()])
    return exit_status("server", lambda: _serve(options))


def _exit_quietly(_: int, __: FrameType | None) -> None:
    # Uvicorn catches the signal itself, ends its requests, and then raises it again for this handler.
    sys.exit(0)


class _Telling(logging.Handler):
    """Tells what the parts of the service and the web warn of: the time, one line, and the traceback of a bug."""

    def emit(self, record: logging.LogRecord) -> None:
        complain(f"{timestamp(datetime.now(UTC))} server: {readable(record.getMessage().strip())}")
        if record.exc_info:
            complain("".join(traceback.format_exception(*record.exc_info)))


def _serve(options: argparse.Namespace) -> None:
    hold = hold_from_environment(os.environ, SERVER_POINTS)
    tokens = None if options.tokens is None else read_tokens(options.tokens)
    room = room_for_clients(options.connections + MONITOR_CONNECTIONS)
    with _listen(options.host, options.port, only_this_machine=tokens is None) as listener:
        address = Address(options.db, options.busy_timeout, options.journal_mode)
        with closing(address.open(create=True)) as made:
            facts = made.facts
        for warning in durability_warnings(facts):
            complain(f"server: warning: {warning}")
        # Late, because it takes ten times as long as all else here: who is refused does not wait for it.
        with loading(terminated=0):
            from arrowproof.service.settings import Settings
            from arrowproof.service.web import serve

        with (
            closing(_pool(address, options.connections)) as pool,
            closing(_pool(address, MONITOR_CONNECTIONS)) as monitors,
        ):
            clock, patience = database_clock, options.request_timeout
            # A request that waits for a connection and then for a lock has its full time to be answered.
            grace = 2 * options.busy_timeout + _GRACE_SECONDS
            settings = Settings(pool, monitors, options.max_attempts, clock, hold, patience, tokens, grace, room)
            serve(settings, listener, _announcement(listener, facts), grace)


def _pool(address: Address, most: int) -> DatabasePool:
    def open_one() -> Database:
        try:
            return address.open(rings=True)
        except RefusedError as error:
            # It was there when the server started, and who starts another finds no way out.
            if address.is_postgresql or address.file() is not None:
                raise
            raise MovedError(
                f"{address} is not there any more: move it back, or end this server and start it again, "
                "which makes a new, empty one"
            ) from error

    return DatabasePool(open_one, address.file, Bounds(most, address.busy_seconds))


def _listen(host: str, port: int, *, only_this_machine: bool) -> socket.socket:
    """A listening socket; the system chooses the port when it is 0."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        if only_this_machine and not ip_address(str(address[0]).partition("%")[0]).is_loopback:
            raise RefusedError(
                f"on {host!r} others could reach the service, and without --tokens anybody may do anything: give "
                "--tokens FILE (python -m arrowproof.service.tokens NAME prints a line for it), or --host 127.0.0.1"
            )
        listener = socket.socket(family, kind, protocol)
        try:
            # Else the port of a server that has just ended cannot be used for a minute.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # What the system keeps for a client that does not read; what it accepts has the same limit.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)
            listener.bind(address)
            listener.listen(socket.SOMAXCONN)
        except BaseException:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        raise RefusedError(f"cannot listen on {host!r}, port {port}: {error}; give another --host or --port") from error
    return listener


def _announcement(listener: socket.socket, facts: Mapping[str, str]) -> str:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if listener.family == socket.AF_INET6 else host
    return json.dumps({"ready": f"http://{shown}:{port}", "pid": os.getpid(), **facts})


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "server",
        "Accept notes over HTTP.",
        "--db ./notes.sqlite3",
        "--db postgresql://notes@db.example/notes --host 0.0.0.0 --tokens ./tokens",
    )
    add_database_options(parser, "made when missing")
    parser.add_argument(
        "--journal-mode", choices=("wal", "truncate"), help="of a SQLite file; WAL where this SQLite is safe with it"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (127.0.0.1); others than loopback need --tokens"
    )
    parser.add_argument(
        "--tokens", type=Path, metavar="FILE", help="the clients that may ask, and the SHA-256 of their bearer tokens"
    )
    parser.add_argument("--port", type=whole_number(0, 65535), default=8765, metavar="N", help="0: any free one (8765)")
    parser.add_argument(
        "--max-attempts",
        type=whole_number(1, MOST_ATTEMPTS),
        default=3,
        metavar="N",
        help="attempts at each new job, in all (3)",
    )
    parser.add_argument(
        "--connections",
        type=whole_number(1, MOST_CONNECTIONS),
        default=USUAL_CONNECTIONS,
        metavar="N",
        help=f"to the database at most, and {MONITOR_CONNECTIONS} more for /health and /metrics ({USUAL_CONNECTIONS})",
    )
    parser.add_argument(
        "--request-timeout",
        type=positive_seconds,
        default=REQUEST_SECONDS,
        metavar="S",
        help="seconds for the head of a request to come, for its body, and for its answer to be taken (10)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
