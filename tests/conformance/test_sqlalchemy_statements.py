"""What SQLAlchemy makes of Python code, as the SQL that it comes to."""

from __future__ import annotations

import pytest

from tests.conformance.extractions import extract, lines

TABLE = 'jobs = Table("jobs", metadata, Column("id", Integer), Column("status", String), Column("note", String))\n'
MODELS = """
class Job(Base):
    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column("status", String, default="pending")
"""


def core(code: str) -> list[str]:
    return [line.partition(" ")[2] for line in lines("a.py", TABLE + code)]


def orm(code: str) -> list[str]:
    """The statements of a module that imports the class, each undecided one as its reason."""
    files = {"models.py": MODELS, "service.py": "from models import Job\n" + code}
    return [each.problem or each.sql for each in extract(files).statements]


CORE = {
    'c.execute(update(jobs).where(jobs.c.status == "a").values(status="b"))': (
        "UPDATE \"jobs\" SET status = 'b' WHERE (status = 'a')"
    ),
    'c.execute(jobs.update().values({"status": "b"}).where(jobs.c.status.in_(["a", x])))': (
        "UPDATE \"jobs\" SET status = 'b' WHERE (status IN ('a', {x}))"
    ),
    'c.execute(sa.update(jobs).where((jobs.c.status != "a") & ~jobs.c.note.is_(None)).values({jobs.c.status: x}))': (
        "UPDATE \"jobs\" SET status = {x} WHERE ((status <> 'a') AND (NOT (note IS NULL)))"
    ),
    'c.execute(delete(jobs).where(or_(jobs.c.status == None, jobs.c["status"].not_in(["a"]))))': (
        "DELETE FROM \"jobs\" WHERE ((status IS NULL) OR (status NOT IN ('a')))"
    ),
    'c.execute(delete(jobs).where(jobs.c.status.between("a", "b")).where(exists(x)))': (
        "DELETE FROM \"jobs\" WHERE (status BETWEEN 'a' AND 'b') AND ({exists(x)})"
    ),
    'c.execute(update(jobs).values(status=case((jobs.c.note == 1, "a"), else_="b")))': (
        "UPDATE \"jobs\" SET status = CASE WHEN (note = 1) THEN 'a' ELSE 'b' END"
    ),
    'c.execute(insert(jobs).values(status="a").on_conflict_do_update(set_={"status": "b"}, where=jobs.c.note == 1))': (
        "INSERT INTO \"jobs\" (status) VALUES ('a') ON CONFLICT (id) DO UPDATE SET status = 'b' WHERE (note = 1)"
    ),
    "c.execute(insert(jobs).values(note=1).on_conflict_do_nothing())": (
        'INSERT INTO "jobs" (note) VALUES (1) ON CONFLICT DO NOTHING'
    ),
}


@pytest.mark.parametrize("code", CORE)
def test_a_statement_of_core_is_the_sql_that_it_comes_to(code: str) -> None:
    assert core(code) == [CORE[code]]


@pytest.mark.parametrize("table", ['sa.table("jobs", sa.column("id"), sa.column("status"))', 'metadata.tables["jobs"]'])
def test_a_table_of_a_migration_is_the_table_too(table: str) -> None:
    found = lines("a.py", f'jobs = {table}\nop.execute(jobs.update().values(status="b"))')
    assert found == ["2: UPDATE \"jobs\" SET status = 'b'"]


def test_a_function_that_is_imported_under_another_name_is_the_same() -> None:
    code = "from sqlalchemy.dialects.postgresql import insert as pg_insert\nfrom sqlalchemy import update as upd\n"
    code += 'c.execute(pg_insert(jobs).values(status="a").on_conflict_do_update(set_={"status": "b"}))\n'
    code += 'c.execute(upd(jobs).values(status="b"))'
    assert core(code) == [
        "INSERT INTO \"jobs\" (status) VALUES ('a') ON CONFLICT (id) DO UPDATE SET status = 'b'",
        "UPDATE \"jobs\" SET status = 'b'",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "c.execute(update(jobs).values(**values))",
        "c.execute(update(jobs).where(jobs.c.id == bindparam('b')), rows)",
        "c.execute(insert(jobs), rows)",
        "c.execute(insert(jobs).values(rows))",
    ],
)
def test_values_that_are_not_written_out_are_undecided(code: str) -> None:
    (line,) = core(code)
    assert "stands for more than one value" in line


def test_what_only_reads_and_what_is_another_table_is_no_statement() -> None:
    assert (
        core('c.execute(select(jobs).where(jobs.c.status == "a")); c.execute(update(notes).values(status="b"))') == []
    )
    assert lines("a.py", 'jobs = {}\njobs.update({"status": "a"})\nrequests.delete(jobs)') == []


ORM = {
    'session.query(Job).filter(Job.state == "a", Job.id == id).update({"state": "b"})': [
        "UPDATE \"jobs\" SET status = 'b' WHERE (status = 'a') AND (id = {id})"
    ],
    'session.query(Job).filter_by(state="a").update({Job.state: "b"}, synchronize_session=False)': [
        "UPDATE \"jobs\" SET status = 'b' WHERE (status = 'a')"
    ],
    'query = session.query(Job)\nquery.filter(Job.state == "a").delete()': [
        "DELETE FROM \"jobs\" WHERE (status = 'a')"
    ],
    'Job.query.filter_by(id=1).update({"state": "b"})': ["UPDATE \"jobs\" SET status = 'b' WHERE (id = 1)"],
    'session.add(Job(state="b"))': ["INSERT INTO \"jobs\" (status) VALUES ('b')"],
    "session.add(Job(id=1))": ["INSERT INTO \"jobs\" (id, status) VALUES (1, 'pending')"],
    'job = session.get(Job, 1)\njob.state = "b"': ["UPDATE \"jobs\" SET status = 'b' WHERE id = {job}"],
    'def f(job: Job): job.state = "b"': ["UPDATE \"jobs\" SET status = 'b' WHERE id = {job}"],
    'for job in session.scalars(select(Job)):\n    setattr(job, "state", new)': [
        'UPDATE "jobs" SET status = {new} WHERE id = {job}'
    ],
    'def f(job: Job): job.state, job.note = "b", 1': ["UPDATE \"jobs\" SET status = 'b' WHERE id = {job}"],
    "def f(job: Job): [job.note, job.state] = new": ['UPDATE "jobs" SET status = {job} WHERE id = {job}'],
    "def f(job: Job):\n    for k, v in data.items(): setattr(job, k, v)": [
        'UPDATE "jobs" SET status = {v} WHERE id = {job}'
    ],
    "job = session.query(Job).first()\nsession.delete(job)": ['DELETE FROM "jobs" WHERE id = {job}'],
    'def f(mail: Mail): mail.state = "failed"': [],
    'mail = Mail()\nmail.state = "failed"': [],
    'def f(reply): reply.state = "unheard of"': [],
    "session.query(Job).filter(Job.id == 1).first()": [],
}


@pytest.mark.parametrize("code", ORM)
def test_what_is_done_to_a_mapped_class_is_the_sql_that_it_comes_to(code: str) -> None:
    assert orm(code) == ORM[code]


def test_a_state_that_is_written_to_an_object_of_unknown_class_is_undecided() -> None:
    (reason,) = orm('def f(job): job.state = "failed"')
    assert reason == "it may write the state of jobs: the class of job is not known; annotate it"
    (reason,) = orm('def f(job: Any): job.state = "failed"')
    assert reason == "it may write the state of jobs: the class of job is not known; annotate it"
    (reason,) = orm("def f(session, job): session.delete(job)")
    assert reason == "it may remove a row of jobs: the class of job is not known; annotate it"
    files = {"models.py": MODELS, "other.py": 'def f(job):\n    job.state = "failed"'}
    assert [str(each.place) for each in extract(files).statements] == ["other.py:2"]


def test_a_mapped_class_writes_its_own_state_and_so_does_what_is_derived_from_it() -> None:
    code = MODELS + "    def finish(self):\n        self.state = 'completed'\n\nclass Late(Job):\n    pass\n"
    files = {"models.py": code, "a.py": "from models import Late\nlate = Late(state='failed')\nlate.state = 'b'\n"}
    assert [f"{each.place} {each.word(0)}" for each in extract(files).statements] == [
        "models.py:7 UPDATE",
        "a.py:2 INSERT",
        "a.py:3 UPDATE",
    ]


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ('state: Mapped[str] = mapped_column("status", String)', "'completed'"),
        ('state = Column("status", Enum(Status))', "'DONE'"),
        ('state = Column("status", Enum(Status, values_callable=values))', "{Status.DONE}"),
        ('state: Mapped[Status] = mapped_column("status")', "{Status.DONE}"),
    ],
)
def test_a_member_of_an_enum_is_stored_as_its_column_says(column: str, stored: str) -> None:
    enum = 'class Status(str, Enum):\n    DONE = "completed"\n'
    job = f"class Job(Base):\n    __tablename__ = 'jobs'\n    {column}\n"
    code = enum + job + "c.execute(update(Job).values(state=Status.DONE))"
    assert [each.sql for each in extract({"a.py": code}).statements] == [f'UPDATE "jobs" SET status = {stored}']


ANY_CLASS = (
    "from sqlalchemy import delete, insert, update\nclass Repo:\n    def __init__(self, model): self.model = model\n"
)


@pytest.mark.parametrize(
    ("code", "reasons"),
    [
        (
            "    def f(self, **kw): self.s.execute(update(self.model).where(self.model.id == 1).values(**kw))",
            ["write the state of jobs: which class self.model is"],
        ),
        (
            "    def f(self): self.s.execute(update(self.model).values(state='failed'))",
            ["write the state of jobs: which class self.model is"],
        ),
        ("    def f(self): self.s.execute(update(self.model).values(note='failed'))", []),
        ("    def f(self): self.s.execute(update(self.model).values(state='unheard of'))", []),
        (
            "    def f(self, kw): self.s.execute(insert(self.model).values(kw))",
            ["make a row of jobs: which class self.model is"],
        ),
        (
            "    def f(self, id): self.s.query(self.model).filter_by(id=id).delete()",
            ["remove a row of jobs: which class self.model is"],
        ),
        (
            "    def f(self, kw):\n        self.s.get(self.model, 1)\n        self.s.add(self.model(**kw))",
            ["make a row of jobs: which class self.model is"],
        ),
        (
            "    def f(self, id):\n        obj = self.s.query(self.model).get(id)\n        self.session.delete(obj)",
            ["remove a row of jobs: the class of obj is"],
        ),
        (
            "    def f(self, obj: ModelType, data):\n        for k, v in data.items(): setattr(obj, k, v)",
            ["write the state of jobs: the class of obj is"],
        ),
        ("    def f(self, user, data):\n        from users import User\n        setattr(user, data[0], data[1])", []),
        (
            "def f(model, rows): s.bulk_update_mappings(model, rows)",
            ["write the state of jobs: which class model is"],
        ),
        ("def f(model: type[User], rows): s.execute(update(model).values(rows))", []),
        ("from users import User\ns.execute(update(User).values(rows))", []),
        (
            "def f(table): s.execute(table.delete().where(table.c.id == 1))",
            ["remove a row of jobs: which class table is"],
        ),
        ("def f(cls): s.query(cls).update({'state': 'failed'})", ["write the state of jobs: which class cls is"]),
        ("def f(job, state): job.state = state", ["write the state of jobs: the class of job is"]),
        ("def f(jobs): jobs.update({'state': 'failed'})", []),
    ],
)
def test_a_function_that_takes_any_class_may_take_the_mapped_one(code: str, reasons: list[str]) -> None:
    found = [
        each.problem or each.sql for each in extract({"models.py": MODELS, "repo.py": ANY_CLASS + code}).statements
    ]
    assert [reason in each for reason, each in zip(reasons, found, strict=True)] == [True for _ in reasons], found


MAPPED = {
    "session.merge(Job(id=1, state='failed'))": [
        "UPDATE \"jobs\" SET status = 'failed' WHERE id = {Job(id=1, state='failed')}",
        "INSERT INTO \"jobs\" (id, status) VALUES (1, 'failed')",
    ],
    "session.bulk_update_mappings(Job, [{'id': 1, 'state': 'failed'}])": [
        "UPDATE \"jobs\" SET status = 'failed' WHERE id = {'id': 1, 'state': 'failed'}"
    ],
    "session.bulk_update_mappings(Job, [{'id': i, 'note': i} for i in x])": [
        "UPDATE \"jobs\" SET note = {i} WHERE id = {'id': i, 'note': i}"
    ],
    "session.bulk_insert_mappings(Job, [{'state': 'failed'}])": ["INSERT INTO \"jobs\" (status) VALUES ('failed')"],
    "J = Job\nsession.execute(update(J).values(state='failed'))": ["UPDATE \"jobs\" SET status = 'failed'"],
    "import models as m\nsession.execute(update(m.Job).values(state='failed'))": [
        "UPDATE \"jobs\" SET status = 'failed'"
    ],
    "session.query(Job.id).filter(Job.state == 'a').update({'state': 'failed'})": [
        "UPDATE \"jobs\" SET status = 'failed' WHERE (status = 'a')"
    ],
    "session.query(User, Job).filter(Job.state == 'a').delete()": ["DELETE FROM \"jobs\" WHERE (status = 'a')"],
    "user = session.get(User, 1)\nsession.delete(user)": [],
}


@pytest.mark.parametrize("code", MAPPED)
def test_what_a_session_does_with_the_class_is_followed(code: str) -> None:
    assert orm("from sqlalchemy import update\n" + code) == MAPPED[code]


def statements_of(models: str, **more: str) -> list[str]:
    files = {"models.py": models, **{f"{name}.py": code for name, code in more.items()}}
    return [f"{each.place}: {each.problem or each.sql}" for each in extract(files).statements]


def test_methods_of_the_class_change_it_by_its_own_name() -> None:
    code = MODELS.replace("class Job", "from sqlalchemy import update\nclass Job")
    code += "    @classmethod\n    def a(cls): s.execute(update(cls).where(cls.state == 'a').values(state='b'))\n"
    code += "    def b(self): s.query(type(self)).filter_by(id=self.id).delete()\n"
    code += "    def c(self): return self.__class__(state='c')\n    def __init__(self): self.state = 'd'\n"
    assert [each.partition(": ")[2] for each in statements_of(code)] == [
        "UPDATE \"jobs\" SET status = 'b' WHERE (status = 'a')",
        'DELETE FROM "jobs" WHERE (id = {self.id})',
        "INSERT INTO \"jobs\" (status) VALUES ('c')",
        "INSERT INTO \"jobs\" (status) VALUES ('d')",
    ]


def test_a_class_that_the_mapped_one_is_derived_from_writes_its_state_and_has_its_columns() -> None:
    mixin = "class Stated(Deeper):\n    status = Column(String, default='a')\n"
    deeper = "class Deeper:\n    def fail(self): self.status = 'failed'\n"
    job = "from mixins import Stated\nclass Job(Stated, Base):\n    __tablename__ = 'jobs'\n    id = Column(Integer)\n"
    assert sorted(statements_of(job + "job = Job(id=1)", mixins=mixin, deeper=deeper)) == [
        "deeper.py:2: UPDATE \"jobs\" SET status = 'failed' WHERE id = {self}",
        "models.py:5: INSERT INTO \"jobs\" (id, status) VALUES (1, 'a')",
    ]


def test_what_a_column_does_by_itself_counts_where_it_is_declared() -> None:
    job = "class Job(Base):\n    __tablename__ = 'jobs'\n    status = Column(String, default='a', onupdate='b')\n"
    assert statements_of(job) == ["models.py:3: UPDATE \"jobs\" SET status = 'b'"]
    job = job.replace("onupdate", "x") + "    state = synonym('status')\ndef f(job: Job): job.state = 'c'\n"
    assert statements_of(job) == ["models.py:5: UPDATE \"jobs\" SET status = 'c' WHERE id = {job}"]
    job += "s.query(Job).update({Job.done: True})\n"
    job = job.replace("    state =", "    @hybrid_property\n    def done(self): return 1\n    state =")
    assert "stands for more than one value" in statements_of(job)[-1]


@pytest.mark.parametrize(
    ("models", "is_sure"),
    [
        ("T = 'jobs'\nclass Job(Base):\n    __tablename__ = T\n    status = Column(String)\n", True),
        ("T = 'job'\nclass Job(Base):\n    __tablename__ = f'{T}s'\n    status = Column(String)\n", True),
        (
            "class Base:\n    @declared_attr\n    def __tablename__(cls): return cls.__name__.lower() + 's'\n"
            "class Job(Base):\n    status = Column(String)\n",
            True,
        ),
        ("class Jobs(db.Model):\n    status = db.Column(db.String)\nJob = Jobs\n", True),
        ("class Jobs(SQLModel, table=True):\n    status: str\nJob = Jobs\n", True),
        ("Base = automap_base()\nJob = Base.classes.jobs\n", True),
        ("class Job: pass\nregistry.map_imperatively(Job, Table('jobs', m, Column('status', String)))\n", True),
        ("class Job(Base):\n    __tablename__ = PREFIX + 'jobs'\n    status = Column(String)\n", False),
        (
            "class Base:\n    @declared_attr\n    def __tablename__(cls): return snake(cls.__name__)\n"
            "class Job(Base):\n    status = Column(String)\nclass User(Base):\n    name = Column(String)\n",
            False,
        ),
    ],
)
def test_the_table_of_a_class_is_worked_out_or_in_doubt(models: str, is_sure: bool) -> None:
    code = "from sqlalchemy import update\nfrom models import *\ns.execute(update(Job).values(status='b'))\n"
    code = code.replace("Job", "Jobs") if "Job = Jobs" in models else code
    (found,) = statements_of(models, a=code)
    text = "UPDATE \"jobs\" SET status = 'b'" if is_sure else "the table of Job is not written out, and may be jobs"
    assert found.partition(": ")[2] == text


def test_another_class_of_the_same_name_is_another() -> None:
    other = "class Job(Document):\n    @classmethod\n    def make(cls): return cls(state='a')\nJob(state='b')\n"
    assert statements_of(MODELS, search=other) == []


def test_the_operations_of_a_migration_are_the_sql_that_they_come_to() -> None:
    code = "from alembic import op\ndef upgrade():\n"
    code += "    jobs = op.create_table('jobs', sa.Column('status'))\n    op.bulk_insert(jobs, [{'status': 'a'}])\n"
    code += "    op.alter_column('jobs', 'status', type_=sa.Integer())\n    op.alter_column('jobs', 'note', type_=x)\n"
    code += "    op.rename_table('old', 'jobs')\n    op.drop_table('other')\n    op.drop_table(name)\n"
    code += "    with op.batch_alter_table('jobs') as batch:\n        batch.drop_column('status')\n"
    code += "def downgrade():\n    op.drop_table('jobs')\n"
    assert sorted(each.partition(": ")[2] for each in statements_of(code)) == [
        'ALTER TABLE "jobs" ALTER COLUMN "status" TYPE text',
        'ALTER TABLE "jobs" DROP COLUMN "status"',
        'ALTER TABLE "old" RENAME TO "jobs"',
        "INSERT INTO \"jobs\" (status) VALUES ('a')",
        "its table is {name}, which only the running program knows: write the name out, or bind a constant to it",
    ]


def test_hostile_numbers_and_depths_end_in_an_answer() -> None:
    digits = "0x" + "f" * 6_000
    assert core(f"c.execute(update(jobs).values(status={digits}))") == ['UPDATE "jobs" SET status = {…}']
    deep = " & ".join(["(jobs.c.note == 1)"] * 700)
    (line,) = core(f"c.execute(update(jobs).where({deep}).values(status='a'))")
    assert "too deep" in line or line.startswith("UPDATE")


def test_a_statement_that_goes_on_under_a_name_is_read_as_a_whole() -> None:
    assert core(
        "q = insert(jobs).values(status='a')\nq = q.on_conflict_do_update(set_={'status': 'b'})\nc.execute(q)"
    ) == [
        "INSERT INTO \"jobs\" (status) VALUES ('a')",
        "INSERT INTO \"jobs\" (status) VALUES ('a') ON CONFLICT (id) DO UPDATE SET status = 'b'",
    ]
    code = "def f(c):\n    q = update(jobs).where(jobs.c.id == 1).values(note=1)\n    c.execute(q.values(status='b'))"
    assert core(code)[-1] == "UPDATE \"jobs\" SET note = 1, status = 'b' WHERE (id = 1)"
    code = "q = insert(jobs).values(status='a')\nif a: q = insert(jobs).values(status='b')\n"
    found = core(code + "c.execute(q.on_conflict_do_update(set_={'status': 'c'}))")
    assert "it adds to a statement on jobs, and q may be one of several" in found[-1]
    assert core(code.replace("jobs", "notes") + "c.execute(q.on_conflict_do_update(set_={'status': 'c'}))") == []
    code = "q = update(jobs).values(status='a')\nfor w in more: q = q.where(w)\nc.execute(q)"
    assert core(code)[0] == "UPDATE \"jobs\" SET status = 'a'"


def test_what_is_put_ahead_of_a_statement_is_undecided() -> None:
    (found,) = core("c.execute(insert(jobs).prefix_with('OR REPLACE').values(status='a'))")
    assert "what prefix_with puts into it is not followed" in found
    assert core("c.execute(select(jobs).prefix_with('DISTINCT'))") == []


def test_a_list_of_values_that_a_name_stands_for_is_that_list() -> None:
    code = "DONE = ('a', 'b')\ndef f(): c.execute(delete(jobs).where(jobs.c.status.in_(DONE)))"
    assert core(code) == ["DELETE FROM \"jobs\" WHERE (status IN ('a', 'b'))"]
    (found,) = core(code.replace("('a', 'b')", "['a']") + "\nDONE.append('c')")
    assert "IN" not in found


def test_functions_that_are_imported_by_a_star_take_any_class() -> None:
    code = "from sqlalchemy import *\ndef f(s, model): s.execute(update(model).values(state='failed'))"
    assert "which class model is, is not known here" in orm(code)[0]


def test_a_constant_of_another_file_is_a_value() -> None:
    files = {"models.py": MODELS, "st.py": "DONE = 'a'"}
    for imported, name in {"from st import DONE": "DONE", "import st": "st.DONE"}.items():
        code = f"from models import Job\n{imported}\ns.execute(update(Job).values(state={name}))"
        assert [each.sql for each in extract({**files, "a.py": code}).statements] == [
            "UPDATE \"jobs\" SET status = 'a'"
        ]
