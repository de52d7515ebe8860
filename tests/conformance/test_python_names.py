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
