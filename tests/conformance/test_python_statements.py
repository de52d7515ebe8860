"""SQL in the strings of Python code, read from its syntax tree."""

from __future__ import annotations

import pytest

from arrowproof.model.lifecycle import Dialect
from tests.conformance.extractions import found, lines

UNDECIDED = {
    'db.execute(f"UPDATE {table} SET status = 1")': "its table is {table}",
    'db.execute("UPDATE " + table + " SET status = 1")': "its table is {table}",
    'db.execute("UPDATE %s SET status = 1" % table)': "its table is {table}",
    'db.execute("UPDATE {} SET status = 1".format(table))': "its table is {table}",
    'db.execute(f"UPDATE jobs SET status = 1 {where}")': "{where} stands for more than one value",
    'db.execute("UPDATE jobs SET " + sets + " WHERE id = 1")': "{sets} stands for more than one value",
    'db.execute(f"DELETE FROM jobs WHERE a = 1 AND {more}")': "put it in parentheses",
    'run(Template("UPDATE $table SET status = 1").substitute(table=t))': "its table is $table",
    'db.execute("UPDATE NAME SET status = 1".replace("NAME", name))': "its table is {name}",
    'q = "DELETE FROM jobs"\nif a:\n    q += " WHERE id = 1"\ndb.execute(q)': "what is added to q",
    'q = "DELETE FROM jobs"\nfor a in b:\n    q = q + a\ndb.execute(q)': "what is added to q",
    'def f():\n  q = "DELETE FROM jobs"\n  if a:\n    q += b\n  db.execute(q + " WHERE id = 1")': "what is added to q",
    'db.execute(f"UPDATE jobs SET a = a + 1{more} WHERE id = ?")': "{more} stands for more than one value",
    'db.execute("DELETE FROM jobs WHERE id = %s" + more, [a])': "{more} stands for more than one value",
    'db.execute(f"UPDATE jobs SET note = NULL{more}")': "{more} stands for more than one value",
    'db.execute(f"DELETE FROM jobs WHERE a = {x}{more}")': "stands for more than one value",
    'class A:\n  T = "tasks"\n  def f(self): run(f"DELETE FROM {self.T}")\nclass B(A):\n  T = "jobs"': "{self.T}",
    "x = '1'\n" + "".join(f"x{n + 1 or ''} = x{n or ''} + x{n or ''}\n" for n in range(55)) + "run('UPDATE ' + x55)": (
        "only the running program knows"
    ),
    'parts = ["DELETE FROM jobs"]\nparts.append(where)\ndb.execute(" ".join(parts))': "stands for more than one value",
}


@pytest.mark.parametrize("code", UNDECIDED)
def test_a_hole_that_hides_more_than_a_value_is_undecided(code: str) -> None:
    problems = [each.problem or "" for each in found("a.py", "# jobs\n" + code)]
    assert any(UNDECIDED[code] in problem for problem in problems), problems
    assert all(problems)


@pytest.mark.parametrize(
    "code",
    [
        'db.execute("DELETE FROM jobs WHERE id = 1")',
        'db.execute("DELETE FROM jobs "\n  "WHERE id = 1")',
        'db.execute("DELETE FROM jobs " + "WHERE id = 1")',
        'db.execute("DELETE FROM {} WHERE id = {}".format("jobs", 1))',
        'db.execute("DELETE FROM {table} WHERE id = {id}".format(id=1, table="jobs"))',
        'db.execute("DELETE FROM %s WHERE id = %s" % ("jobs", 1))',
        'db.execute("DELETE FROM %(t)s WHERE id = 1" % {"t": "jobs"})',
        'db.execute(" ".join(["DELETE FROM jobs", "WHERE id = 1"]))',
        'db.execute("DELETE FROM NAME WHERE id = 1".replace("NAME", "jobs"))',
        'TABLE = "jobs"\ndb.execute(f"DELETE FROM {TABLE} WHERE id = {1}")',
        'def run(db):\n    table: str = "jobs"\n    db.execute(f"DELETE FROM {table} WHERE id = 1")',
        'class A:\n  T = "jobs"\n  def run(self):\n    db.execute(f"DELETE FROM {self.T} WHERE id = 1")',
        'db.execute(text("DELETE FROM jobs WHERE id = 1"))',
        'q = "DELETE FROM jobs"\nq += " WHERE id = 1"\ndb.execute(q)',
        '_BASE = "DELETE FROM jobs"\ndb.execute(_BASE + " WHERE id = 1")',
        'parts = ["DELETE FROM jobs", "WHERE id = 1"]\ndb.execute(" ".join(parts))',
        'W = "id = 1"\nQ = f"DELETE FROM jobs WHERE {W}"\ndb.execute(Q)',
        'W = "id = 1"\nQ = "DELETE FROM jobs WHERE " + W\ndb.execute(Q)',
        'def run(db):\n  base = "DELETE FROM jobs"\n  q = base + " WHERE id = 1"\n  db.execute(q)',
    ],
)
def test_every_way_to_make_a_string_of_constants_is_followed(code: str) -> None:
    assert [line.partition(" ")[2] for line in lines("a.py", code)] == ["DELETE FROM jobs WHERE id = 1"]


def test_names_of_psycopg_are_names_and_its_string_is_a_string() -> None:
    code = 'db.execute(sql.SQL("DELETE FROM {} WHERE a = {}").format(sql.Identifier("public", "jobs"), value))'
    assert lines("a.py", code, Dialect.POSTGRESQL) == ['1: DELETE FROM "public"."jobs" WHERE a = {value}']


def test_a_hole_inside_of_a_literal_is_a_parameter() -> None:
    (update,) = found(
        "a.py", "db.execute(f\"UPDATE jobs SET status = '{state}' WHERE status = 'a' AND id = {job.id}\")"
    )
    assert update.sql == "UPDATE jobs SET status = '{state}' WHERE status = 'a' AND id = {job.id}"
    assert [token.text for token in update.tokens if token.kind.value == "parameter"] == ["$1", "$1"]


def test_statements_have_the_lines_that_they_stand_on() -> None:
    code = 'a = 1\ndb.executescript("""\n  -- first\n  DELETE FROM jobs;\n\n  UPDATE jobs\n  SET a = 1""")\n'
    assert [each.place.line for each in found("a.py", code)] == [4, 6]
    code = 'db.execute(\n  f"""\n  DELETE\n  FROM {t}\n""")\nt = "jobs"'
    assert [each.place.line for each in found("a.py", code)] == [3]


@pytest.mark.parametrize(
    "code",
    [
        'def a():\n    """Update jobs set status to done when asked."""',
        '"""Delete from jobs where nobody looks after them."""',
        "# UPDATE jobs SET status = 'failed'",
        'log.info("Update jobs")',
        'raise ValueError("cannot delete from jobs: %s" % reason)',
        'parser.add_argument("--update", help="update jobs set up by hand")',
        "requests.delete(jobs)",
    ],
)
def test_prose_is_no_statement(code: str) -> None:
    assert lines("a.py", code) == []


def test_a_docstring_that_is_a_statement_counts_as_one() -> None:
    code = 'def finish(id):\n    """UPDATE jobs SET status = \'completed\' WHERE id = :id"""'
    assert lines("a.py", code) == ["2: UPDATE jobs SET status = 'completed' WHERE id = :id"]


def test_a_string_that_is_run_alone_counts_though_it_is_part_of_a_larger_one_too() -> None:
    code = 'def run(db):\n    q = "DELETE FROM jobs"\n    db.execute(q)\n    db.execute(q + " WHERE id = 1")\n'
    assert sorted(lines("a.py", code)) == ["2: DELETE FROM jobs", "2: DELETE FROM jobs WHERE id = 1"]


def test_a_name_that_is_bound_twice_stands_for_none_of_its_values() -> None:
    code = 'T = "jobs"\nif a:\n    T = "notes"\ndb.execute(f"DELETE FROM {T}")'
    assert "its table is {T}" in lines("a.py", code)[0]
    code = 'T = "jobs"\ndef run(T):\n    db.execute(f"DELETE FROM {T}")'
    assert "its table is {T}" in lines("a.py", code)[0]


def test_code_that_cannot_be_read_is_undecided_and_newer_syntax_is_read() -> None:
    (statement,) = found("a.py", 'db.execute("DELETE FROM jobs"')
    assert "not Python as this version reads it" in (statement.problem or "")
    code = (
        'type Ids[T] = list[T]\nclass A[T]:\n    def run[S](self, a: S) -> T:\n        db.execute("DELETE FROM jobs")\n'
    )
    assert lines("a.py", code) == ["4: DELETE FROM jobs"]


@pytest.mark.parametrize("text", ["x = " + "(" * 5_000, "x = " + "'a' + " * 20_000 + "''", "x = " + "-" * 50_000 + "1"])
@pytest.mark.timeout(60)
def test_hostile_code_ends_in_an_answer(text: str) -> None:
    assert all(each.problem for each in found("a.py", "# jobs\n" + text))
