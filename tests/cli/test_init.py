from __future__ import annotations

import pytest


def test_init_writes_a_starter_that_lints_strictly_once_its_sql_is_there_and_renders(arrowproof, tmp_path):
    assert arrowproof("init").status == 0
    assert arrowproof("lint").err.count("[warning: no-source]") == 1
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "mail.sql").touch()
    assert arrowproof("lint", "--strict").status == 0
    assert arrowproof("render", "-o", "page.html").status == 0
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_init_leaves_a_file_that_is_there_alone(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text("mine")
    result = arrowproof("init")
    assert result.status == 2
    assert result.err == "error: lifecycle.json is there already. Name another file, or replace it with --force\n"
    assert (tmp_path / "lifecycle.json").read_text() == "mine"


def test_init_replaces_it_when_forced(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text("mine")
    assert arrowproof("init", "--force").status == 0
    assert arrowproof("lint").status == 0


def test_init_writes_a_driver_beside_the_model_and_says_how_to_go_on(arrowproof, tmp_path):
    (tmp_path / "jobs").mkdir()
    assert arrowproof("init", "jobs/mail.json").status == 0
    made = arrowproof("init", "--driver", "jobs/mail.json")
    assert made.status == 0
    assert made.out.splitlines() == [
        "wrote jobs/mail_job_driver.py",
        "Next: fill in start and walk, then arrowproof prove jobs/mail.json --driver mail_job_driver:MailJobDriver",
    ]
    (tmp_path / "jobs" / "sql").mkdir()
    (tmp_path / "jobs" / "sql" / "mail.sql").touch()
    proven = arrowproof("prove", "jobs/mail.json", "--driver", "mail_job_driver:MailJobDriver")
    assert proven.status == 2
    assert "your_service" in proven.err
    again = arrowproof("init", "--driver", "jobs/mail.json")
    assert (again.status, "is there already" in again.err) == (2, True)
    assert arrowproof("init", "--driver", "jobs/mail.json", "mine.py").out.startswith("wrote mine.py\n")


def test_a_driver_is_begun_for_no_model_that_is_wrong(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text("{}")
    result = arrowproof("init", "--driver", "lifecycle.json")
    assert (result.status, list(tmp_path.glob("*.py"))) == (2, [])


def test_a_driver_of_the_bundled_service_is_written_where_one_is(arrowproof, tmp_path):
    proving = "PYTHONPATH=. arrowproof prove notes --driver notes_job_driver:NotesJobDriver"
    assert arrowproof("init", "--driver", "notes").out.splitlines() == [
        "wrote notes_job_driver.py",
        f"Next: fill in start and walk, then {proving}",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["notes_job_driver.py"]


@pytest.mark.parametrize("name", ["my-driver.py", "driver.txt", "class.py", "2.py", "-"])
def test_a_driver_has_a_name_that_python_imports(arrowproof, tmp_path, name):
    result = arrowproof("init", "--driver", "notes", "--", name)
    assert (result.status, "notes_job_driver.py" in result.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
