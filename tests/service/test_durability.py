"""What the facts of a database say about a power cut."""

from __future__ import annotations

import pytest

from arrowproof.service.durability import durability_warnings

SAFE = {"postgresql": "17.4", "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_setting_that_is_off_is_warned_of_by_its_name(setting):
    (warning,) = durability_warnings({**SAFE, setting: "off"})
    assert warning.startswith(f"{setting} is off on this PostgreSQL server: a power cut ")


@pytest.mark.parametrize("facts", [SAFE, {**SAFE, "synchronous_commit": "remote_apply"}, {"synchronous": "full"}])
def test_what_keeps_its_commits_is_not_warned_of(facts):
    assert durability_warnings(facts) == ()
