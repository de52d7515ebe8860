from __future__ import annotations

import pytest

from arrowproof.service.backoff import JITTER, Backoff


def test_each_wait_is_twice_as_long_up_to_the_limit():
    backoff = Backoff(1.5, 10.0, lambda: 0.0)
    assert [backoff.after(attempts) for attempts in range(1, 6)] == [1.5, 3.0, 6.0, 10.0, 10.0]


@pytest.mark.parametrize(("drawn", "waited"), [(0.0, 40.0), (0.5, 38.0), (1.0, 36.0)])
def test_chance_shortens_a_wait_by_a_tenth_at_most_and_never_prolongs_it(drawn, waited):
    assert Backoff(10.0, 100.0, lambda: drawn).after(3) == pytest.approx(waited)


def test_jobs_that_failed_together_do_not_come_back_together():
    backoff = Backoff(10.0, 100.0)
    waits = [backoff.after(1) for _ in range(50)]
    assert len(set(waits)) > 40
    assert all(10.0 * (1 - JITTER) <= wait <= 10.0 for wait in waits)


def test_ever_so_many_attempts_wait_for_the_limit():
    assert Backoff(0.001, 3600.0, lambda: 0.0).after(2**31) == 3600.0


def test_no_delay_stays_none():
    assert [Backoff(0.0, 3600.0).after(attempts) for attempts in (1, 100)] == [0.0, 0.0]
