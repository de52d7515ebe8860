"""SQL in the strings of Python code, read from its syntax tree."""

from __future__ import annotations

import pytest

from arrowproof.model.lifecycle import Dialect
from tests.conformance.extractions import extract, found, lines

UNDECIDED = {
    'db.execute(f"UPDATE {table} SET status = 1")': "its table is {table}",
    'db.execute("UPDATE " + table + " SET status = 1")': "its table is {table}",
    'db.execute("UPDATE %s SET status = 1" % table)': "its table is {table}",
    'db.execute("UPDATE {} SET status = 1".format(table))': "its table is {table}",
    'db.execute(f"UPDATE jobs SET status = 1 {where}")': "{where} stands for more than one value",
    'db.execute("UPDATE jobs SET " + sets + " WHERE id = 1")': "{sets} stands for more than one value",
    'db.execute(f"DELETE FROM jobs WHERE a = 1 AND {more}")': "put it in parentheses",
    'run(Template("UPDATE $table SET status = 1").substitute(table=t))': "its table is {t}",
    'run(Template("UPDATE $table SET status = 1").substitute(values))': "its table is $table",
    'db.execute("UPDATE NAME SET status = 1".replace("NAME", name))': "its table is {name}",
    'q = "DELETE FROM jobs"\nfor a in b:\n    q = q + a\ndb.execute(q)': "what is added to q",
    'def f():\n  q = "DELETE FROM jobs"\n  for a in b:\n    q += a\n  run(q + " WHERE id = 1")': "what is added to q",
    'def f(t="tasks"):\n    run(f"DELETE FROM {t}")': "its table is {t}",
    'run("DELETE FROM jobs"[n:])': "which part of it is taken is not known: [n:]",
    'run("DELETE FROM jobs WHERE id = 1".replace(a, b))': "what .replace(…) makes of it is not followed",
    'run("DELETE FROM x".replace(a, "jobs"))': "what .replace(…) makes of it is not followed",
    'run(re.sub("x+", "jobs", "DELETE FROM xx"))': "what replaces a pattern in it is not followed",
    'run("DELETE FROM jobs; " * n)': "how often it is repeated is not known: n",
    'run("DELETE FROM jobs|x".split(s)[0])': "what .split(…) makes of it is not followed",
    'run(sql.SQL("DELETE FROM {}").format(sql.Identifier(t)))': "its table is {sql.Identifier(t)}",
    'db.execute(f"UPDATE jobs SET a = a + 1{more} WHERE id = ?")': "{more} stands for more than one value",
    'db.execute("DELETE FROM jobs WHERE id = %s" + more, [a])': "{more} stands for more than one value",
    'db.execute(f"UPDATE jobs SET note = NULL{more}")': "{more} stands for more than one value",
    'db.execute(f"DELETE FROM jobs WHERE a = {x}{more}")': "stands for more than one value",
    'class A:\n  T = "tasks"\n  def f(self): run(f"DELETE FROM {self.T}")\nclass B(A):\n  T = "jobs"': "{self.T}",
    "x = '1'\n" + "".join(f"x{n + 1 or ''} = x{n or ''} + x{n or ''}\n" for n in range(55)) + "run('UPDATE ' + x55)": (
        "only the running program knows"
    ),
    'T, Q = "jobs", other\ndb.execute(f"DELETE FROM {T}")': "its table is {T}",
    'T, *Q = "jobs", "a"\ndb.execute(f"DELETE FROM {T}")': "its table is {T}",
    'T, Q = "tasks", 1\nT = other()\ndb.execute(f"DELETE FROM {T}")': "its table is {T}",
    'db.execute(f"{verb} FROM jobs WHERE id = 1")': "its verb is {verb}",
    "db.execute(\"%s jobs SET status = 'done'\" % verb)": "its verb is {verb}",
    'db.execute("{} INTO jobs (id) VALUES (1)".format(verb))': "its verb is {verb}",
    'db.execute(f"INSERT OR {how} INTO jobs (id) VALUES (1)")': "{how} stands for more than one value",
    'db.execute(f"DELETE {how} FROM jobs")': "{how} stands for more than one value",
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
        'db.execute(b"DELETE FROM jobs WHERE id = 1".decode())',
        'db.execute(b"DELETE FROM %s WHERE id = 1" % b"jobs")',
        'db.execute("xDELETE FROM jobs WHERE id = 12"[1:-1])',
        'db.execute("DELETE FROM jobs WHERE id = 1|SELECT 1".split("|")[0])',
        'db.execute("-DELETE FROM jobs WHERE id = 1".removeprefix("-"))',
        'db.execute("DELETE FROM jobs WHERE id = %s".replace("= %s", "= 1"))',
        'db.execute(" ".join("DELETE FROM jobs\\n  WHERE id = 1".split()))',
        'db.execute(Template("DELETE FROM $t WHERE id = ${id}").substitute(t="jobs", id=1))',
        'db.execute(sql.Composed([sql.SQL("DELETE FROM jobs WHERE id = "), sql.Literal(1)]))',
        'VERB = "DELETE"\ndb.execute(f"{VERB} FROM jobs WHERE id = 1")',
        'db.execute(dedent("""\\\n  DELETE FROM jobs\n  WHERE id = 1""").strip())',
        'q = "DELETE FROM jobs"\nq = q + " WHERE id = 1"\ndb.execute(q)',
        'f = partial(db.execute, "DELETE FROM jobs WHERE id = 1")',
        'Q = "DELETE FROM jobs WHERE id = 1"\nlog.info("%s", Q[:n])\ndb.execute(Q)',
        'Q, T = "id = 1", "jobs"\ndb.execute(f"DELETE FROM {T} WHERE {Q}")',
        'def run(db):\n  [q, n] = ["id =", 1]\n  db.execute(f"DELETE FROM jobs WHERE {q} {n}")',
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


def test_a_verb_that_is_one_of_several_constants_is_each_of_them() -> None:
    code = 'v = "DELETE" if a else "SELECT *"\nrun(f"{v} FROM jobs WHERE id = 1")\nlog.info(f"{n} jobs from {q}")'
    assert lines("a.py", code) == ["2: DELETE FROM jobs WHERE id = 1"]


def test_a_docstring_that_is_a_statement_counts_as_one() -> None:
    code = 'def finish(id):\n    """UPDATE jobs SET status = \'completed\' WHERE id = :id"""'
    assert lines("a.py", code) == ["2: UPDATE jobs SET status = 'completed' WHERE id = :id"]


def test_a_string_that_is_run_alone_counts_though_it_is_part_of_a_larger_one_too() -> None:
    code = 'def run(db):\n    q = "DELETE FROM jobs"\n    db.execute(q)\n    db.execute(q + " WHERE id = 1")\n'
    assert sorted(lines("a.py", code)) == ["2: DELETE FROM jobs", "2: DELETE FROM jobs WHERE id = 1"]


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n  _Q = 'DELETE FROM jobs'\n  def run(self): db.execute(self._Q)",
        "class A:\n  _Q = 'DELETE FROM ' + 'jobs'\ndef run(): db.execute(A._Q)",
        "class A:\n  _Q = 'DELETE FROM jobs'\n  def run(self, q): q(self._Q); q(self._Q + ' WHERE id = 1')",
        "_Q = 'DELETE FROM jobs'",
        "_Q = 'DELETE FROM jobs'\nrun(globals()[name])\nlog(f'running {_Q}')",
        "def run(q='DELETE FROM jobs'): raise ValueError('no such query: ' + q)",
        "def run():\n  q = f'DELETE FROM {\"jobs\"}'\n  return locals()",
    ],
)
def test_a_private_string_is_left_out_only_where_it_is_a_part_of_others(code: str) -> None:
    assert any(line.endswith(": DELETE FROM jobs") for line in lines("a.py", code))
    part = "class A:\n  _Q = 'DELETE FROM jobs'\n  def run(self, q): q(self._Q + ' WHERE id = 1')"
    assert lines("a.py", part) == ["2: DELETE FROM jobs WHERE id = 1"]


SEVERAL = {
    'T = "jobs"\nif a:\n    T = "notes"\ndb.execute(f"DELETE FROM {T}")': ["4: DELETE FROM jobs"],
    'q = "DELETE FROM jobs"\nif a:\n    q += " WHERE id = 1"\ndb.execute(q)': [
        "1: DELETE FROM jobs WHERE id = 1",
        "1: DELETE FROM jobs",
    ],
    'q = "DELETE FROM jobs"\nrun(q)\nq += " WHERE id = 1"\nrun(q)': [
        "1: DELETE FROM jobs",
        "1: DELETE FROM jobs WHERE id = 1",
    ],
    'q = "DELETE FROM jobs"\nrun(q + w)\nq = "SELECT 1"\nrun(q + " FROM jobs")': [
        "1: DELETE FROM jobs{w} (its table is jobs{w}, which only the running program knows: "
        "write the name out, or bind a constant to it)"
    ],
    'run("DELETE FROM jobs" + (" WHERE id = 1" if a else ""))': [
        "1: DELETE FROM jobs WHERE id = 1",
        "1: DELETE FROM jobs",
    ],
    'W = {"a": " WHERE id = 1", "b": " WHERE id = 2"}\nrun("DELETE FROM jobs" + W[k])': [
        "2: DELETE FROM jobs WHERE id = 1",
        "2: DELETE FROM jobs WHERE id = 2",
    ],
    'W = [" WHERE id = 1", ""]\nrun("DELETE FROM jobs" + W[0])': ["2: DELETE FROM jobs WHERE id = 1"],
    'def run(q="DELETE FROM jobs"):\n    db.execute(q)': ["1: DELETE FROM jobs"],
    'S = "a"\ndef f():\n    global S\n    S = "b"\nrun(f"DELETE FROM jobs WHERE x = \'{S}\'")': [
        "5: DELETE FROM jobs WHERE x = 'a'",
        "5: DELETE FROM jobs WHERE x = 'b'",
    ],
    'def f():\n    s = "a"\n    def g():\n        nonlocal s\n        s = x\n'
    "    run(f\"DELETE FROM jobs WHERE x = '{s}'\")": [
        "6: DELETE FROM jobs WHERE x = 'a'",
        "6: DELETE FROM jobs WHERE x = '{s}'",
    ],
    'q = ""\nfor s in x:\n    q += f"DELETE FROM jobs WHERE id = {s};"\nrun(q)': ["3: DELETE FROM jobs WHERE id = {s}"],
    'S = "a"\ndef f(S): run(f"DELETE FROM jobs WHERE x = \'{S}\'")': ["2: DELETE FROM jobs WHERE x = '{S}'"],
    'for q in "DELETE FROM jobs; DELETE FROM jobs WHERE id = 1".split(";"): run(q)': [
        "1: DELETE FROM jobs",
        "1: DELETE FROM jobs WHERE id = 1",
    ],
}
"""Code with names that stand for several strings."""


@pytest.mark.parametrize("code", SEVERAL)
def test_a_string_that_may_be_one_of_several_is_each_of_them(code: str) -> None:
    assert lines("a.py", code) == SEVERAL[code]


def test_what_sets_the_state_in_a_statement_that_begins_elsewhere_is_undecided() -> None:
    for code in ('def f(q): run(q + ", status = 1")', 'run(f"{head} SET note = 2, status = ?")'):
        (line,) = lines("a.py", "# jobs\n" + code)
        assert "begins, which is not known here" in line
    assert lines("a.py", '# jobs\ndef f(q): run(q + " AND status = 1"); log(f"{q}, status: {s}")') == []


def test_an_attribute_that_is_added_to_goes_on_elsewhere() -> None:
    code = "class A:\n  def a(self): self.q = 'UPDATE jobs SET x = 1'\n  def b(self): self.q += ', status = 2'\n"
    first, second = lines("a.py", code + "  def c(self): self.r = 'DELETE FROM tasks'\n")
    assert "what is added to self.q" in first
    assert "begins, which is not known here" in second
    assert lines("a.py", "class A:\n  def a(self): self.q = 'DELETE FROM jobs'\n") == ["2: DELETE FROM jobs"]


@pytest.mark.parametrize(
    "call", ['c.copy_records_to_table("jobs", records=r)', 'f.to_sql("jobs", c)', 'c.copy_from(f, "jobs")']
)
def test_rows_that_are_written_without_a_statement_are_undecided(call: str) -> None:
    assert "puts rows into it as a whole" in lines("a.py", call)[0]
    assert lines("a.py", call.replace("jobs", "tasks") + "  # jobs") == []


def test_each_of_very_many_strings_is_listed_with_what_may_follow_it() -> None:
    code = "".join(f"if a{n}: q = 'DELETE FROM jobs WHERE id = {n}'\n" for n in range(40)) + "run(q + x)"
    assert len(lines("a.py", code)) == 40
    assert all("what is added to q" in line for line in lines("a.py", code))


@pytest.mark.timeout(60)
def test_strings_that_grow_without_bounds_end_in_an_answer() -> None:
    code = "q = 'x' * 1000\n" + "".join(f"q{n + 1} = q{n or ''}.replace('x', q)\n" for n in range(3))
    (line,) = lines("a.py", code + "run('DELETE FROM jobs ' + q3)")
    assert "stands for more than one value" in line
    (line,) = lines("a.py", "run('DELETE FROM jobs WHERE id IN (" + "1," * 600_000 + "1)')")
    assert "at most 1000000 are read" in line
    assert "stands for" in lines("a.py", "run('DELETE FROM jobs %99999999s' % x)")[0]
    assert "stands for" in lines("a.py", "run('DELETE FROM jobs {0:>99999999}'.format(x))")[0]


def test_with_too_many_strings_to_follow_what_they_differ_in_is_a_hole() -> None:
    code = "".join(f'x{n} = "DELETE FROM jobs " if a{n} else ""\n' for n in range(6))
    found = lines("a.py", code + "run(" + " + ".join(f"x{n}" for n in range(6)) + ")")
    assert [line for line in found if not line.endswith("DELETE FROM jobs")] == []
    assert len(found) == 6
    (line,) = lines("a.py", code.replace("DELETE FROM jobs", "x") + 'run("DELETE FROM jobs " + x0 + x1 + x2 + x3 + x4)')
    assert "{x4} stands for more than one value" in line


def test_what_another_file_binds_anew_is_no_constant() -> None:
    code = 'STATE = "a"\nclass A:\n    STATE = "b"\n    def run(self):\n'
    code += "        run(f\"DELETE FROM jobs WHERE x = '{STATE}' OR x = '{self.STATE}'\")"
    other = "import a\n"
    for more, wanted in {
        "": "x = 'a' OR x = 'b'",
        'a.STATE = "c"': "x = '{STATE}' OR x = 'b'",
        'import a as b\nb.STATE = "c"': "x = '{STATE}' OR x = 'b'",
        'setattr(a, "STATE", "c")': "x = '{STATE}' OR x = 'b'",
        'class B(a.A):\n    STATE = "c"': "x = 'a' OR x = '{self.STATE}'",
        'class C(a.A): pass\nclass B(C):\n    def __init__(self): self.STATE = "c"': "x = 'a' OR x = '{self.STATE}'",
        'a.A.STATE = "c"': "x = 'a' OR x = '{self.STATE}'",
        'self.STATE = "c"\nclass D:\n    STATE = "c"': "x = 'a' OR x = 'b'",
    }.items():
        statements = extract({"a.py": code, "b.py": other + more}).statements
        assert [each.sql.partition("WHERE ")[2] for each in statements][-1:] == [wanted], more


STATES_FILE = 'from enum import StrEnum\nDONE = "x"\nT = "jobs"\nclass S(StrEnum):\n    DONE = "x"\n'


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"a.py": "from st import DONE, T", "st.py": STATES_FILE}, "DONE"),
        ({"src/app/db/a.py": "from app.st import DONE as D, T", "src/app/st.py": STATES_FILE}, "D"),
        ({"app/db/a.py": "from ..st import S, T", "app/st.py": STATES_FILE, "app/__init__.py": ""}, "S.DONE.value"),
        ({"app/db/a.py": "from .. import st\nfrom ..st import T", "app/st.py": STATES_FILE}, "st.S.DONE"),
        ({"app/a.py": "import app.st\nfrom app.st import T", "app/st.py": STATES_FILE}, "app.st.DONE"),
        ({"a.py": "from p import DONE, T", "p/__init__.py": "from p.st import *\nfrom .st import DONE, T",
          "p/st.py": STATES_FILE}, "DONE"),
    ],
)  # fmt: skip
def test_a_constant_that_is_imported_stands_for_its_string(files: dict[str, str], name: str) -> None:
    ((file, code), *others) = files.items()
    run = f"\ndef run(db): db.execute(f\"DELETE FROM {{T}} WHERE s = '{{{name}}}'\")"
    statements = extract({file: "# jobs\n" + code + run, **dict(others)}).statements
    assert [each.sql for each in statements] == ["DELETE FROM jobs WHERE s = 'x'"]


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("from st import DONE", "import st\nst.DONE = 'y'"),
        ("from app.st import DONE", ""),
        ("from st import *", ""),
        ("try: from st import DONE\nexcept ImportError: from su import DONE", ""),
        ("from st import DONE\nif a: DONE = b()", ""),
        ("from st import CHANGED as DONE", ""),
        ("from loop import DONE", ""),
    ],
)
def test_an_import_that_may_bring_in_another_string_is_a_hole(code: str, other: str) -> None:
    states = STATES_FILE + "CHANGED = 'x'\ndef f():\n    global CHANGED\n    CHANGED = 'y'\n"
    run = "\ndef run(db): db.execute(f\"DELETE FROM jobs WHERE s = '{DONE}'\")"
    files = {"a.py": code + run, "st.py": states, "su.py": states, "b.py": other, "loop.py": "from loop import DONE"}
    assert [each.sql for each in extract(files).statements] == ["DELETE FROM jobs WHERE s = '{DONE}'"]
    shadowed = "from st import DONE\ndef run(db, DONE): db.execute(f\"DELETE FROM jobs WHERE s = '{DONE}'\")"
    (statement,) = extract({"a.py": shadowed, "st.py": states}).statements
    assert statement.sql == "DELETE FROM jobs WHERE s = '{DONE}'"


def test_a_package_is_no_root_of_what_its_files_import() -> None:
    code = "from st import DONE\ndef run(db): db.execute(f\"DELETE FROM jobs WHERE s = '{DONE}'\")"
    files = {"app/a.py": code, "app/st.py": STATES_FILE}
    assert [each.sql for each in extract(files).statements] == ["DELETE FROM jobs WHERE s = 'x'"]
    statements = extract({**files, "app/__init__.py": ""}).statements
    assert [each.sql for each in statements] == ["DELETE FROM jobs WHERE s = '{DONE}'"]


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


WHOLE = "DELETE FROM jobs WHERE s = 'x'"


@pytest.mark.parametrize(
    "code",
    [
        'Q = "DELETE FROM {t} WHERE s = \'x\'"\ndb.execute(Q.format(t="jobs"))',
        'Q = "DELETE FROM jobs WHERE s = \'__S__\'"\ndb.execute(Q.replace("__S__", "x"))',
        'Q = "DELETE FROM %s WHERE s = \'x\'"\ndb.execute(Q % "jobs")',
        'class A:\n    Q = "DELETE FROM {t} WHERE s = \'x\'"\n    def run(self): db.execute(self.Q.format(t="jobs"))',
        'def run():\n    q = "DELETE FROM {t} WHERE s = \'x\'"\n    db.execute(q.format(t="jobs"))',
    ],
)
def test_a_string_that_is_only_filled_is_no_statement_by_itself(code: str) -> None:
    assert [each.sql for each in found("a.py", code)] == [WHOLE]
    used = {"a.py": code, "b.py": "from a import Q"}
    assert len(extract(used).statements) == (1 if code.startswith("def") else 2)


def test_a_string_that_is_filled_may_be_another_one_where_names_are_looked_up() -> None:
    code = 'class A:\n    Q = "DELETE FROM jobs WHERE s = {s}"\ndb.execute(A.Q.format(s=1))\n'
    assert len(found("a.py", code)) == 1
    assert len(found("a.py", code + "db.execute(getattr(A, name).format(s=2))")) == 2


def test_a_string_that_is_filled_in_one_place_and_run_in_another_is_both() -> None:
    code = 'Q = "DELETE FROM jobs"\ndb.execute(Q)\ndb.execute(Q.replace("jobs", "notes"))'
    assert [each.sql for each in found("a.py", code)] == ["DELETE FROM jobs"]


@pytest.mark.parametrize(
    ("code", "sqls"),
    [
        ('db.execute(("DELETE FROM jobs" if a else "UPDATE jobs SET a = 1") + " WHERE s = \'x\'")',
         [WHOLE, "UPDATE jobs SET a = 1 WHERE s = 'x'"]),
        ('Q = {"a": "DELETE FROM jobs"}\ndb.execute(Q["a"] + " WHERE s = \'x\'")', [WHOLE]),
        ('db.execute((a or "DELETE FROM jobs") + " WHERE s = \'x\'")', [WHOLE]),
        ('db.execute({"a": "DELETE FROM jobs"}.get(a, "DELETE FROM jobs") + " WHERE s = \'x\'")', [WHOLE]),
    ],
)  # fmt: skip
def test_one_of_several_strings_that_goes_on_is_no_statement_by_itself(code: str, sqls: list[str]) -> None:
    assert [each.sql for each in found("a.py", code)] == sqls


@pytest.mark.parametrize(("table", "count"), [("'jobs'", 1), ("self.table", 1), ("'notes'", 0)])
def test_a_class_that_is_made_when_the_program_runs_is_in_doubt(table: str, count: int) -> None:
    code = f"# jobs\nkind = type('Job', (Base,), {{'__tablename__': {table}}})\ns.add(kind())\n"
    assert len([each for each in found("a.py", code) if "makes a class of a table" in (each.problem or "")]) == count
