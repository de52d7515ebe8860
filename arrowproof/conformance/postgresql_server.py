"""The PostgreSQL server: what it is, and whether a commit that it reported outlives a power cut.

It is only asked for its settings; nothing is written. No message shows a password.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from arrowproof.errors import InputError, MissingEnvironmentError
from arrowproof.model.record import record

OLDEST = 14
"""The first version that ends the statement of a client that was killed (``client_connection_check_interval``)."""

_CONNECT_SECONDS = 10
_SETTINGS = ("server_version", "fsync", "synchronous_commit", "full_page_writes")
_WEAKENED = {
    "fsync": "a power cut can break the whole database",
    "synchronous_commit": "a power cut can lose what was reported as committed",
    "full_page_writes": "a power cut in the middle of writing a page can break it",
}


@record
class ServerFacts:
    """A server's version, as text and as PostgreSQL counts it (180004), and the settings that decide on durability."""

    version: str
    version_number: int
    settings: Mapping[str, str]

    @property
    def losses(self) -> Mapping[str, str]:
        """What can be lost, by the setting that is off.

        See https://www.postgresql.org/docs/current/runtime-config-wal.html for the settings.
        """
        return {name: loss for name, loss in _WEAKENED.items() if self.settings.get(name) == "off"}

    @property
    def is_old(self) -> bool:
        """Whether the bundled service cannot work on it."""
        return self.version_number < OLDEST * 10000


def read_server(url: str) -> ServerFacts:
    """Connect to a server, for ten seconds at most unless the URL says otherwise, and ask for its settings.

    Raises:
        InputError: the text is no PostgreSQL URL.
        MissingEnvironmentError: psycopg is missing, or the server does not answer or lets nobody in.
    """
    parts = _parts(url)
    import psycopg
    from psycopg.conninfo import make_conninfo

    is_bounded = "connect_timeout" in parts or "PGCONNECT_TIMEOUT" in os.environ
    try:
        bound = parts if is_bounded else {**parts, "connect_timeout": str(_CONNECT_SECONDS)}
        with psycopg.connect(make_conninfo("", **bound)) as connection:
            version, *settings = (connection.execute(f"SHOW {name}").fetchone() or ("",) for name in _SETTINGS)
            number = connection.info.server_version
    except psycopg.Error as error:
        # libpq tells no password in its messages, once the URL is one that it takes apart as it was meant.
        said = " ".join(str(error).split())[:500]
        raise MissingEnvironmentError(
            f"{shown_url(url)} cannot be asked: {said}",
            "start that server, or correct host, port, user, password or database name in --db",
        ) from error
    return ServerFacts(
        str(version[0]), number, dict(zip(_SETTINGS[1:], (str(value) for (value,) in settings), strict=True))
    )


def shown_url(url: str) -> str:
    """The URL for messages, without its password.

    Raises:
        InputError: the text is no PostgreSQL URL.
        MissingEnvironmentError: psycopg is missing.
    """
    parts = _parts(url)
    if "service" in parts:
        return f"postgresql://?service={parts['service']}"
    user = f"{parts['user']}@" if "user" in parts else ""
    server = f"{parts.get('host', 'localhost')}:{parts.get('port', '5432')}"
    return f"postgresql://{user}{server}/{parts.get('dbname', '')}"


def _parts(url: str) -> dict[str, str]:
    """The parts of a URL. What is none is not shown, since it may hold a password anywhere."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise MissingEnvironmentError(
            f"a PostgreSQL server needs psycopg, which cannot be imported: {error}",
            "pip install 'arrowproof[postgres]'",
        ) from error
    scheme, _, rest = url.partition("://")
    authority, _, name = rest.partition("?")[0].partition("/")
    try:
        if scheme.lower() not in ("postgresql", "postgres") or authority.count("@") > 1 or "@" in name:
            raise ProgrammingError
        parts = {key: str(value) for key, value in conninfo_to_dict(f"postgresql://{rest}").items()}
        if not all(port.isdecimal() for port in parts.get("port", "0").split(",")):
            raise ProgrammingError
    except (ProgrammingError, UnicodeError) as error:
        raise InputError(
            "--db is no PostgreSQL URL; write postgresql://USER@HOST:PORT/NAME, with each of @ : / ? # % in a name or"
            " password as %40 %3A %2F %3F %23 %25"
        ) from error
    return parts
