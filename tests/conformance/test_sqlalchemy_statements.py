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
