"""The preview in real processes, over real HTTP, in a real Chromium."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from arrowproof.errors import InputError
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.chromium import open_browser
from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from arrowproof.render.preview import Showing, View, make_app, serve


@cache
def notes_page() -> str:
    return render_page(load_lifecycle(Path(str(files("arrowproof"))) / "service" / "notes-job.lifecycle.json"))


# Serves a file that is broken when it says so; the message holds what must not become markup.
PROGRAM = """
import sys
import time
from pathlib import Path
from arrowproof.errors import InputError
from arrowproof.render.preview import View, serve

target = Path(sys.argv[1])
beside = target.parent / "beside" / "other.json"

def render():
    text = target.read_text(encoding="utf-8")
    if text.startswith("<!doctype"):
        return View(text, warnings=("one",) if "doubtful" in text else ())
    if "broken" in text:
        raise InputError("<img src=x onerror=alert(1)> line 1: broken")
    if "held" in text:
        while not (target.parent / "go").exists():
            time.sleep(0.02)
    if "slow" in text:
        print("rendering", flush=True)
        time.sleep(600)
    if "bug" in text:
        raise ZeroDivisionError("a bug")
    text += beside.read_text(encoding="utf-8") if beside.exists() else ""
    page = "<!doctype html><title>t</title><script>window.ran = 1</script><p id=said>" + text + "</p>"
    warnings = [f"w{number}" for number in range(120)] if "many" in text else ("<b>one", "two")
    return View(page, warnings=tuple(warnings) if "doubtful" in text else ())

try:
    serve(target, render, beside=[beside], open_browser=False, announce=lambda address: print(address, flush=True),
          complain=lambda error: print("error:", error, flush=True), drawing=lambda: print("drawing", flush=True),
          drawn=lambda seconds: print("drawn", type(seconds).__name__, flush=True))
except KeyboardInterrupt:
    sys.exit(130)
"""


@dataclass
class Preview:
    target: Path
    address: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.address.rstrip("/").rpartition(":")[2])

    def line(self) -> str:
        """The next line in the terminal."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def replace(self, text: str) -> None:
        """Write as editors do that put a new file in the place of the old one."""
        new = self.target.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(self.target)


@pytest.fixture
def preview(tmp_path: Path) -> Iterator[Preview]:
    target = tmp_path / "watched" / "page.html"
    target.parent.mkdir()
    target.write_text("first", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process:
        try:
            drawn = process.stdout.readline()
            while drawn == "drawing\n":  # a machine that is busy
                drawn = process.stdout.readline()
            assert drawn == "drawn float\n"
            yield Preview(target, process.stdout.readline().strip(), process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, preview: Preview) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(preview.address)
    said(page, "first")
    yield page
    context.close()


def said(page: Page, text: str) -> None:
    """Wait until the page in the frame says a text."""
    page.frame_locator("iframe").locator("#said", has_text=text).wait_for()


def opened(page: Page, title: str = "Note job") -> None:
    """Wait until the page of this title stands in the frame, and its script has started."""
    page.frame_locator("iframe").locator("h1", has_text=title).wait_for()
    page.frames[1].wait_for_load_state("load")


def test_the_page_is_shown_anew_when_its_file_is_written(preview: Preview, page: Page) -> None:
    preview.target.write_text("second", encoding="utf-8")
    said(page, "second")


def test_the_page_is_shown_anew_when_its_file_is_replaced(preview: Preview, page: Page) -> None:
    preview.replace("second")
    said(page, "second")
    preview.replace("third")
    said(page, "third")


def test_a_source_that_is_taken_away_and_put_back_is_shown_again(preview: Preview, page: Page) -> None:
    preview.target.unlink()
    page.locator("#error", has_text="No such file").wait_for()
    said(page, "first")
    preview.target.write_text("second", encoding="utf-8")
    page.locator("#error").wait_for(state="hidden")
    said(page, "second")


def test_after_a_burst_of_saves_the_last_one_is_shown(preview: Preview, page: Page) -> None:
    for number in range(200):
        preview.target.write_text(f"save {number};", encoding="utf-8")
    said(page, "save 199;")


def test_a_folder_that_another_one_replaces_is_watched_on(preview: Preview, page: Page) -> None:
    folder = preview.target.parent
    folder.rename(folder.with_name("before"))
    folder.mkdir()
    preview.target.write_text("second", encoding="utf-8")
    said(page, "second")
    preview.target.write_text("third", encoding="utf-8")
    said(page, "third")


def test_a_folder_that_is_gone_is_said(preview: Preview, page: Page) -> None:
    preview.target.parent.rename(preview.target.parent.with_name("gone"))
    page.locator("#error", has_text="No such file").wait_for()
    said(page, "first")
    preview.target.parent.with_name("gone").rename(preview.target.parent)
    page.locator("#error").wait_for(state="hidden")


def test_a_link_that_comes_to_lead_elsewhere_is_followed(preview: Preview, page: Page, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.html").write_text(f"of {name}", encoding="utf-8")
    link = tmp_path / "now"
    link.symlink_to("one")
    preview.target.unlink()
    preview.target.symlink_to(link / "page.html")
    said(page, "of one")
    (tmp_path / "new").symlink_to("two")
    (tmp_path / "new").replace(link)
    said(page, "of two")


def test_a_file_beside_the_source_is_watched_even_when_its_folder_comes_later(preview: Preview, page: Page) -> None:
    beside = preview.target.parent / "beside" / "other.json"
    beside.parent.mkdir()
    beside.write_text(" and more", encoding="utf-8")
    said(page, "first and more")
    beside.write_text(" and other", encoding="utf-8")
    said(page, "first and other")


def test_a_broken_source_keeps_the_last_good_page_and_shows_why(preview: Preview, page: Page) -> None:
    preview.target.write_text("broken", encoding="utf-8")
    page.locator("#error", has_text="line 1: broken").wait_for()
    said(page, "first")
    assert page.locator("#error img").count() == 0
    expect(page).to_have_title("⚠ t")


def test_a_mended_source_takes_the_message_away(preview: Preview, page: Page) -> None:
    preview.target.write_text("broken", encoding="utf-8")
    page.locator("#error").wait_for(state="visible")
    preview.target.write_text("mended", encoding="utf-8")
    page.locator("#error").wait_for(state="hidden")
    said(page, "mended")


def test_warnings_are_one_line_that_opens_over_the_page_until_they_are_gone(preview: Preview, page: Page) -> None:
    frame = page.locator("iframe").bounding_box()
    preview.target.write_text("doubtful", encoding="utf-8")
    said(page, "doubtful")
    line = page.locator("#warnings summary")
    expect(line).to_have_text("2 warnings")
    expect(page.locator("#warnings pre")).to_be_hidden()
    assert page.locator("#error").is_hidden()
    line.press("Enter")
    expect(page.locator("#warnings pre")).to_have_text("<b>one\ntwo")
    assert page.locator("iframe").bounding_box() == frame
    page.keyboard.press("Escape")
    expect(page.locator("#warnings pre")).to_be_hidden()
    preview.target.write_text("clear", encoding="utf-8")
    page.locator("#warnings").wait_for(state="hidden")


def test_the_line_of_the_warnings_stands_in_the_margin_of_a_page(preview: Preview, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    preview.replace(notes_page() + "<!-- doubtful -->")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".legend")).to_be_visible()
    expect(page.locator("#warnings summary")).to_be_visible()
    legend, line = frame.locator(".legend").bounding_box(), page.locator("#warnings").bounding_box()
    assert legend is not None
    assert line is not None
    assert legend["y"] + legend["height"] <= line["y"]
    assert line["y"] + line["height"] <= 900


def test_more_warnings_than_an_error_lists_are_counted(preview: Preview, page: Page) -> None:
    preview.target.write_text("doubtful many", encoding="utf-8")
    line = page.locator("#warnings summary")
    expect(line).to_have_text("120 warnings")
    line.press("Enter")
    assert page.locator("#warnings pre").inner_text().splitlines()[-2:] == ["w99", "and 20 more"]


def test_beside_an_error_there_are_no_warnings_of_the_last_good_page(preview: Preview, page: Page) -> None:
    preview.target.write_text("doubtful", encoding="utf-8")
    page.locator("#warnings").wait_for()
    preview.target.write_text("broken", encoding="utf-8")
    page.locator("#error").wait_for()
    expect(page.locator("#warnings")).to_be_hidden()


def test_a_page_that_is_being_drawn_is_said_in_the_browser(preview: Preview, page: Page) -> None:
    preview.target.write_text("held", encoding="utf-8")
    expect(page.locator("#drawing")).to_be_visible()
    said(page, "first")
    (preview.target.parent / "go").touch()
    said(page, "held")
    expect(page.locator("#drawing")).to_be_hidden()


def test_each_save_is_a_line_in_the_terminal(preview: Preview) -> None:
    preview.replace("second")
    assert preview.line() == "drawn float"
    preview.replace("broken")
    assert preview.line() == "error: <img src=x onerror=alert(1)> line 1: broken"


def test_a_first_page_that_takes_its_time_is_said_in_the_terminal(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("held", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "drawing\n"
            (tmp_path / "go").touch()
            assert process.stdout.readline() == "drawn float\n"
            assert process.stdout.readline().startswith("http://127.0.0.1:")
        finally:
            process.kill()


def expect_chosen(page: Page, state: str | None) -> None:
    """This state, and no other, comes to be chosen on the page in the frame."""
    marked = page.frame_locator("iframe").locator(".state[aria-pressed=true]")
    if state is not None:
        expect(marked.and_(page.frame_locator("iframe").locator(f"[data-state={state}]"))).to_have_count(1)
    expect(marked).to_have_count(0 if state is None else 1)


def choose(page: Page, state: str) -> None:
    page.frame_locator("iframe").locator(f".state[data-state={state}]").click()
    page.wait_for_url(f"**/#state={state}")


def test_a_step_on_the_page_is_a_step_of_the_shell_s_history(preview: Preview, page: Page) -> None:
    preview.replace(notes_page())
    opened(page)
    before = page.evaluate("history.length")
    choose(page, "pending")
    choose(page, "failed")
    assert page.evaluate("history.length") == before + 2
    for step, state in ((page.go_back, "pending"), (page.go_back, None), (page.go_forward, "pending")):
        step()
        expect_chosen(page, state)
        expect(page).to_have_url(preview.address + ("" if state is None else f"#state={state}"))


def test_the_steps_before_a_save_are_still_there_after_it_and_it_is_none_itself(preview: Preview, page: Page) -> None:
    preview.replace(notes_page())
    opened(page)
    choose(page, "pending")
    choose(page, "failed")
    steps = page.evaluate("history.length")
    preview.replace(notes_page().replace("Note job", "Note work"))
    opened(page, "Note work")
    assert page.evaluate("history.length") == steps
    page.go_back()
    expect(page.frame_locator("iframe").locator("h1")).to_have_text("Note work")
    expect_chosen(page, "pending")
    expect(page).to_have_url(f"{preview.address}#state=pending")


def test_the_link_that_is_copied_is_the_address_of_the_shell(preview: Preview, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    preview.replace(notes_page())
    opened(page)
    choose(page, "pending")
    page.frame_locator("iframe").get_by_role("button", name="Copy link").click()
    expect(page.frame_locator("iframe").locator("#status")).to_have_text("Copied.")
    page.bring_to_front()
    assert page.evaluate("navigator.clipboard.readText()") == f"{preview.address}#state=pending"


def test_an_address_that_names_nothing_is_said_by_the_page_and_goes_from_the_shell(
    preview: Preview, page: Page
) -> None:
    preview.replace(notes_page())
    opened(page)
    for _ in range(2):  # a page that is open, and one that opens
        page.goto(f"{preview.address}#state=nope")
        page.frame_locator("iframe").locator(".notice").wait_for()
        page.wait_for_url(preview.address)
        page.goto("about:blank")


def test_keys_are_for_the_page_without_a_click_unless_the_reader_is_in_the_shell(preview: Preview, page: Page) -> None:
    preview.replace(notes_page() + "<!-- doubtful -->")
    opened(page)
    expect(page.locator("iframe")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.frame_locator("iframe").get_by_role("button", name="Copy link")).to_be_focused()
    page.locator("#warnings summary").focus()
    preview.replace(notes_page().replace("Note job", "Note work") + "<!-- doubtful -->")
    opened(page, "Note work")
    expect(page.locator("#warnings summary")).to_be_focused()


def test_the_tab_is_called_as_the_page_is_and_stays_so(preview: Preview, page: Page) -> None:
    preview.replace(notes_page())
    expect(page).to_have_title(re.compile("^Note job: 6 states, "))
    preview.replace(notes_page().replace("Note job", "Note &amp; work"))
    expect(page).to_have_title(re.compile("^Note & work: 6 states, "))
    page.reload()
    expect(page).to_have_title(re.compile("^Note & work: 6 states, "))


def test_a_page_without_a_title_is_called_by_the_name_of_its_file(preview: Preview, page: Page) -> None:
    preview.replace("<!doctype html><p id=said>bare")
    said(page, "bare")
    expect(page).to_have_title("page.html")


def test_a_server_that_has_ended_is_said(preview: Preview, page: Page) -> None:
    preview.process.send_signal(signal.SIGINT)
    page.locator("#error", has_text="disconnected").wait_for()
    said(page, "first")


def test_the_theme_and_the_choice_outlast_the_next_page_and_a_reload_of_the_shell(preview: Preview, page: Page) -> None:
    preview.replace(notes_page())
    opened(page)
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Theme").click()
    frame.get_by_role("button", name="pending → failed").click()
    chosen = frame.locator(".list button[aria-pressed=true]", has_text="pending → failed")
    page.wait_for_url("**/#transition=pending:failed")  # the shell has heard of it
    for change in (lambda: preview.replace(notes_page().replace("Note job", "Note work")), page.reload):
        change()
        opened(page, "Note work")
        chosen.wait_for()
        expect(frame.get_by_role("button", name="Theme")).to_have_text("Theme: dark")
    expect(page).to_have_url(f"{preview.address}#transition=pending:failed")


def test_a_bug_in_rendering_is_shown_and_does_not_end_the_session(preview: Preview, page: Page) -> None:
    preview.target.write_text("bug", encoding="utf-8")
    page.locator("#error", has_text="Internal error").wait_for()
    preview.target.write_text("well", encoding="utf-8")
    said(page, "well")


def test_several_browsers_are_served_at_once(preview: Preview, page: Page) -> None:
    other = page.context.new_page()
    other.goto(preview.address)
    said(other, "first")
    preview.target.write_text("second", encoding="utf-8")
    said(page, "second")
    said(other, "second")


def test_a_browser_has_more_tabs_of_it_than_connections(preview: Preview, page: Page) -> None:
    tabs = [page, *(page.context.new_page() for _ in range(7))]
    for tab in tabs[1:]:
        tab.goto(preview.address)
        said(tab, "first")
    preview.target.write_text("second", encoding="utf-8")
    for tab in tabs:
        said(tab, "second")
    tabs.pop(0).close()
    preview.target.write_text("third", encoding="utf-8")
    for tab in tabs:
        said(tab, "third")
    preview.process.send_signal(signal.SIGINT)
    for tab in tabs:
        tab.locator("#error", has_text="disconnected").wait_for()


def test_a_tab_listens_for_itself_where_locks_are_refused(browser: Browser, preview: Preview) -> None:
    page = browser.new_page()
    page.add_init_script("navigator.locks.request = () => Promise.reject(new DOMException('denied', 'SecurityError'))")
    page.goto(preview.address)
    said(page, "first")
    preview.target.write_text("second", encoding="utf-8")
    said(page, "second")
    page.close()


def test_the_fragment_reaches_the_page(preview: Preview, page: Page) -> None:
    page.goto("about:blank")
    page.goto(f"{preview.address}#arrow=retry")
    said(page, "first")
    page.frames[1].wait_for_url("**#arrow=retry")


def test_the_page_runs_its_script_apart_from_the_shell(page: Page) -> None:
    frame = page.frames[1]
    assert frame.evaluate("window.ran") == 1
    assert frame.evaluate("window.origin") == "null"


def test_the_shell_says_nothing_on_the_console(browser: Browser, preview: Preview) -> None:
    context = browser.new_context()
    page, heard = context.new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(error.message))
    page.goto(preview.address)
    said(page, "first")
    context.close()
    assert heard == []


@pytest.mark.parametrize("path", ["", "page", "events"])
@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.example.com:{port}", ""])
def test_a_foreign_host_is_refused(preview: Preview, path: str, host: str) -> None:
    answer = httpx.get(preview.address + path, headers={"host": host.format(port=preview.port)})
    assert answer.status_code in (400, 421)
    assert "first" not in answer.text


def test_localhost_is_the_same_server(preview: Preview) -> None:
    answer = httpx.get(preview.address + "page", headers={"host": f"localhost:{preview.port}"})
    assert answer.status_code == 200
    assert "first" in answer.text


@pytest.mark.parametrize(("port", "host"), [(80, "127.0.0.1"), (80, "localhost"), (8080, "127.0.0.1:8080")])
def test_the_host_is_named_as_browsers_name_it_at_this_port(port: int, host: str) -> None:
    app = make_app(Showing(View, lambda *_: None), load_language(), "page.html", port)

    async def ask() -> list[int]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://{host}") as client:
            return [(await client.get("/page", headers={"host": name})).status_code for name in (host, "example.com")]

    with ThreadPoolExecutor() as apart:  # this thread has the loop of the browser
        assert apart.submit(asyncio.run, ask()).result() == [200, 421]


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://example.com"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}],
    ids=["foreign", "sandboxed", "cross-site"],
)
def test_the_event_stream_is_for_the_shell_only(preview: Preview, headers: dict[str, str]) -> None:
    assert httpx.get(preview.address + "events", headers=headers).status_code == 403


def test_the_event_stream_begins_with_the_state_at_present(preview: Preview) -> None:
    own = {"origin": preview.address.rstrip("/")}
    with httpx.stream("GET", preview.address + "events", headers=own) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(lines) == "event: state"
        assert '"error": null' in next(lines)


@pytest.mark.parametrize("path", ["", "page", "nothing"])
def test_every_answer_bears_the_security_headers(preview: Preview, path: str) -> None:
    headers = httpx.get(preview.address + path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_nothing_can_be_written(preview: Preview) -> None:
    assert httpx.post(preview.address).status_code == 405


@pytest.mark.parametrize(("chosen", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupt_ends_it_cleanly_with_browsers_still_listening(
    preview: Preview, page: Page, chosen: signal.Signals, status: int
) -> None:
    expect(page).to_have_title("t")
    preview.process.send_signal(chosen)
    _, errors = preview.process.communicate(timeout=60)
    assert preview.process.returncode == status
    assert errors == ""
    with pytest.raises(httpx.ConnectError):
        httpx.get(preview.address)


def test_an_interrupt_does_not_wait_for_who_does_not_take_the_page(preview: Preview) -> None:
    preview.replace("x" * 20_000_000)
    assert preview.line() == "drawn float"
    with socket.create_connection(("127.0.0.1", preview.port)) as client:
        client.sendall(f"GET /page HTTP/1.1\r\nHost: 127.0.0.1:{preview.port}\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 200"
        preview.process.send_signal(signal.SIGINT)
        _, errors = preview.process.communicate(timeout=60)
    assert (preview.process.returncode, errors) == (130, "")


@pytest.mark.parametrize("chosen", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_does_not_wait_for_a_render(preview: Preview, chosen: signal.Signals) -> None:
    preview.replace("slow")
    assert preview.line() == "rendering"
    preview.process.send_signal(chosen)
    _, errors = preview.process.communicate(timeout=60)
    assert errors == ""


def test_a_termination_before_it_serves_leaves_no_trace(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("first", encoding="utf-8")
    program = """
import os, signal, sys
from pathlib import Path
from arrowproof.render import preview, preview_watch

def terminate(*_):
    raise KeyboardInterrupt

def awatch(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)

signal.signal(signal.SIGTERM, terminate)
preview_watch.awatch = awatch
try:
    preview.serve(Path(sys.argv[1]), str, open_browser=False, announce=print, complain=print)
except KeyboardInterrupt:
    sys.exit(143)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(target)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (143, "")


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("x", encoding="utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"Port {port} cannot be served on"):
            serve(target, View, port=port, open_browser=False, announce=print, complain=print)


def test_a_missing_target_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no file"):
        serve(tmp_path / "missing.json", View, open_browser=False, announce=print, complain=print)


def test_the_users_browser_is_opened_at_the_address(tmp_path: Path) -> None:
    """BROWSER names a program that writes the address it is given."""
    target, opened = tmp_path / "page.html", tmp_path / "opened"
    target.write_text("first", encoding="utf-8")
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\nkill -INT "$PPID"\n')
    script.chmod(0o755)
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("open_browser=False", "open_browser=True"), str(target)],
        env={**os.environ, "BROWSER": f"{script} %s"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 130
    assert opened.read_text() == process.stdout.splitlines()[-1]
