"""`prove --db`: the bundled service is proven on a real PostgreSQL, with every kill, and nothing of it stays there."""

from __future__ import annotations

import json
from collections import Counter

import psycopg
import pytest


def databases(server: str) -> list[str]:
    with psycopg.connect(server) as connection:
        return [name for (name,) in connection.execute("SELECT datname FROM pg_database ORDER BY 1")]


@pytest.mark.timeout(600)
def test_the_bundled_service_is_proven_with_every_kill_on_postgresql(arrowproof, tmp_path, postgresql):
    before = databases(postgresql)
    result = arrowproof("prove", "notes", "--out", "proof", "--db", postgresql, timeout=560)
    assert result.status == 0, result.out + result.err
    assert result.out.startswith("Proven: Note job, 13 of 13 transitions walked\n")
    assert "50 of 50 kills survived, 17 of 17 illegal events without effect, 0 sneak paths" in result.out
    evidence = json.loads((tmp_path / "proof" / "evidence.json").read_text())
    assert evidence["environment"]["database"] == "PostgreSQL"
    read = {source["file"].rpartition("/")[0] for source in evidence["sources"]}
    assert read == {"", "sql", "sql/postgresql"}
    assert databases(postgresql) == before
    blows = Counter(kill.get("blow", "process killed") for item in evidence["transitions"] for kill in item["kills"])
    assert blows == {
        "process killed": 26,
        "connection ended by the server": 6,
        "connection lost": 12,
        "connection lost, commit late": 6,
    }
    rows = [row for item in evidence["transitions"] for walk in item["walks"] for row in walk["journal"]]
    by_name = {row["written"]["name"]: row["query"] for row in rows if "written" in row}
    assert "UPDATE jobs\nSET status = 'completed'" in by_name["complete_job"]
    assert {row["written"]["file"] for row in rows if row["kind"] == "changed"} == {
        "sql/server.sql",
        "sql/worker.sql",
        "sql/retention.sql",
    }


def test_a_driver_that_knows_no_server_is_said_so_and_no_database_stays(arrowproof, tmp_path, postgresql):
    (tmp_path / "old.py").write_text(
        "from arrowproof.conformance.bundled import NotesDriver\n"
        "class Old:\n"
        "    def __init__(self):\n"
        "        self._driver = NotesDriver()\n"
        "    def __getattr__(self, name):\n"
        "        if name == 'start_on':\n"
        "            raise AttributeError(name)\n"
        "        return getattr(self._driver, name)\n"
    )
    before = databases(postgresql)
    result = arrowproof("prove", "notes", "--driver", "old:Old", "--db", postgresql)
    assert result.status == 2
    assert "Old cannot start its service on a PostgreSQL database: it has no method start_on(url, folder)" in result.err
    assert databases(postgresql) == before


def test_a_database_that_cannot_be_asked_is_refused_without_its_password(arrowproof):
    result = arrowproof("prove", "notes", "--db", "postgresql://me:secret@127.0.0.1:1/notes")
    assert result.status == 2
    assert "me@127.0.0.1:1/notes" in result.err
    assert "secret" not in result.out + result.err
