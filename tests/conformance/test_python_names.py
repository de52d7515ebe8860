"""Names of strings in Python code that other files may take, and names that stand for each other."""

from __future__ import annotations

import pytest

from tests.conformance.extractions import extract


@pytest.mark.parametrize("place", ["{0}", "class A:\n    {0}"])
@pytest.mark.parametrize(
    ("other", "count"),
    [
        ("from a import _SQL\ndb.execute(_SQL)", 2),
        ("import a\ndb.execute(a._SQL)", 2),
        ("import a\ndb.execute(a.A._SQL)", 2),
        ('import a\ndb.execute(getattr(a, "_SQL"))', 2),
        ("from a import *\n_SQL = 'SELECT 1'\ndb.execute(_SQL)", 2),
        ('_SQL = "SELECT 1"\ndb.execute(_SQL)', 1),
        ("db.execute(a._SQLS)", 1),
    ],
)
def test_a_private_part_of_others_that_another_file_takes_is_a_statement(place: str, other: str, count: int) -> None:
    code = place.format("_SQL = \"UPDATE jobs SET status = 'failed'\"\n")
    code += f"db.execute({'A.' if 'class' in place else ''}_SQL + ' WHERE id = 1')\n"
    sql = [each.sql for each in extract({"a.py": code, "b.py": other}).statements]
    assert len(sql) == count
    assert ("UPDATE jobs SET status = 'failed'" in sql) is (count == 2)


USES = {"part": "def f(c):\n    c.execute(A + ' WHERE id = 1')\n", "alone": "def g(c):\n    c.execute(A)\n"}


@pytest.mark.parametrize("value", ["\"UPDATE jobs SET status = 'x'\"", '"UPDATE jobs " + "SET status = \'x\'"'])
@pytest.mark.parametrize("order", ["part value alone", "value part alone", "alone part value", "part alone value"])
def test_a_name_stands_for_its_string_wherever_in_the_file_it_is_bound(order: str, value: str) -> None:
    code = "".join({**USES, "value": f"A = {value}\n"}[each] for each in order.split())
    sql = {each.sql for each in extract({"a.py": code}).statements}
    assert sql == {"UPDATE jobs SET status = 'x'", "UPDATE jobs SET status = 'x' WHERE id = 1"}


SQL = "\"UPDATE jobs SET status = 'x' WHERE id = %s\""


@pytest.mark.parametrize(
    "code",
    [
        f"a = {SQL} + b\nb = a % x\n",
        f"_a = {SQL} + _b\n_b = _a % x\n",
        f"_a = _b + {SQL}\n_b = _a + ' AND TRUE'\n",
        f"_a = _b.format(x) + {SQL}\n_b = _a.format(y)\n",
        f"_a = _b.replace('x', y) + {SQL}\n_b = _a.replace('y', 'x')\n",
        f"_a = {SQL} + _b\n_b = _c % x\n_c = _a + ' AND TRUE'\n",
    ],
)
@pytest.mark.parametrize("is_inside", [False, True])
def test_strings_that_name_each_other_in_a_circle_are_undecided(code: str, is_inside: bool) -> None:
    code = "def f(x, y):\n" + "".join(f"    {line}\n" for line in code.splitlines()) if is_inside else code
    found = extract({"a.py": code}).statements
    assert found
    assert all(each.problem for each in found), [each.sql for each in found]
    assert {each.place.line for each in found} <= {1 + is_inside, 2 + is_inside, 3 + is_inside}
