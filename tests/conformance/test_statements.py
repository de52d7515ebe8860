from __future__ import annotations

import pytest

from arrowproof.conformance.statements import MAX_INDENT, SqlStatement, split_statements
from arrowproof.model.lifecycle import Dialect


def split(text: str) -> list[SqlStatement]:
    return list(split_statements("f.sql", text))


def texts(text: str) -> list[str]:
    return [statement.sql for statement in split(text)]


def test_a_statement_bears_the_line_of_its_first_word_and_the_name_of_its_query() -> None:
    text = "-- name: one^\n-- why\n\n  SELECT 1;\nSELECT 2;\n-- name: two :one\nSELECT\n3"
    found = [(each.place.line, each.place.name, each.sql) for each in split(text)]
    assert found == [(4, "one", "SELECT 1"), (5, None, "SELECT 2"), (7, "two", "SELECT\n3")]


def test_a_name_ends_with_its_first_statement_or_with_its_whole_trigger() -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM c; END;"
    text = f"-- name: one\n;\n{trigger}\nSELECT 1;\n-- name: two\n.read x\nSELECT 2"
    assert [each.place.name for each in split(text)] == ["one", "one", "one", None, "two", None]


def test_the_name_of_the_next_query_ends_a_statement_without_a_semicolon() -> None:
    assert texts("UPDATE a SET b = 1\n-- name: next\nDELETE FROM a") == ["UPDATE a SET b = 1", "DELETE FROM a"]


def test_a_comment_behind_code_names_nothing() -> None:
    (statement,) = split("UPDATE a -- name: not\nSET b = 1")
    assert statement.place.name is None


@pytest.mark.parametrize(
    "quoted", ["'a;b'", "'it''s;'", '"a;""b"', "`a;``b`", "[a;'b]", "/* ; */", "-- ;\n", "/* /* ; */", "x'3b'", "'\\'"]
)
def test_a_semicolon_inside_quotes_or_comments_ends_nothing(quoted: str) -> None:
    assert texts(f"SELECT {quoted} FROM t; SELECT 2") == [f"SELECT {quoted} FROM t", "SELECT 2"]


@pytest.mark.parametrize("space", [" ", "\t", "\n", "\r\n", "\r", "\f", " \v", " \ufeff\ufeff"])
def test_white_space_is_what_sqlite_takes_for_it(space: str) -> None:
    (statement,) = split(f"{space}DELETE{space}FROM{space}t{space};{space}")
    assert ([token.text for token in statement.tokens], statement.problem) == (["DELETE", "FROM", "t"], None)
    assert statement.place.line == 1 + space.count("\n")


def test_a_keyword_is_a_keyword_in_ascii_alone() -> None:
    (statement,) = split("\u017felect \u0131n")
    assert [token.word for token in statement.tokens] == ["\u017fELECT", "\u0131N"]


def test_block_comments_do_not_nest_as_in_sqlite() -> None:
    assert texts("/* a /* b */ DELETE FROM t; /* no end DELETE FROM t") == ["DELETE FROM t"]


def test_the_statements_of_a_trigger_stand_alone_and_know_their_trigger() -> None:
    text = """CREATE TEMP TRIGGER IF NOT EXISTS "tr" AFTER UPDATE OF a ON main.[my jobs] WHEN NEW.a = 1 BEGIN
  UPDATE jobs SET a = CASE WHEN 1 THEN 2 END;
  -- name: not_here
  DELETE FROM jobs;
END;
SELECT 1"""
    header, update, delete, after = split(text)
    assert header.sql.endswith("BEGIN")
    assert (update.place.line, delete.place.line, after.place.line) == (2, 4, 6)
    assert {each.trigger and (each.trigger.name, each.trigger.table) for each in (header, update, delete)} == {
        ("tr", "my jobs")
    }
    assert (after.trigger, delete.place.name) == (None, None)


def test_begin_and_end_of_a_transaction_are_statements() -> None:
    assert texts("BEGIN; DELETE FROM t; END;") == ["BEGIN", "DELETE FROM t", "END"]


def test_a_trigger_that_never_ends_is_a_problem() -> None:
    assert "END is missing" in (split("CREATE TRIGGER a AFTER INSERT ON b BEGIN DELETE FROM c;")[-1].problem or "")


@pytest.mark.parametrize(
    "text", ["SELECT 'a''b; DELETE FROM t", 'UPDATE "t SET a = 1', "UPDATE {t} SET a = 1", "SELECT \0"]
)
def test_text_that_sqlite_cannot_read_is_a_problem_and_is_not_dropped(text: str) -> None:
    (statement,) = split(text)
    assert "cannot read" in (statement.problem or "")
    assert statement.sql == text


def test_a_dollar_quoted_body_is_one_problem_and_ends_where_its_tag_does() -> None:
    first, second = split("DO $a$ BEGIN; DELETE FROM t; $b$ $a$; SELECT 2")
    assert "cannot read" in (first.problem or "")
    assert (second.sql, second.problem) == ("SELECT 2", None)


def test_a_command_of_the_shell_takes_its_line_alone() -> None:
    first, second = split(".read other.sql\nSELECT 1")
    assert ("shell" in (first.problem or ""), first.sql) == (True, ".read other.sql")
    assert second.sql == "SELECT 1"
    assert split(" " * (MAX_INDENT + 1) + ".read x")[0].problem is None


@pytest.mark.parametrize("name", ["-- name: take", "-- :name take :! :n", "--name: take :one"])
def test_a_query_is_named_as_its_tool_names_it(name: str) -> None:
    first, second = split(f"SELECT 1\n{name}\nSELECT 2")
    assert (first.place.name, second.place.name) == (None, "take")


@pytest.mark.parametrize(
    "parameter", ["${a}", "{{ a }}", "'${a}'", "'x_{{ a }}'", '"${a}"', "[${a}]", "'<%= a %>'", "'$(a)'"]
)
def test_a_placeholder_of_a_template_is_a_parameter_also_in_quotes(parameter: str) -> None:
    (statement,) = split(f"SELECT {parameter}, 1")
    assert [token.kind.value for token in statement.tokens][:3] == ["word", "parameter", "operator"]


def test_a_body_of_a_function_keeps_its_strings() -> None:
    text = "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM jobs WHERE a = ${a}'; SELECT '{{1,2},{3}}'"
    _, body, after = split_statements("a.sql", text, Dialect.POSTGRESQL)
    assert body.sql.startswith("DELETE FROM jobs")
    assert after.tokens[1].kind.value == "text"


@pytest.mark.parametrize("parameter", [":'a'", ':"a"', ":a"])
def test_a_variable_of_psql_is_a_parameter_and_a_slice_is_none(parameter: str) -> None:
    (statement,) = split_statements("a.sql", f"SELECT {parameter}, a[1:'2'], b::'c'", Dialect.POSTGRESQL)
    kinds = [token.kind.value for token in statement.tokens]
    assert kinds.count("parameter") == 1


@pytest.mark.parametrize("parameter", ["?", "?1", ":a", "@a", "$a", "$a::b(c)", ":a1"])
def test_every_kind_of_parameter_is_one_token(parameter: str) -> None:
    (statement,) = split(f"SELECT {parameter}")
    assert [token.kind.value for token in statement.tokens] == ["word", "parameter"]


@pytest.mark.parametrize("text", ["$a$ " * 50_001, "@a(" * 50_000, ".;" * 50_000, "[" * 500_000])
@pytest.mark.timeout(60)
def test_hostile_text_takes_time_in_proportion_to_its_length(text: str) -> None:
    assert split(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT 1 \\g\nDELETE FROM jobs", [("SELECT 1", None), ("DELETE FROM jobs", None)]),
        ("SELECT 1 AS a \\gset\nSELECT 2;", [("SELECT 1 AS a", None), ("SELECT 2", None)]),
        ("SELECT 1 \\; SELECT 2;", [("SELECT 1", None), ("SELECT 2", None)]),
        ("SELECT 'a' \\gexec\nSELECT 2", [("SELECT 'a'", "what it returns is run as SQL"), ("SELECT 2", None)]),
        ("SELECT 'a'\n\\gexec\n", [("SELECT 'a'", "what it returns is run as SQL")]),
        ("-- a\rDELETE FROM jobs;", [("DELETE FROM jobs", None)]),
    ],
)
def test_psql_sends_a_statement_at_its_own_commands_and_ends_a_comment_at_any_end_of_a_line(
    text: str, wanted: list[tuple[str, str | None]]
) -> None:
    found = split_statements("a.sql", text, Dialect.POSTGRESQL)
    assert [(each.sql, each.problem) for each in found] == wanted


def test_a_command_of_the_sqlite_shell_that_reads_nothing_is_passed_over() -> None:
    found = split_statements("a.sql", ".mode csv\n.import a.csv jobs\nSELECT 1;")
    assert [each.sql for each in found] == [".import a.csv jobs", "SELECT 1"]
