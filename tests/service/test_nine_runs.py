"""The nine runs that the notes service is known by, over real HTTP, processes and files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor


def counts(notes):
    """How many notes, jobs and history rows there are."""
    return notes.sql("SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM jobs), count(*) FROM note_events")[0]


def test_same_key_twice_gives_the_same_note_and_says_that_it_was_replayed(notes):
    server = notes.server()
    first = server.accept("k", "buy milk")
    again = server.accept("k", "  buy milk\n")
    assert first["replayed"] is False
    assert again == {**first, "replayed": True}
    assert counts(notes) == (1, 1, 0)
    assert server.note(first["note_id"])["text"] == "buy milk"


def test_twelve_at_once_with_one_key_make_one_note_and_one_job(notes):
    server = notes.server()
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda _: server.accept("k", "buy milk"), range(12)))
    assert len({(answer["note_id"], answer["job_id"]) for answer in answers}) == 1
    assert sorted(answer["replayed"] for answer in answers) == [False] + [True] * 11
    assert counts(notes) == (1, 1, 0)


def test_same_key_with_another_text_is_a_conflict_and_stores_nothing(notes):
    server = notes.server()
    server.accept("k", "buy milk")
    refused = server.post("k", "buy bread")
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["status"] == 409
    assert counts(notes) == (1, 1, 0)


def test_another_key_with_the_same_text_is_another_note(notes):
    server = notes.server()
    first = server.accept("k", "buy milk")
    second = server.accept("l", "buy milk")
    assert second["replayed"] is False
    assert (first["note_id"], first["job_id"]) != (second["note_id"], second["job_id"])
    assert counts(notes) == (2, 2, 0)


def test_after_one_failure_the_second_attempt_waits_until_due_and_completes(notes):
    server = notes.server()
    job_id = server.accept()["job_id"]
    notes.refuse_history()
    assert notes.worker("--retry-delay", "1").outcome() == {"outcome": "retry_wait", "job_id": job_id}
    waiting = server.job(job_id)
    assert (waiting["status"], waiting["attempts"]) == ("retry_wait", 1)
    assert "no history today" in waiting["last_error"]
    notes.allow_history()
    assert notes.worker("--max-polls", "100").outcome() == {"outcome": "completed", "job_id": job_id}
    (event,) = server.note(waiting["note_id"])["events"]
    assert event["created_at"] >= waiting["next_run_at"]
    done = server.job(job_id)
    assert (done["status"], done["attempts"], done["next_run_at"], done["last_error"]) == ("completed", 2, None, None)
    assert counts(notes) == (1, 1, 1)


def test_a_fault_that_stays_leads_over_two_retries_to_failed_with_three_attempts_and_no_history(notes):
    server = notes.server()
    job_id = server.accept()["job_id"]
    notes.refuse_history()
    seen = []
    for _ in range(3):
        outcome = notes.worker().outcome()
        job = server.job(job_id)
        assert outcome == {"outcome": job["status"], "job_id": job_id}
        seen.append((job["status"], job["attempts"], job["next_run_at"] is None))
    assert seen == [("retry_wait", 1, False), ("retry_wait", 2, False), ("failed", 3, True)]
    notes.allow_history()
    assert notes.worker().outcome() == {"outcome": "idle", "job_id": None}
    assert counts(notes) == (1, 1, 0)


def test_a_kill_after_the_history_insert_and_before_commit_leaves_pending_and_a_new_worker_completes_it(notes):
    server = notes.server()
    accepted = server.accept()
    worker = notes.worker(hold="after-history")
    assert notes.held("after-history") == {"pid": worker.pid, "point": "after-history"}
    worker.kill()
    job = server.job(accepted["job_id"])
    assert (job["status"], job["attempts"]) == ("pending", 0)
    assert server.note(accepted["note_id"])["events"] == []
    assert notes.worker().outcome() == {"outcome": "completed", "job_id": accepted["job_id"]}
    assert server.job(accepted["job_id"])["attempts"] == 1
    (event,) = server.note(accepted["note_id"])["events"]
    assert (event["job_id"], event["attempt"]) == (accepted["job_id"], 1)


def test_a_kill_after_commit_and_before_the_log_line_leaves_completed_and_the_next_worker_is_idle(notes):
    server = notes.server()
    accepted = server.accept()
    worker = notes.worker(hold="after-commit")
    notes.held("after-commit")
    worker.kill()
    assert worker.stdout == ""
    assert "outcome" not in worker.stderr
    job = server.job(accepted["job_id"])
    assert (job["status"], job["attempts"]) == ("completed", 1)
    assert notes.worker().outcome() == {"outcome": "idle", "job_id": None}
    assert len(server.note(accepted["note_id"])["events"]) == 1


def test_of_two_workers_at_once_one_completes_and_the_other_is_idle(notes):
    server = notes.server()
    job_id = server.accept()["job_id"]
    first = notes.worker(hold="after-history")
    notes.held("after-history")
    # The first is stopped with its lock in its hand, so that the second surely comes while it is at work: in SQLite it
    # waits for the lock, in PostgreSQL it passes over the job.
    second = notes.worker("--busy-timeout", "20")
    if notes.engine.name == "sqlite":
        notes.wait_until_open(second)
    else:
        assert second.outcome() == {"outcome": "idle", "job_id": None}
    notes.release("after-history")
    assert first.outcome() == {"outcome": "completed", "job_id": job_id}
    assert second.outcome() == {"outcome": "idle", "job_id": None}
    assert server.job(job_id)["attempts"] == 1
    assert counts(notes) == (1, 1, 1)
