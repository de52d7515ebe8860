from __future__ import annotations

import subprocess
import sys

import pytest

from arrowproof.service.address import Address
from arrowproof.service.refusal import RefusedError

SECRET = "sesame-7331"


@pytest.mark.parametrize("given", ["postgresql://h/n", "postgres://u@h/n", "postgresql:///n?host=/run"])
def test_a_postgresql_url_is_a_server(given):
    assert Address(given).is_postgresql


@pytest.mark.parametrize("given", ["POSTGRESQL://u@h/n", "Postgres://u@h/n"])
def test_its_scheme_may_be_written_in_large_letters(given):
    assert Address(given).is_postgresql
    assert Address(given).url == "postgresql://u@h/n"
    assert str(Address(given)) == "'postgresql://u@h:5432/n'"


@pytest.mark.parametrize(
    "given",
    [
        "./finale.sqlite3",
        ":memory:",
        "postgresql",
        "host=h dbname=n",
        "./mysql://a:b@h/n",
        "/my password=x/f",
        "a:b/c@d",
    ],
)
def test_everything_else_is_a_file(given):
    assert not Address(given).is_postgresql
    assert str(Address(given)) == repr(given)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (f"postgresql://me:{SECRET}@db.example:5433/notes", "'postgresql://me@db.example:5433/notes'"),
        (f"postgresql://me@h/n?password={SECRET}", "'postgresql://me@h:5432/n'"),
        (f"postgresql:///n?user=me&password={SECRET}&host=/run", "'postgresql://me@/run:5432/n'"),
        (f"postgresql://me:{SECRET}@a:1,b:2/n", "'postgresql://me@a,b:1,2/n'"),
        (f"postgresql://?service=notes&password={SECRET}", "'postgresql://?service=notes'"),
        (f"postgresql://me:{SECRET}?b@h/n", "'postgresql://me@h:5432/n'"),
        (f"postgresql://h/n?sslpassword={SECRET}", "'postgresql://h:5432/n'"),
    ],
)
def test_an_address_is_shown_without_its_password(given, shown):
    address = Address(given)
    assert str(address) == shown
    assert SECRET not in repr(address)


@pytest.mark.parametrize(
    "given",
    [
        f"postgresql://me:{SECRET}@h:port/n",
        f"postgresql://me:{SECRET}@h/n?no_such_option=1",
        f"postgresql://me:{SECRET}%zz@h/n",
        # A sign in the password that ends it for libpq: the rest would be taken for a host, a port or a database.
        f"postgresql://me:a@{SECRET}@h/n",
        f"postgresql://me:{SECRET}/b@h/n",
        f"postgresql://me:12/{SECRET}@h/n",
    ],
)
def test_what_is_no_url_is_refused_and_its_password_not_shown(given):
    with pytest.raises(RefusedError, match="write postgresql://USER@HOST:PORT/NAME") as refused:
        Address(given).open()
    assert SECRET not in str(refused.value)
    assert SECRET not in str(Address(given))
    # Nor by way of the error that it came from.
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


@pytest.mark.parametrize("create", [True, False], ids=["server", "worker"])
def test_a_server_that_cannot_be_reached_is_refused_without_the_password(create):
    address = Address(f"postgresql://me:{SECRET}@127.0.0.1:1/notes")
    with pytest.raises(
        RefusedError, match=r"^'postgresql://me@127.0.0.1:1/notes' cannot be opened: .*refused"
    ) as refused:
        address.open(create=create)
    assert SECRET not in str(refused.value)


def test_a_host_that_does_not_exist_is_refused_without_the_password():
    with pytest.raises(RefusedError, match="cannot be opened") as refused:
        Address(f"postgresql://me:{SECRET}@no-such-host.invalid/notes").open()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (f"postgresql+psycopg://u:{SECRET}@h/n", "'postgresql+psycopg:…'"),
        (f"mysql://u:{SECRET}@h/n", "'mysql:…'"),
        (f"MySQL://u:{SECRET}@h/n", "'MySQL:…'"),
        (f"postgresql:/u:{SECRET}@h/n", "'postgresql:…'"),
        (f" postgresql://u:{SECRET}@h/n", "'postgresql:…'"),
        (f"jdbc:postgresql://h/n?password={SECRET}", "'…'"),
        (f"file:///{SECRET}", "'file:…'"),
        (f"host=h user=u password={SECRET}", "'…'"),
        (f"host=h Password = '{SECRET}'", "'…'"),
        (f"u:{SECRET}@h/n", "'…'"),
    ],
)
def test_another_url_is_refused_and_nothing_of_it_shown_but_its_scheme(given, shown):
    with pytest.raises(RefusedError) as refused:
        Address(given)
    assert str(refused.value) == (
        f"{shown} is no database that is known here: give --db the path of a SQLite file (after ./ if it looks like "
        "something else), or postgresql://USER@HOST:PORT/NAME"
    )


COMMANDS = {"server": ["--port", "0"], "worker": [], "retention": ["--keep-finished", "0"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_another_url_without_its_password(command):
    url = f"mysql://u:{SECRET}@h/n"
    module = [sys.executable, "-m", f"arrowproof.service.{command}", "--db", url]
    ended = subprocess.run([*module, *COMMANDS[command]], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"{command}: 'mysql:…' is no database")
    assert SECRET not in ended.stderr


WITHOUT_PSYCOPG = """
import sys
sys.modules["psycopg"] = None
from arrowproof.service.{} import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_without_psycopg_every_command_refuses_a_server_with_the_way_out(command):
    run = [sys.executable, "-c", WITHOUT_PSYCOPG.format(command), "--db", f"postgresql://u:{SECRET}@h/n"]
    ended = subprocess.run([*run, *COMMANDS[command]], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(
        f"{command}: a PostgreSQL database needs psycopg: pip install 'arrowproof[postgres]' ("
    )
    assert "Traceback" not in ended.stderr
    assert SECRET not in ended.stderr


def test_without_psycopg_an_address_is_shown_without_its_password_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert str(Address(f"postgresql://u:{SECRET}@h/n")) == "'postgresql://…'"
