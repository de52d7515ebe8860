"""A statement is the same in the string of a program as it is in an SQL file."""

from __future__ import annotations

from random import Random

import pytest

from arrowproof.conformance.embedded import IN_A_COMMAND
from arrowproof.conformance.statements import split_statements
from arrowproof.model.lifecycle import Binding
from tests.conformance.extractions import extract
from tests.conformance.random_statements import Maker, Shape

STATEMENTS = 60
FORMS = {
    "a.py": lambda sql: f"db.execute({sql!r})",
    "b.py": lambda sql: 'db.execute(f"""\n' + sql.replace("{", "{{") + '""")',
    "c.py": lambda sql: "db.execute(" + " ".join(repr(word + " ") for word in sql.split(" ")) + ")",
    "d.py": lambda sql: "q = " + repr(sql[:9]) + "\nq += " + repr(sql[9:]) + "\ndb.execute(q)",
    "a.ts": lambda sql: f"await db.query(`\n{sql}`)",
    "b.ts": lambda sql: 'db.query("' + '" + \n"'.join(word + " " for word in sql.split(" ")) + '")',
    "a.go": lambda sql: f"db.Exec(`{sql}`, id)",
    "a.rb": lambda sql: f"db.execute(<<~SQL)\n  {sql}\nSQL\n",
    "A.java": lambda sql: f'String q = """\n   {sql}\n   """;',
    "a.ex": lambda sql: f'Repo.query!("{sql}")',
    "a.php": lambda sql: f'<?php $db->query("{sql}");',
    "a.rs": lambda sql: f'query(r#"{sql}"#)',
    "a.cs": lambda sql: f'var q = @"{sql}";',
    "a.sh": lambda sql: f"sqlite3 a.db <<'EOF'\n{sql}\nEOF\n",
}


@pytest.mark.parametrize("file", FORMS)
def test_a_random_statement_has_the_same_tokens_in_code_as_in_an_sql_file(file: str) -> None:
    seed = 4
    maker = Maker(Random(seed), Shape(nullable=True))
    for number in range(STATEMENTS):
        sql = maker.statement()
        (wanted,) = split_statements("a.sql", sql)
        found = extract({file: FORMS[file](sql)}, binding=Binding("t", ("id",), "s")).statements
        said = f"seed {seed}, statement {number}: {sql}"
        assert [each.problem for each in found] == [None], said
        assert [token.text for token in found[0].tokens] == [token.text for token in wanted.tokens], said
        assert " ".join(found[0].sql.split()) == " ".join(sql.split()), said


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("a.py", "os.system(\"psql -c 'DELETE FROM jobs' db\")"),
        ("a.py", "subprocess.run(f'psql {url} -c \"UPDATE jobs SET status = 1\"', shell=True)"),
        ("a.ts", 'exec(`sqlite3 a.db "DELETE FROM jobs WHERE id = ${id}"`)'),
        ("a.sh", "ssh host \"psql -c 'DELETE FROM jobs'\""),
    ],
)
def test_a_statement_in_a_command_of_the_shell_of_a_database_is_undecided(file: str, code: str) -> None:
    (statement,) = extract({file: code}).statements
    assert statement.problem == IN_A_COMMAND


@pytest.mark.parametrize(
    "code",
    ["os.system(\"echo 'DELETE FROM jobs'\")", "os.system(\"psql -c 'DELETE FROM notes'\")", "run('psql', 'jobs')"],
)
def test_a_command_that_runs_no_statement_on_the_table_is_none(code: str) -> None:
    assert extract({"a.py": code}).statements == ()
