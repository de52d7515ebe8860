"""A database of one proof's own on a PostgreSQL server: made before it, dropped after it.

Nothing that was there is changed or removed. Where the role may not create databases, the one that the URL names is
taken, if it is empty; what the proof leaves in it then stays there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from arrowproof.conformance.postgresql_rows import open_server
from arrowproof.conformance.postgresql_server import OLDEST, shown_url
from arrowproof.conformance.trial_server import TRIAL, trial_server
from arrowproof.errors import InputError, MissingEnvironmentError

if TYPE_CHECKING:
    from psycopg import Connection

PREFIX = "arrowproof_"
"""What the name of a database begins with that a proof has made; one that was killed itself may leave it behind."""

_CHECK_INTERVAL = "100ms"
"""How often the server looks whether the client of a statement that is at work, or waits, is still there: so often does
it find out that a process was killed, and no statement of it is done after all.
"""
_OWN_THINGS = """SELECT what FROM (
    SELECT 'relation ' || oid::regclass::text, relnamespace, oid FROM pg_class WHERE relkind NOT IN ('i', 'I', 't')
    UNION ALL SELECT 'function ' || oid::regproc::text, pronamespace, oid FROM pg_proc
    UNION ALL SELECT 'type ' || oid::regtype::text, typnamespace, oid FROM pg_type WHERE typrelid = 0
    UNION ALL SELECT 'schema ' || nspname, oid, oid FROM pg_namespace WHERE nspname <> 'public'
) AS every (what, namespace, oid)
JOIN pg_namespace ON pg_namespace.oid = namespace
WHERE nspname !~ '^(pg_|information_schema$)' AND NOT EXISTS (
    SELECT FROM pg_depend WHERE objid = every.oid AND deptype = 'e')
ORDER BY 1 LIMIT 4"""


@contextmanager
def proof_database(server: str | None) -> Iterator[str | None]:
    """The URL of a new database on ``server``, a URL or the word for a server from a wheel; None where none is named.

    Raises: as :func:`own_database` and :func:`~arrowproof.conformance.trial_server.trial_server`.
    """
    if server is None:
        yield None
    elif server == TRIAL:
        with trial_server() as url, own_database(url) as database:
            yield database
    else:
        with own_database(server) as database:
            yield database


@contextmanager
def own_database(url: str) -> Iterator[str]:
    """The URL of a new database on the server of ``url``, which is dropped at the end with all connections to it.

    Raises:
        InputError: it is no URL, the server does not answer, or the role may not create databases and the one of the
            URL has something in it.
        MissingEnvironmentError: psycopg is missing, or the server is too old.
    """
    name = f"{PREFIX}{secrets.token_hex(6)}"
    with open_server(url) as connection:
        if connection.info.server_version < OLDEST * 10_000:
            version = connection.info.parameter_status("server_version")
            raise MissingEnvironmentError(
                f"{shown_url(url)} is PostgreSQL {version}, which a proof does not work on",
                f"name a server of PostgreSQL {OLDEST} or later",
            )
        is_made = _make(connection, name)
        if not is_made:
            _require_empty(connection, url)
    if not is_made:
        yield database_url(url)
        return
    try:
        yield database_url(url, name)
    finally:
        with open_server(url) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def database_url(url: str, database: str | None = None) -> str:
    """A server's URL as one that names everything as a parameter, with another database if one is given."""
    return _url(_parts(url) | ({"dbname": database} if database else {}))


def split_password(url: str) -> tuple[str, Mapping[str, str]]:
    """A URL without its password, and the environment that gives it: arguments of a process are read by everybody."""
    parts = _parts(url)
    password = parts.pop("password", None)
    return _url(parts), {} if password is None else {"PGPASSWORD": password}


def _parts(url: str) -> dict[str, str]:
    from psycopg.conninfo import conninfo_to_dict

    return {key: str(value) for key, value in conninfo_to_dict(url).items() if value not in (None, "")}


def _url(parts: Mapping[str, str]) -> str:
    return f"postgresql://?{urlencode(parts, quote_via=quote)}"


def _make(connection: Connection[Any], name: str) -> bool:
    """Whether the database could be made."""
    from psycopg.errors import InsufficientPrivilege, InvalidParameterValue

    try:
        connection.execute(f"CREATE DATABASE {name}")
    except InsufficientPrivilege:
        return False
    # Systems on which a server cannot look after its clients do not know the setting.
    with suppress(InvalidParameterValue):
        connection.execute(f"ALTER DATABASE {name} SET client_connection_check_interval TO '{_CHECK_INTERVAL}'")
    return True


def _require_empty(connection: Connection[Any], url: str) -> None:
    found = [what for (what,) in connection.execute(_OWN_THINGS)]
    if found:
        shown = ", ".join(found[:3]) + (" and more" if len(found) > 3 else "")
        raise InputError(
            f"{shown_url(url)} has something in it ({shown[:200]}), and its role may not create databases. A proof"
            " works in a database of its own: give the role CREATEDB, or name a database that is empty."
        )
