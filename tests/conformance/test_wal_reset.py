"""The rule that says which SQLite has the WAL-reset bug, at each of its boundaries."""

from __future__ import annotations

import pytest

from arrowproof.conformance.wal_reset import wal_reset_status
from arrowproof.service.wal_reset import has_wal_reset_bug, parse_version


@pytest.mark.parametrize(
    ("last_before", "first_after", "status"),
    [
        ("3.6.99", "3.7.0", "affected"),
        ("3.44.5", "3.44.6", "not affected"),
        ("3.44.99", "3.45.0", "affected"),
        ("3.50.6", "3.50.7", "not affected"),
        ("3.50.99", "3.51.0", "affected"),
        ("3.51.2", "3.51.3", "not affected"),
        ("3.51.99", "3.52.0", "affected"),
        ("3.52.99", "3.53.0", "not affected"),
    ],
)
def test_at_each_boundary_the_status_changes(last_before: str, first_after: str, status: str) -> None:
    assert wal_reset_status(first_after) == status
    assert wal_reset_status(last_before) != status


def test_tool_and_service_judge_every_version_alike() -> None:
    versions = [f"{major}.{minor}.{patch}" for major in (3, 4) for minor in range(60) for patch in range(12)]
    for version in versions:
        assert (wal_reset_status(version) == "affected") is has_wal_reset_bug(parse_version(version)), version
