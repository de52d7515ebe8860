"""A line of the log is JSON that a person can read, and that no error can use to forge another line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from arrowproof.service.log_line import log_line, readable
from tests.service.engines import only_sqlite
from tests.service.log_lines import read_log

MOMENT = datetime(2026, 12, 1, 1, 29, 36, 118_999, UTC)


def test_a_line_begins_with_its_time_in_utc():
    assert log_line({"removed": 3}, MOMENT, "utf-8") == '{"time": "2026-12-01T01:29:36.118Z", "removed": 3}'
    elsewhere = MOMENT.astimezone(timezone(timedelta(hours=9)))
    assert log_line({"removed": 3}, elsewhere, "utf-8") == log_line({"removed": 3}, MOMENT, "utf-8")


@pytest.mark.parametrize("said", ["Die Platte ist voll: äöü", "ディスクがいっぱいです", "диск полон", "🗄 a b"])
def test_what_an_error_says_can_be_read_in_any_language(said):
    line = log_line({"error": said}, MOMENT, "utf-8")
    assert said in line
    assert json.loads(line)["error"] == said


@pytest.mark.parametrize("said", ["\x00\x1b[2J\x7f", "a\nb\r\x85c\u2028d\u2029", "\u202egnp.exe\u2066", "\ud800"])
def test_what_would_steer_the_terminal_or_end_the_line_is_escaped_and_still_the_same_json(said):
    line = log_line({"error": said}, MOMENT, "utf-8")
    assert not set(said) & set(line) - set("a[2Jbcdgnp.ex")
    assert line.encode("utf-8").isascii()
    assert json.loads(line)["error"] == said


def test_a_stream_that_has_no_such_letters_gets_json_without_them():
    line = log_line({"error": "ä 日"}, MOMENT, "iso-8859-1")
    assert line.isascii()
    assert json.loads(line)["error"] == "ä 日"


def test_a_text_stays_on_one_line():
    assert readable("a\nb\x1b[31m 日本語") == "a\\u000ab\\u001b[31m 日本語"


@only_sqlite
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_worker_tells_the_error_of_the_database_as_it_is(notes, encoding, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    server = notes.server()
    server.accept()
    notes.sql("CREATE TRIGGER t BEFORE INSERT ON note_events BEGIN SELECT RAISE(ABORT, '今日は履歴なし'); END")
    worker = notes.worker()
    assert worker.outcome()["outcome"] == "retry_wait"
    assert "今日は履歴なし" in read_log(worker.stderr)[-1]["error"]
    assert ("今日は履歴なし" in worker.stderr) is (encoding == "utf-8")
