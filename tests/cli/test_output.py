from __future__ import annotations

import io
import sys
import time

from arrowproof.cli.output import working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_work_that_takes_long_is_named_on_a_terminal_with_nothing_that_steers_it(monkeypatch):
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    deadline = time.monotonic() + 60
    with working("drawing [red]a\x1bb[/red]", delay=0.0):
        while "drawing" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "drawing [red]a\\x1bb[/red]" in terminal.getvalue()


def test_work_that_is_quickly_done_says_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with working("drawing", delay=60.0):
        pass
    assert terminal.getvalue() == ""


def test_a_log_is_told_nothing(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with working("drawing", delay=0.0):
        time.sleep(0.05)
    assert log.getvalue() == ""
