"""The page in a real Chromium, on a real server: what it shows, what it does, and what it never does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from arrowproof.render.chromium import open_browser
from arrowproof.service.tokens import token_digest
from tests.service.engines import in_state, only_sqlite

DEADLINE = 20_000
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
INTRUSION = """() => {
  window.blocked = [];
  addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
  const script = document.createElement("script");
  script.append("document.title = 'owned'");
  document.body.append(script);
  try { document.body.innerHTML = "<b>x</b>"; } catch (error) { window.refused = error.name; }
  try { trustedTypes.createPolicy("mine", {}); } catch (error) { window.denied = error.name; }
}"""
FAILED_AT = "2026-11-29T15:09:02.118Z"
pytestmark = only_sqlite


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(DEADLINE)
    expect.set_options(timeout=DEADLINE)
    yield page
    context.close()


@pytest.fixture
def server(notes):
    return notes.server("--max-attempts", "2")


def fail(notes, server, key="key", text="text", error="no history today"):
    """A job that has failed, as a worker leaves it."""
    job_id = server.accept(key, text)["job_id"]
    notes.sql(
        "UPDATE jobs SET status = 'failed', attempts = 2, next_run_at = NULL, last_error = %s, finished_at = %s "
        "WHERE id = %s",
        error,
        FAILED_AT,
        job_id,
    )
    for attempt in (1, 2):
        notes.sql(
            "INSERT INTO attempt_errors (job_id, attempt, error, created_at) VALUES (%s, %s, %s, %s)",
            job_id,
            attempt,
            f"{error} ({attempt})",
            FAILED_AT,
        )
    return job_id


def open_page(tab, server, fragment=""):
    tab.goto(f"{server.ready['ready']}/{fragment}")
    expect(tab.locator("#board")).to_be_visible()


def test_it_counts_jobs_by_state_and_shows_the_failed_ones_with_their_errors(notes, server, tab):
    fail(notes, server, "failed", "buy milk")
    server.accept("pending")
    open_page(tab, server)
    expect(tab.locator("#state-failed")).to_contain_text("1")
    expect(tab.locator("#state-failed")).to_have_attribute("aria-current", "true")
    expect(tab.locator("#state-completed")).to_contain_text("0")
    row = tab.locator("#job-1")
    expect(row).to_contain_text("buy milk")
    expect(row).to_contain_text("2 of 2 attempts")
    expect(row.locator(".last")).to_have_text("no history today")
    row.get_by_role("button", name="All errors of job 1").click()
    expect(row.locator(".errors li")).to_have_count(2)
    expect(row.locator(".errors li").last).to_contain_text("no history today (2)")
    row.get_by_role("button", name="All errors of job 1").click()
    expect(row.locator(".errors")).to_have_count(0)


@pytest.mark.parametrize("fragment", ["", "#nowhere", "#toString", "#constructor", "#__proto__"])
def test_what_is_no_state_shows_the_failed_jobs(notes, server, tab, fragment):
    fail(notes, server)
    open_page(tab, server, fragment)
    expect(tab.locator("#title")).to_have_text("Failed")
    expect(tab.locator("#job-1")).to_be_visible()


def test_a_moment_that_no_calendar_has_is_shown_as_it_is(notes, server, tab):
    server.accept()
    notes.sql("UPDATE jobs SET next_run_at = 'infinity'")
    open_page(tab, server, "#pending")
    expect(tab.locator("#job-1 .when")).to_have_text("due infinity")


def test_a_failed_job_is_retried_and_a_waiting_one_cancelled_by_keyboard(notes, server, tab):
    job_id = fail(notes, server)
    open_page(tab, server)
    tab.get_by_role("button", name=f"Retry job {job_id}").focus()
    tab.keyboard.press("Enter")
    expect(tab.locator("#said")).to_have_text(f"Job {job_id} is pending again.")
    expect(tab.locator("#state-pending")).to_contain_text("1")
    assert server.job(job_id)["status"] == "pending"
    tab.locator("#state-pending").focus()
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile("#pending$"))
    tab.get_by_role("button", name=f"Cancel job {job_id}").press("Space")
    expect(tab.locator("#said")).to_have_text(f"Job {job_id} is cancelled.")
    assert server.job(job_id)["status"] == "cancelled"
    expect(tab.locator("#state-cancelled")).to_contain_text("1")


def test_a_job_that_is_elsewhere_by_now_is_told_and_not_changed(notes, server, tab):
    job_id = fail(notes, server)
    open_page(tab, server)
    button = tab.get_by_role("button", name=f"Retry job {job_id}")
    button.focus()
    notes.sql(f"UPDATE jobs SET {in_state('cancelled')} WHERE id = %s", job_id)
    tab.evaluate("id => { document.querySelector(`#job-${id}`).dataset.action = 'retry'; }", job_id)
    button.press("Enter")
    expect(tab.locator("#job-1 .act button")).to_have_text("Cancelled now")
    assert server.job(job_id)["status"] == "cancelled"


def test_what_others_wrote_is_shown_as_text_and_nothing_is_asked_of_anybody_else(notes, server, tab):
    fail(notes, server, "hostile", HOSTILE, HOSTILE)
    asked, said = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    open_page(tab, server)
    row = tab.locator("#job-1")
    expect(row.locator(".note")).to_have_text(HOSTILE)
    expect(row.locator(".last")).to_have_text(HOSTILE)
    row.get_by_role("button", name="All errors of job 1").click()
    expect(row.locator(".errors .error").first).to_have_text(f"{HOSTILE} (1)")
    assert tab.locator("#jobs img, #jobs script").count() == 0
    assert tab.title() == "Jobs · Notes"
    assert {url.removeprefix(server.ready["ready"]).partition("?")[0] for url in asked} == {
        "/",
        "/counts",
        "/jobs",
        "/jobs/1",
    }
    assert said == []


def test_its_policy_lets_no_other_script_run_and_no_text_become_markup(server, tab):
    open_page(tab, server)
    tab.evaluate(INTRUSION)
    assert tab.evaluate("() => [window.refused, window.denied]") == ["TypeError", "TypeError"]
    assert tab.title() == "Jobs · Notes"
    tab.wait_for_function("() => blocked.includes('require-trusted-types-for')")


@pytest.mark.parametrize("text", ["a long note " * 40, "four\nlines\nare\ncut"])
def test_a_note_that_has_no_room_is_read_as_a_whole(server, tab, text):
    server.accept("key", text)
    server.accept("other", "short")
    open_page(tab, server, "#pending")
    more = tab.get_by_role("button", name="Whole note of job 1")
    more.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    note = tab.locator("#job-1 .note")
    assert note.text_content() == text
    assert note.evaluate("(note) => note.scrollHeight === note.clientHeight")
    more.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "false")
    assert note.evaluate("(note) => note.scrollHeight > note.clientHeight")
    expect(tab.locator("#job-2 .plain")).to_have_count(0)


def test_what_has_no_room_beside_one_short_error_is_called_the_note(notes, server, tab):
    fail(notes, server, text="a long note " * 40)
    notes.sql("UPDATE jobs SET attempts = 1, max_attempts = 1")
    open_page(tab, server)
    more = tab.get_by_role("button", name="Whole note of job 1")
    more.press("Enter")
    expect(more).to_have_text("Less of the note")
    assert tab.locator("#job-1 .note").text_content() == "a long note " * 40


def test_a_long_error_is_read_as_a_whole_when_it_is_the_only_one(notes, server, tab):
    fail(notes, server, error="z" * 900)
    notes.sql("UPDATE jobs SET attempts = 1, max_attempts = 1")
    notes.sql("DELETE FROM attempt_errors WHERE attempt = 2")
    open_page(tab, server)
    tab.get_by_role("button", name="All errors of job 1").press("Enter")
    expect(tab.locator(".errors .error")).to_have_text("z" * 900 + " (1)")
    # What the list ends with is not said a second time above it.
    expect(tab.locator(".last")).to_be_hidden()


def test_the_failed_jobs_that_are_shown_are_retried_together(notes, server, tab):
    jobs = [fail(notes, server, key) for key in ("a", "b", "c")]
    open_page(tab, server)
    # One that another operator has retried meanwhile, and that this page does not know of yet.
    tab.evaluate("() => { refresh = () => {}; clearTimeout(timer); }")
    notes.sql(f"UPDATE jobs SET {in_state('cancelled')} WHERE id = %s", jobs[1])
    tab.get_by_role("button", name="Retry these 3").press("Enter")
    expect(tab.locator("#said")).to_have_text("Pending again: 2. In another state by now: 1.")
    expect(tab.locator("#title")).to_be_focused()
    assert [server.job(job_id)["status"] for job_id in jobs] == ["pending", "cancelled", "pending"]
    tab.reload()
    expect(tab.locator("#empty")).to_have_text("No job is failed.")
    expect(tab.locator("#all")).to_be_hidden()


def test_where_no_note_was_ever_sent_it_says_how_jobs_come(server, tab):
    open_page(tab, server)
    expect(tab.locator("#empty")).to_contain_text("There are no jobs yet. A note that is sent to POST /notes")
    server.accept()
    expect(tab.locator("#empty")).to_have_text("No job is failed.")


def test_a_live_refresh_brings_what_is_new_and_leaves_focus_and_selection_alone(notes, server, tab):
    first = fail(notes, server, "first")
    second = fail(notes, server, "second")
    open_page(tab, server)
    button = tab.get_by_role("button", name=f"Retry job {first}")
    button.focus()
    tab.evaluate("() => getSelection().selectAllChildren(document.querySelector('#job-1 .note'))")
    third = fail(notes, server, "third")
    assert server.client.post(f"/jobs/{second}/retry").status_code == 200
    expect(tab.locator(f"#job-{third}")).to_be_visible()
    expect(tab.locator(f"#job-{second}")).to_have_count(0)
    expect(button).to_be_focused()
    assert tab.evaluate("() => String(getSelection())") == "text"
    assert server.client.post(f"/jobs/{first}/retry").status_code == 200
    row_button = tab.locator(f"#job-{first} .act button")
    expect(row_button).to_have_text("Pending now")
    expect(row_button).to_be_focused()
    expect(row_button).to_have_attribute("aria-disabled", "true")
    tab.locator("#state-failed").focus()
    expect(tab.locator(f"#job-{first}")).to_have_count(0)
    assert [row.get_attribute("id") for row in tab.locator("#jobs > li").all()] == [f"job-{third}"]


def test_it_pages_through_many(notes, server, tab):
    for number in range(52):
        server.accept(f"many-{number}")
    notes.sql(f"UPDATE jobs SET {in_state('failed', FAILED_AT)}, attempts = 2, last_error = 'e'")
    open_page(tab, server)
    expect(tab.locator("#jobs > li")).to_have_count(50)
    expect(tab.locator("#newest")).to_be_hidden()
    tab.locator("#older").click()
    expect(tab.locator("#jobs > li")).to_have_count(2)
    expect(tab.locator("#title")).to_have_text("Failed, older than #3")
    expect(tab.locator("#title")).to_be_focused()
    expect(tab.locator("#older")).to_be_hidden()
    tab.locator("#newest").click()
    expect(tab.locator("#job-52")).to_be_visible()


def test_a_server_that_is_gone_is_told_and_what_was_there_stays(notes, server, tab):
    fail(notes, server)
    open_page(tab, server)
    expect(tab.locator("#job-1")).to_be_visible()
    server.kill()
    expect(tab.locator("#trouble")).to_have_text("The service does not answer. Trying again.")
    expect(tab.locator("#job-1")).to_be_visible()


def test_a_token_is_asked_for_kept_in_the_tab_and_forgotten_when_told_to(notes, tab, tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"alice {token_digest('hers')}\nbob {token_digest('his')}\n")
    file.chmod(0o600)
    server = notes.server("--tokens", str(file))
    headers = {"Authorization": "Bearer hers", "Idempotency-Key": "k"}
    assert server.client.post("/notes", headers=headers, json={"text": "her note"}).status_code == 202
    tab.goto(f"{server.ready['ready']}/#pending")
    expect(tab.locator("#token")).to_be_focused()
    for wrong in ("wrong", "é"):
        tab.locator("#token").fill(wrong)
        with tab.expect_response(lambda answer: answer.status == 401):
            tab.keyboard.press("Enter")
        expect(tab.locator("#wrong")).to_have_text("This token is not known.")
    tab.locator("#token").fill(" hers ")
    tab.get_by_role("button", name="Show my jobs").click()
    expect(tab.locator("#job-1")).to_contain_text("her note")
    assert tab.evaluate("() => [sessionStorage.length, localStorage.length, document.cookie]") == [1, 0, ""]
    tab.reload()
    expect(tab.locator("#job-1")).to_be_visible()
    tab.get_by_role("button", name="Forget the token").click()
    expect(tab.locator("#token")).to_be_focused()
    expect(tab.locator("#job-1")).to_have_count(0)
    assert tab.evaluate("() => sessionStorage.length") == 0
    tab.locator("#token").fill("his")
    tab.keyboard.press("Enter")
    expect(tab.locator("#empty")).to_have_text("No job is pending.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_it_is_accessible_and_fits_in_both_themes_on_a_screen_and_a_telephone(
    notes, server, browser, scheme, width, height
):
    fail(notes, server, "failed", "x" * 300, "y" * 500)
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    try:
        tab = context.new_page()
        open_page(tab, server)
        tab.get_by_role("button", name="All errors of job 1").click()
        expect(tab.locator(".errors li")).to_have_count(2)
        # axe brings its own script, which the page's policy would not let in by itself.
        found = Axe().run(tab)
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found.response["violations"]] == []
        assert tab.evaluate("() => document.documentElement.scrollWidth") == width
    finally:
        context.close()


def test_on_a_telephone_the_button_of_a_job_is_large_enough_for_a_thumb_and_not_as_wide_as_its_row(server, browser):
    server.accept()
    context = browser.new_context(viewport={"width": 390, "height": 844})
    try:
        tab = context.new_page()
        open_page(tab, server, "#pending")
        button = tab.get_by_role("button", name="Cancel job 1").bounding_box()
        row = tab.locator("#job-1").bounding_box()
        assert button["height"] >= 44
        assert 44 <= button["width"] <= row["width"] / 2
    finally:
        context.close()
