"""Jobs over real HTTP, changed by hand while real workers have them or not."""

from __future__ import annotations

import threading

import httpx
import pytest

from tests.service.problems import assert_problem


@pytest.fixture
def server(notes):
    return notes.server("--max-attempts", "2", "--busy-timeout", "0.3")


def fail(notes, *arguments):
    """Work until the only job has failed."""
    notes.refuse_history()
    notes.worker("--max-polls", "5", *arguments).outcome()
    notes.allow_history()


def post(server, job_id, what):
    return server.client.post(f"/jobs/{job_id}/{what}")


def test_a_failed_job_that_is_retried_is_due_at_once_with_all_its_attempts_again(notes, server):
    accepted = server.accept()
    fail(notes)
    failed = server.job(accepted["job_id"])
    assert (failed["status"], failed["attempts"], failed["next_run_at"]) == ("failed", 2, None)
    assert failed["finished_at"] is not None
    assert [error["attempt"] for error in failed["errors"]] == [1, 2]
    assert all("no history today" in error["error"] and error["created_at"] for error in failed["errors"])
    answer = post(server, accepted["job_id"], "retry")
    assert answer.status_code == 200
    job = answer.json()
    assert job == server.job(accepted["job_id"])
    assert (job["status"], job["attempts"], job["max_attempts"], job["finished_at"]) == ("pending", 2, 4, None)
    assert job["next_run_at"] is not None
    assert job["errors"] == failed["errors"]
    assert notes.worker().outcome() == {"outcome": "completed", "job_id": accepted["job_id"]}
    assert server.note(accepted["note_id"])["events"][0]["attempt"] == 3
    assert server.job(accepted["job_id"])["finished_at"] is not None


def test_a_retried_job_can_fail_and_be_retried_again(notes, server):
    job_id = server.accept()["job_id"]
    for round_number in (1, 2):
        fail(notes)
        assert server.job(job_id)["attempts"] == 2 * round_number
        assert post(server, job_id, "retry").json()["max_attempts"] == 2 * round_number + 2


@pytest.mark.parametrize("state", ["pending", "retry_wait"])
def test_a_waiting_job_can_be_cancelled_and_nobody_works_on_it_any_more(notes, server, state):
    job_id = server.accept()["job_id"]
    if state == "retry_wait":
        notes.refuse_history()
        notes.worker().outcome()
        notes.allow_history()
    assert server.job(job_id)["status"] == state
    answer = post(server, job_id, "cancel")
    assert answer.status_code == 200
    job = answer.json()
    assert job == server.job(job_id)
    assert (job["status"], job["next_run_at"]) == ("cancelled", None)
    assert job["finished_at"] is not None
    assert notes.worker().outcome() == {"outcome": "idle", "job_id": None}


def test_a_job_in_any_other_state_is_left_as_it_is(notes, server):
    completed = server.accept("completed")["job_id"]
    notes.worker().outcome()
    failed = server.accept("failed")["job_id"]
    fail(notes)
    cancelled = server.accept("cancelled")["job_id"]
    assert post(server, cancelled, "cancel").status_code == 200
    pending = server.accept("pending")["job_id"]
    before = {job: server.job(job) for job in (completed, failed, cancelled, pending)}
    for job_id, what in (
        (completed, "retry"),
        (completed, "cancel"),
        (failed, "cancel"),
        (cancelled, "retry"),
        (cancelled, "cancel"),
        (pending, "retry"),
    ):
        answer = post(server, job_id, what)
        assert_problem(answer, 409, "job-state", state=before[job_id]["status"])
        assert answer.json()["detail"] == f"the job is {before[job_id]['status']}; nothing was changed"
    assert {job: server.job(job) for job in before} == before


@pytest.mark.parametrize("what", ["retry", "cancel"])
def test_a_job_that_is_not_there_is_not_found(server, what):
    assert_problem(post(server, 1, what), 404)
    assert_problem(post(server, "01", what), 404)


@pytest.mark.parametrize(("what", "state"), [("retry", "failed"), ("cancel", "pending")])
def test_of_many_who_ask_at_once_one_is_told_that_it_did_it(notes, what, state):
    servers = [notes.server("--max-attempts", "1") for _ in range(2)]
    job_id = servers[0].accept()["job_id"]
    if state == "failed":
        fail(notes)
    answers = []
    threads = [
        threading.Thread(target=lambda one=servers[number % 2]: answers.append(post(one, job_id, what)))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200] + 11 * [409]
    assert servers[0].job(job_id)["status"] == {"retry": "pending", "cancel": "cancelled"}[what]


def test_an_attempt_that_is_under_way_is_waited_for_and_wins(notes):
    server = notes.server("--busy-timeout", "30")
    job_id = server.accept()["job_id"]
    worker = notes.worker(hold="after-state")
    notes.held("after-state")
    answers = []
    client = threading.Thread(target=lambda: answers.append(post(server, job_id, "cancel")))
    client.start()
    notes.release("after-state")
    client.join()
    assert worker.outcome()["outcome"] == "completed"
    assert_problem(answers[0], 409, "job-state", state="completed")


def test_a_job_that_a_worker_keeps_for_too_long_is_busy_and_stays_its_own(notes, server):
    job_id = server.accept()["job_id"]
    worker = notes.worker(hold="after-state")
    notes.held("after-state")
    answer = post(server, job_id, "cancel")
    assert_problem(answer, 503, "busy")
    assert answer.headers["retry-after"] == "1"
    notes.release("after-state")
    assert worker.outcome() == {"outcome": "completed", "job_id": job_id}


@pytest.mark.parametrize("what", ["retry", "cancel"])
@pytest.mark.parametrize(("point", "changed"), [("after-job", False), ("after-commit", True)])
def test_a_server_that_is_killed_has_changed_the_job_once_it_has_committed(notes, what, point, changed):
    first = notes.server("--max-attempts", "1")
    job_id = first.accept()["job_id"]
    if what == "retry":
        fail(notes)
    before = first.job(job_id)
    held = notes.server(hold=point)

    def ask_in_vain():
        with pytest.raises(httpx.TransportError):
            post(held, job_id, what)

    client = threading.Thread(target=ask_in_vain)
    client.start()
    notes.held(point)
    held.kill()
    client.join()
    after = first.job(job_id)
    assert (after != before) is changed
    assert after["status"] == ({"retry": "pending", "cancel": "cancelled"}[what] if changed else before["status"])
    assert post(first, job_id, what).status_code == (409 if changed else 200)
