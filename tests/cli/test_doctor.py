from __future__ import annotations

import json


def test_doctor_names_both_sqlites_and_the_browser(arrowproof):
    result = arrowproof("doctor")
    assert result.status == 0
    assert "SQLite of apsw" in result.out
    assert "SQLite of Python" in result.out
    assert "WAL-reset" in result.out
    assert "Chromium" in result.out
    assert "PostgreSQL" in result.out


def test_doctor_without_a_browser_says_the_command_that_mends_it(arrowproof):
    result = arrowproof("doctor", "--json", env={"ARROWPROOF_CHROMIUM": "/nowhere/chromium"})
    assert result.status == 3
    chromium = next(item for item in json.loads(result.out)["findings"] if item["name"] == "Chromium")
    assert chromium["works"] is False
    assert chromium["remedy"]
