"""What a trigger looks at is read from its words, and everything that is not known to be of the row counts."""

from __future__ import annotations

import pytest

from arrowproof.conformance.grammar import POSTGRESQL
from arrowproof.conformance.guard_reads import beyond_the_row, skips_what_follows, sqlite_trigger_beyond
from arrowproof.model.lifecycle import Binding

BINDING = Binding("jobs", ("id",), "status", watch=("attempts",))

REFUSES = "BEGIN SELECT RAISE(ABORT, 'no'); END"


@pytest.mark.parametrize(
    ("trigger", "beyond"),
    [
        (f"AFTER UPDATE ON jobs WHEN OLD.status = 'done' {REFUSES}", None),
        (f"AFTER UPDATE OF Status ON jobs WHEN old.[STATUS] IS NOT new.status {REFUSES}", None),
        (f"BEFORE DELETE ON jobs {REFUSES}", None),
        (f"AFTER UPDATE ON jobs WHEN OLD.id IS NOT NEW.id OR OLD.attempts <> NEW.attempts {REFUSES}", None),
        ("BEFORE INSERT ON jobs BEGIN SELECT CASE WHEN typeof(NEW.status) = 'x' THEN RAISE(FAIL, '') END; END", None),
        ("BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, NEW.id || NEW.note) WHERE NEW.status = 'x'; END", None),
        (f"AFTER UPDATE OF note ON jobs {REFUSES}", "updates that name other columns than the state"),
        (f"AFTER UPDATE ON jobs WHEN OLD.note = 'x' {REFUSES}", "the column note"),
        (f"AFTER UPDATE ON jobs WHEN OLD.id = 3 {REFUSES}", "the column id"),
        (f"AFTER UPDATE ON jobs WHEN OLD.id = NEW.attempts {REFUSES}", "the column id"),
        (f"AFTER UPDATE ON jobs WHEN OLD.note IS NOT NEW.note {REFUSES}", "the column note"),
        (f"AFTER UPDATE ON jobs WHEN NEW.status IN allowed {REFUSES}", "the table allowed"),
        (f"AFTER UPDATE ON jobs WHEN NEW.status IN text {REFUSES}", "the table text"),
        (f"AFTER UPDATE ON jobs WHEN NEW.status NOT IN (SELECT name FROM states) {REFUSES}", "the table states"),
        (f"AFTER UPDATE ON jobs WHEN random() > 0 {REFUSES}", "random"),
        (f"AFTER UPDATE ON jobs WHEN CURRENT_DATE > '2026' {REFUSES}", "CURRENT_DATE"),
        (f"AFTER UPDATE ON jobs WHEN CASE WHEN OLD.status = 'a' THEN NEW.note = 'x' END {REFUSES}", "the column note"),
        ("AFTER UPDATE ON jobs BEGIN UPDATE log SET n = n + 1; SELECT RAISE(ABORT, 'no'); END", "the table log"),
        ("AFTER UPDATE ON jobs BEGIN SELECT RAISE(ABORT, (SELECT text FROM said)); END", "the table said"),
        ("AFTER UPDATE ON jobs BEGIN INSERT INTO log VALUES (1); END", "the table log"),
    ],
)  # fmt: skip
def test_a_trigger_of_sqlite_is_of_the_row_or_is_told_what_else_it_looks_at(trigger: str, beyond: str | None) -> None:
    assert sqlite_trigger_beyond(f"CREATE TRIGGER IF NOT EXISTS it {trigger}", BINDING) == beyond


@pytest.mark.parametrize(
    ("condition", "body", "beyond"),
    [
        ("WHEN (((old.status)::text IS DISTINCT FROM (new.status)::text))", "RETURN NULL;", None),
        ("WHEN ((old.status = 'done'::app.mood))", "RETURN NEW;", None),
        ("", "IF NEW.status COLLATE \"C\" = ANY (ARRAY['a', 'b']) THEN RETURN OLD; END IF;", None),
        ("", "NEW.changed_at := now(); RETURN NEW;", None),
        ("", "NEW.status := 'done'; RETURN NEW;", "how it changes the column status"),
        ("", "IF CASE WHEN true THEN NEW.note = 'x' ELSE false END THEN RETURN NULL; END IF;", "the column note"),
        ("WHEN ((old.* IS DISTINCT FROM new.*))", "RETURN NULL;", "the column *"),
        ("WHEN ((old.status OPERATOR(app.=) 'x'::text))", "RETURN NULL;", "OPERATOR"),
        ("", "IF may_move(OLD, NEW) THEN RETURN NULL; END IF;", "may_move"),
        ("", 'IF "lower"(OLD.status) = 1 THEN RETURN NULL; END IF;', '"lower"'),
        ("", "IF quote(OLD.status) = '1' THEN RETURN NULL; END IF;", "quote"),
        ("", "IF OLD.\"Status\" = 'x' THEN RETURN NULL; END IF;", "the column Status"),
        ("", "RAISE EXCEPTION '% of %', OLD.status, NEW.note USING ERRCODE = 'check_violation';", None),
        ("", "RAISE EXCEPTION '%', (SELECT max(id) FROM jobs);", "the table jobs"),
        ("", "PERFORM 1 FROM settings; RETURN NULL;", "the table settings"),
        ("", "RAISE EXCEPTION 'no'; EXCEPTION WHEN others THEN RETURN NULL;", "EXCEPTION"),
    ],
)
def test_a_trigger_of_postgresql_is_of_the_row_or_is_told_what_else_it_looks_at(
    condition: str, body: str, beyond: str | None
) -> None:
    assert beyond_the_row(condition, f"BEGIN {body} END", BINDING, POSTGRESQL) == beyond


def test_only_what_fires_after_a_change_can_let_it_stand_unseen() -> None:
    ignores = "UPDATE ON jobs BEGIN SELECT RAISE(IGNORE); END"
    assert skips_what_follows(f"CREATE TRIGGER it AFTER {ignores}")
    assert not skips_what_follows(f"CREATE TRIGGER it BEFORE {ignores}")
    assert not skips_what_follows(f"CREATE TRIGGER it AFTER UPDATE ON jobs {REFUSES}")
