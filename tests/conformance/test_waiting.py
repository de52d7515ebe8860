"""What nothing wakes us for is looked for until it is there, or until the deadline."""

from __future__ import annotations

import itertools

from arrowproof.conformance.waiting import comes_true


def test_it_looks_until_it_is_true_and_no_longer():
    looks = iter([False, False, True, False])
    assert comes_true(lambda: next(looks), 10)
    assert list(looks) == [False]


def test_what_is_true_already_needs_no_time():
    assert comes_true(lambda: True, 0)


def test_what_never_comes_ends_at_the_deadline():
    numbers = itertools.count()
    assert not comes_true(lambda: next(numbers) < 0, 0.02)
    assert next(numbers) > 1
