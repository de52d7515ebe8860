"""MySQL's own forms: what is not followed is undecided, and nothing of it is passed over."""

from __future__ import annotations

import pytest

from arrowproof.conformance.changes import Change, Opaque
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.writes import changes_of
from arrowproof.model.lifecycle import Dialect


def answers(sql: str) -> list[str]:
    """The verbs of the changes of jobs and the reasons of what is undecided, statement by statement."""
    found = []
    for statement in split_statements("a.sql", sql, Dialect.MYSQL):
        for answer in changes_of(statement, "jobs", ("id", "status")):
            if isinstance(answer, Change) and answer.table == "jobs":
                found.append(f"{statement.place.line}: {answer.verb}")
            elif isinstance(answer, Opaque):
                found.append(f"{statement.place.line}: {answer.reason}")
    return found


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("UPDATE notes n JOIN jobs j ON j.id = n.job SET j.status = 'a'", "an UPDATE of joined tables"),
        ("UPDATE notes, jobs SET jobs.status = 'a'", "an UPDATE of joined tables"),
        ("DELETE jobs FROM jobs JOIN notes ON 1", "a DELETE that names several tables"),
        ("DELETE FROM j USING jobs j JOIN notes", "a DELETE that names several tables"),
        ("INSERT jobs SET status = 'a'", "an INSERT without INTO"),
        ("REPLACE LOW_PRIORITY jobs VALUES (1)", "a REPLACE without INTO"),
        ("CREATE DEFINER=a@b PROCEDURE p() UPDATE jobs SET status = 'a'", "the body of this procedure"),
        ("CREATE TRIGGER t BEFORE UPDATE ON jobs FOR EACH ROW SET NEW.status = 'a'", "the body of this trigger"),
        ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM jobs", "the body of this event"),
        ("CREATE PROCEDURE p() BEGIN PREPARE s FROM @q; EXECUTE s; END", "the body of this procedure"),
    ],
)
def test_a_form_that_is_not_followed_is_undecided(sql: str, reason: str) -> None:
    (answer,) = answers(sql)
    assert reason in answer


@pytest.mark.parametrize(
    "sql", ["INSERT notes SET a = 1", "UPDATE notes, a SET a.b = 1", "CREATE PROCEDURE p() SELECT 1"]
)
def test_another_table_is_not_touched_by_them(sql: str) -> None:
    assert answers(sql) == []


@pytest.mark.parametrize("sign", ["$$", "//", ";;"])
def test_a_delimiter_ends_a_body_and_the_statements_behind_it_are_read(sign: str) -> None:
    body = "BEGIN\n IF a THEN\n  UPDATE jobs SET status = CASE b WHEN 1 THEN 'a' END;\n END IF;\n SELECT 1;\nEND"
    sql = f"DELIMITER {sign}\nCREATE PROCEDURE p()\n{body}{sign}\nDELIMITER ;\nDELETE FROM jobs;\n"
    first, second = answers(sql)
    assert first.startswith("2: the body of this procedure")
    assert second == "10: DELETE"


def test_what_stands_in_a_comment_that_mysql_runs_is_read() -> None:
    assert answers("/*!40000 DELETE FROM jobs */;\n/* DELETE FROM jobs */ SELECT 1;\n/*M! DELETE FROM jobs */") == [
        "1: DELETE",
        "3: DELETE",
    ]
