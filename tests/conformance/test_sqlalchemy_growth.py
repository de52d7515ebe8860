"""What SQLAlchemy makes of statements that begin in one place and go on in another, and of what a class declares."""

from __future__ import annotations

import pytest

from arrowproof.model.lifecycle import Dialect
from tests.conformance.extractions import extract

MODELS = """
class Job(Base):
    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
"""


def made(code: str, models: str = MODELS, dialect: Dialect = Dialect.POSTGRESQL, **others: str) -> list[str]:
    """The statements that a module makes of the class, each undecided one as its reason. ``others`` are more files."""
    files = {"models.py": models, "service.py": "from sqlalchemy import *\nfrom models import Job\n" + code}
    files |= {f"{name}.py": text for name, text in others.items()}
    return [each.problem or each.sql for each in extract(files, dialect).statements]


def inside(code: str) -> str:
    return "def f(s, x):\n" + "".join(f"    {line}\n" for line in code.splitlines())


UPDATE = "UPDATE \"jobs\" SET status = 'b' WHERE (status = 'a')"


@pytest.mark.parametrize(
    "code",
    [
        'q = update(Job).where(Job.status == "a")\ns.execute(q.values(status="b"))',
        'q = update(Job)\nq = q.where(Job.status == "a")\nq = q.values(status="b")\ns.execute(q)',
        'q = update(Job).values(status="b")\nq = q.where(Job.status == "a")\ns.execute(q)',
        'base = update(Job).values(status="b")\ng = lambda: s.execute(base.where(Job.status == "a").returning(Job.id))',
    ],
)
def test_a_statement_that_only_goes_on_is_none_by_itself(code: str) -> None:
    assert made(inside(code)) == [UPDATE]


def test_a_removal_that_only_goes_on_removes_what_it_becomes() -> None:
    code = inside('q = delete(Job)\nq = q.where(Job.status == "a")\ns.execute(q)')
    assert made(code) == ["DELETE FROM \"jobs\" WHERE (status = 'a')"]


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('q = update(Job).values(status="b")\nif x:\n    q = q.where(Job.status == "a")\ns.execute(q)', 2),
        ('q = update(Job).values(status="b")\ns.execute(q)\ns.execute(q.where(Job.status == "a"))', 2),
        ('q = update(Job).values(status="b")\nfor each in x:\n    q = q.where(each)\ns.execute(q)', 2),
        ('q = update(Job).values(status="b")\nq.where(Job.status == "a")\nreturn q', 2),
        ('q = update(Job).values(status="b")\nq.execute(x)', 2),
        ('q = delete(Job) if x else update(Job).values(status="b")\nq = q.where(Job.status == "a")\ns.execute(q)', 2),
    ],
)
def test_a_statement_that_is_used_as_it_is_counts_as_it_is(code: str, count: int) -> None:
    found = made(inside(code))
    assert len(found) == count
    assert "UPDATE \"jobs\" SET status = 'b'" in found


def test_what_another_file_may_import_counts_as_it_is() -> None:
    code = 'BASE = update(Job).values(status="b")\nNEXT = BASE.where(Job.status == "a")\n'
    assert made(code) == ["UPDATE \"jobs\" SET status = 'b'", UPDATE]
    assert made(code.replace("BASE", "_base")) == [UPDATE]


PRIVATE = '_base = update(Job).values(status="b")\n_next = _base.where(Job.status == "a")\n'


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ("from service import _base\ndef f(s):\n    s.execute(_base)\n", 2),
        ("import service\ndef f(s):\n    s.execute(service._base)\n", 2),
        ('import service\ndef f(s):\n    s.execute(getattr(service, "_base"))\n', 2),
        ("from service import (\n    _next,\n    _base,\n)\n_base = _base.where(Job.id == 1)\n", 2),
        ("from service import _next\n_base_of = _next\n", 1),
        ("_base = 1\ndef f(s):\n    s.execute(_base)\n", 1),
    ],
)
def test_what_another_file_names_counts_as_it_is_though_its_name_is_private(other: str, count: int) -> None:
    found = made(PRIVATE, jobs=other)
    assert (len(found), "UPDATE \"jobs\" SET status = 'b'" in found) == (count, count == 2)


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("class A:\n    {}def f(self, s):\n        s.execute(self._base)\n", 2),
        ("class A:\n    {}def f(self, s):\n        s.execute(self._base.where(Job.id == 1))\n", 2),
        ("class A:\n    {}def f(self, s):\n        s.execute(self._next)\n", 1),
        ('{}def f(s):\n    s.execute(globals()["_base"])\n', 2),
        ("{}def f(s):\n    s.execute(s._base)\n", 1),
    ],
)
def test_what_is_come_to_as_an_attribute_or_by_its_text_counts_as_it_is(code: str, count: int) -> None:
    is_class = code.startswith("class")
    found = made(code.format(PRIVATE.replace("\n", "\n    ") if is_class else PRIVATE))
    assert (len(found), "UPDATE \"jobs\" SET status = 'b'" in found) == (count, count == 2)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('s.execute(insert(Job), [{"status": "a"}, {"status": x}])', ["INSERT INTO \"jobs\" (status) VALUES ('a')",
                                                                     'INSERT INTO "jobs" (status) VALUES ({x})']),
        ('s.execute(update(Job).where(Job.status == "a"), {"status": "b"})', [UPDATE]),
        ('s.execute(update(Job), [{"id": 1, "status": "b"}])', ["UPDATE \"jobs\" SET status = 'b'"]),
        ('s.execute(Job.__table__.insert(), [{"status": each} for each in x])', [
            'INSERT INTO "jobs" (status) VALUES ({each})']),
        ('s.execute(update(Job).values(status="b"), {"x": 1})', ["UPDATE \"jobs\" SET status = 'b'"]),
    ],
)  # fmt: skip
def test_the_rows_that_a_statement_is_executed_with_are_its_values(code: str, found: list[str]) -> None:
    assert made(inside(code)) == found


def test_rows_that_are_not_written_out_are_undecided() -> None:
    (reason,) = made(inside("s.execute(update(Job), x)"))
    assert reason.startswith("{what it is executed with} stands for more than one value")


PICKED = (
    "UPDATE \"jobs\" SET status = 'b' WHERE (id = (SELECT id FROM \"jobs\" WHERE (status = 'a') LIMIT 1 FOR UPDATE))"
)


@pytest.mark.parametrize(
    ("picked", "sql"),
    [
        (
            "select(Job.id).where(Job.status == 'a').limit(1).with_for_update(skip_locked=True).scalar_subquery()",
            PICKED,
        ),
        ("s.query(Job.id).filter_by(status='a').with_for_update().limit(1)", PICKED),
        ("select(Job.id).where(Job.status == 'a')", PICKED.replace(" LIMIT 1 FOR UPDATE", "")),
        ("select(Job.id).where(Job.status == 'a').with_for_update(of=User)", PICKED.replace(" LIMIT 1 FOR UPDATE", "")),
        ("select(func.min(Job.id))", None),
        ("select(Job.id).join(User)", None),
        ("select(User.id)", None),
    ],
)
def test_the_select_that_picks_the_rows_is_a_sub_select(picked: str, sql: str | None) -> None:
    update = 's.execute(update(Job).where(Job.id == {}).values(status="b"))'
    for code in (update.format(picked), f"rows = {picked}\n" + update.format("rows")):
        assert (made(inside(code)) == [sql]) is (sql is not None)
        assert sql is not None or "{" in made(inside(code))[0]


def test_a_select_in_a_list_picks_too_and_sqlite_has_no_locks() -> None:
    code = inside('s.execute(delete(Job).where(Job.id.in_(select(Job.id).where(Job.status == "a").with_for_update())))')
    assert made(code, dialect=Dialect.SQLITE) == [
        'DELETE FROM "jobs" WHERE (id IN (SELECT id FROM "jobs" WHERE (status = \'a\')))'
    ]


def test_a_comparison_that_nulls_pass_is_one() -> None:
    code = inside('s.execute(delete(Job).where(Job.status.is_distinct_from("a"), Job.status.isnot_distinct_from("b")))')
    assert made(code) == [
        "DELETE FROM \"jobs\" WHERE (status IS DISTINCT FROM 'a') AND (status IS NOT DISTINCT FROM 'b')"
    ]


def test_the_table_of_a_class_is_the_class_and_so_is_a_name_for_it() -> None:
    where = 's.execute({0}.update().where({0}.c.status == "a").values(status="b"))'
    assert made(inside(where.format("Job.__table__"))) == [UPDATE]
    assert made(inside("t = Job.__table__\n" + where.format("t"))) == [UPDATE]


def test_a_name_that_may_be_another_table_is_in_doubt() -> None:
    code = inside('t = Job.__table__\nif x:\n    t = x.__table__\ns.execute(t.update().values(status="failed"))')
    assert made(code) == ["it may write the state of jobs: which class t is, is not known here"]


@pytest.mark.parametrize(
    ("declared", "sql"),
    [
        ("status: str = 'a'", "INSERT INTO \"jobs\" (status) VALUES ('a')"),
        ("status: str = Field('a', index=True)", "INSERT INTO \"jobs\" (status) VALUES ('a')"),
        ("state: str = Field('a', sa_column=Column('status'))", "INSERT INTO \"jobs\" (status) VALUES ('a')"),
        ("status: str = Field(..., index=True)", 'INSERT INTO "jobs" DEFAULT VALUES'),
    ],
)
def test_a_class_of_sqlmodel_stores_its_defaults(declared: str, sql: str) -> None:
    models = f"class Jobs(SQLModel, table=True):\n    id: int = Field(primary_key=True)\n    {declared}\n"
    assert (
        made("def f(s):\n    s.add(Job())\n", models.replace("Jobs(SQL", "Job(SQL").replace("Job = Jobs\n", "")) == []
    )
    assert made("from models import Jobs\ndef f(s):\n    s.add(Jobs())\n", models) == [sql]


REMOVAL = ['DELETE FROM "jobs" WHERE id = {what it leads to}']


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ('jobs: Mapped[list["Job"]] = relationship(cascade="all, delete-orphan", back_populates="queue")', REMOVAL),
        ('jobs = relationship("app.models.Job", cascade="save-update, delete")', REMOVAL),
        ("jobs = relationship(lambda: Job, cascade=CASCADE)", REMOVAL),
        ('jobs: list["Job"] = Relationship(back_populates="queue", cascade_delete=True)', REMOVAL),
        ('jobs: list["Job"] = Relationship(sa_relationship_kwargs={"cascade": "all"})', REMOVAL),
        ('jobs = relationship("Job", cascade="save-update, merge")', []),
        ('jobs = relationship("Job")', []),
        ('jobs = relationship("Jobber", cascade="all")', []),
    ],
)
def test_a_relationship_whose_cascade_removes_rows_is_a_removal(declared: str, found: list[str]) -> None:
    assert made(f'class Queue(Base):\n    __tablename__ = "queues"\n    {declared}\n') == found


def test_a_relationship_of_the_class_may_remove_its_rows_from_behind() -> None:
    queue = '    queue = relationship("Queue", backref=backref("jobs", cascade="all, delete"), cascade="all")\n'
    assert made("", MODELS + queue) == REMOVAL


@pytest.mark.parametrize(
    ("bound", "where"),
    [
        ('is_old = Job.status == "a"', "(status = 'a')"),
        ('is_old = ~Job.status.in_(["a"])', "(NOT (status IN ('a')))"),
        ('is_old = Job.status == "a"\nis_old = x', "({is_old})"),
        ("is_old = is_old & x", "(({is_old}) AND ({x}))"),
        ("is_old = x", "({x})"),
    ],
)
def test_a_condition_may_have_a_name(bound: str, where: str) -> None:
    assert made(inside(f"{bound}\ns.execute(delete(Job).where(is_old))")) == [f'DELETE FROM "jobs" WHERE {where}']
