"""A service that beats by itself, every few milliseconds in a thread of its own, is no service that works by halves."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.conformance.own_database import own_database
from arrowproof.errors import DOES_NOT_HOLD, HOLDS
from tests.examples.copies import copy_example, drive_copy
from tests.mutants.table import Change

THREAD = """
    def beat() -> None:
        with psycopg.connect(os.environ["PAYMENTS_URL"], autocommit=True) as mine:
            while True:
                mine.execute("SELECT beat()")
                time.sleep(0.005)

    threading.Thread(target=beat, daemon=True).start()
    with psycopg.connect("""
FUNCTION = """
CREATE FUNCTION beat() RETURNS void LANGUAGE sql AS $$
    UPDATE payments SET beats = beats + 1 WHERE state = 'capturing';
$$;

-- created -> requested
"""
CHANGES = [
    ("lifecycle.json", '"refunded"]}', '"refunded", "beats"]}'),
    (
        "schema.sql",
        "    tries integer NOT NULL DEFAULT 0,\n",
        "    tries integer NOT NULL DEFAULT 0,\n    beats bigint DEFAULT 0,\n",
    ),
    ("schema.sql", "\n-- created -> requested\n", FUNCTION),
    ("payment_client.py", "import sys\n", "import sys\nimport threading\nimport time\n"),
    ("payment_client.py", "\n    with psycopg.connect(", THREAD),
]
NAMED = ("payment_driver.py", "    def start_on(", '    beats = ("beats", "changed_at")\n\n    def start_on(')
GOALS = ["capturing -> captured", "created -> requested"]


@pytest.mark.parametrize(("changes", "status"), [([*CHANGES, NAMED], HOLDS), (CHANGES, DOES_NOT_HOLD)])
def test_a_service_that_beats_survives_its_kills_where_the_driver_names_what_beats(
    changes: list[tuple[str, str, str]], status: int, tmp_path: Path, postgresql: str
) -> None:
    model = copy_example("plpgsql", tmp_path, *(Change("beat", "heartbeat", *change) for change in changes))
    with own_database(postgresql) as database:
        judgement = drive_copy(model, GOALS, kills=True, database=database)
    assert judgement.status == status, judgement
    assert all("a touch in capturing" in reason for reason in judgement.reasons[:1]), judgement
