from __future__ import annotations

import pytest

from arrowproof.service.wal_reset import has_wal_reset_bug, parse_version, safe_journal_mode


@pytest.mark.parametrize(
    "version",
    [
        "3.7.0",
        "3.7.17",
        "3.40.1",
        "3.44.5",
        "3.45.0",
        "3.49.2",
        "3.50.0",
        "3.50.6",
        "3.51.0",
        "3.51.2",
        "3.52.0",
        "3.52.1",
    ],
)
def test_an_affected_version_gets_a_rollback_journal(version):
    assert has_wal_reset_bug(parse_version(version))
    assert safe_journal_mode(parse_version(version)) == "truncate"


@pytest.mark.parametrize(
    "version",
    ["3.6.23", "3.44.6", "3.44.9", "3.50.7", "3.51.3", "3.51.10", "3.53", "3.54.1", "3.100.0", "4.0.0"],
)
def test_a_version_that_is_not_affected_gets_a_wal(version):
    assert not has_wal_reset_bug(parse_version(version))
    assert safe_journal_mode(parse_version(version)) == "wal"
