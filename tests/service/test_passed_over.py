"""Which jobs a resident worker leaves alone, and for how long."""

from __future__ import annotations

import math

import pytest

from arrowproof.service.passed_over import PassedOver


class Clock:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("time.monotonic", clock)
    return clock


def test_nothing_is_passed_over_at_first():
    assert (PassedOver().now(), PassedOver().seconds()) == ((), math.inf)


def test_a_job_is_passed_over_for_longer_each_time_up_to_half_a_minute(clock):
    passed_over = PassedOver()
    waits = []
    for _ in range(12):
        passed_over.add(7)
        assert passed_over.now() == (7,)
        waits.append(passed_over.seconds())
        clock.seconds += waits[-1]
        assert (passed_over.now(), passed_over.seconds()) == ((), math.inf)
    assert all(0.9 * longest <= wait <= longest for wait, longest in zip(waits, [0.1, 0.2, 0.4, 0.8], strict=False))
    assert all(27 <= wait <= 30 for wait in waits[9:])


def test_one_whose_attempt_was_recorded_begins_anew(clock):
    passed_over = PassedOver()
    for _ in range(5):
        passed_over.add(7)
    passed_over.forget(7)
    passed_over.forget(8)
    assert passed_over.now() == ()
    passed_over.add(7)
    assert passed_over.seconds() <= 0.1
    assert clock.seconds == 1000


def test_it_does_not_grow_with_jobs_that_are_never_heard_of_again(clock):
    passed_over = PassedOver()
    for job_id in range(1000):
        passed_over.add(job_id)
        clock.seconds += 1
    assert len(passed_over._jobs) < 60
