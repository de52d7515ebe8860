from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from arrowproof.service.clock import database_clock, stored_moment, timestamp, timestamp_after


def test_a_moment_is_written_in_utc_with_milliseconds():
    there = timezone(timedelta(hours=-3, minutes=-30))
    assert timestamp(datetime(2026, 11, 29, 20, 30, 1, 2999, tzinfo=there)) == "2026-11-30T00:00:01.002Z"


def test_the_order_of_the_texts_is_the_order_of_the_moments():
    start = datetime(2026, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)
    texts = [timestamp(start + timedelta(milliseconds=step)) for step in (-1000, -1, 0, 1, 999, 86_400_000)]
    assert texts == sorted(texts)
    assert len({len(text) for text in texts}) == 1


def test_a_later_moment_is_counted_from_another():
    assert timestamp_after(datetime(2026, 11, 29, tzinfo=UTC), 90.5) == "2026-11-29T00:01:30.500Z"


def test_a_moment_that_was_put_in_by_hand_is_in_utc_unless_it_says_another_zone():
    assert stored_moment("2026-11-29 15:09:02") == datetime(2026, 11, 29, 15, 9, 2, tzinfo=UTC)
    assert stored_moment("2026-11-29T15:09:02.118Z") == datetime(2026, 11, 29, 15, 9, 2, 118000, tzinfo=UTC)
    assert stored_moment("2026-11-29T15:09:02+01:00").astimezone(UTC).hour == 14


@pytest.mark.parametrize("stored", [None, "", "-infinity", "infinity", "0044-03-15 00:00:00+00 BC", "10000-01-01", "x"])
def test_what_no_calendar_has_is_no_moment(stored):
    assert stored_moment(stored) is None


def test_the_clock_is_the_database_s_own_and_goes_on_within_a_transaction(database, engine):
    database.begin()
    first = database_clock(database)
    assert first.utcoffset() == timedelta(0)
    # What the database says of itself, on another connection, lies between two looks at its clock.
    ((seen,),) = engine.sql(engine.now)
    while database_clock(database) == first:
        pass
    last = database_clock(database)
    database.roll_back()
    assert first - timedelta(milliseconds=1) <= datetime.fromtimestamp(seen, UTC) <= last + timedelta(milliseconds=1)
