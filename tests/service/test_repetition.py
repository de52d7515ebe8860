"""What comes again and again is told at once, then less and less often, and always with how often it came."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from arrowproof.service.repetition import MOST_KNOWN, Repetition, Sparing

FULL = "the attempt at job 17 is on no record: disk is full"


class Watch:
    """A clock that stands until it is set."""

    seconds = 1000.0

    def __call__(self):
        return self.seconds


def told_in(repetition, watch, text, seconds, each=0.1):
    """How often it came, at each moment at which it was told, while it came every tenth of a second."""
    told = {}
    begin = watch.seconds
    for number in range(round(seconds / each)):
        watch.seconds = begin + number * each
        if times := repetition.times(text):
            told[number * each] = times
    return told


def test_what_comes_the_first_time_is_told_at_once():
    repetition = Repetition(Watch())
    assert [repetition.times("a"), repetition.times("b")] == [1, 1]
    assert [repetition.times("a"), repetition.times("b")] == [0, 0]


def test_what_goes_on_for_an_hour_is_told_a_dozen_times_and_every_one_is_counted():
    watch = Watch()
    told = told_in(Repetition(watch), watch, FULL, 3600)
    assert 10 <= len(told) <= 18
    moments = list(told)
    pauses = [after - before for before, after in itertools.pairwise(moments)]
    assert 0.85 <= pauses[0] <= 1.15
    assert all(pause <= 600.2 for pause in pauses)
    assert all(1.5 <= after / before <= 2.5 for before, after in itertools.pairwise(pauses[:9]))
    assert sum(told.values()) == round(moments[-1] / 0.1) + 1


def test_jobs_by_themselves_make_no_other_complaint():
    repetition = Repetition(Watch())
    assert [repetition.times(FULL.replace("17", str(job_id))) for job_id in range(5)] == [1, 0, 0, 0, 0]


def test_what_has_not_come_for_long_is_told_at_once():
    watch = Watch()
    repetition = Repetition(watch)
    told_in(repetition, watch, FULL, 3600)
    watch.seconds += 1300
    assert repetition.times(FULL) >= 1
    watch.seconds += 1.1
    assert repetition.times(FULL) == 1


def test_however_many_complaints_there_are_few_are_kept_in_mind():
    repetition = Repetition(Watch())
    words = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=3)]
    assert all(repetition.times(word) == 1 for word in words)
    assert [repetition.times(word) for word in words[-MOST_KNOWN:]] == [0] * MOST_KNOWN
    assert repetition.times(words[0]) == 1


def test_an_attempt_is_always_told():
    told = []
    tell = Sparing(told.append)
    attempt = {"job_id": 1, "outcome": "retry_wait", "error": "disk is full"}
    for _ in range(3):
        tell(attempt)
        tell({"error": "disk is full"})
    assert told == [attempt, {"error": "disk is full"}, attempt, attempt]


def test_at_the_end_what_was_only_counted_is_told_once():
    told = []
    tell = Sparing(told.append)
    for job_id in range(5):
        tell({"error": f"job {job_id}: disk is full"})
    tell({"busy": "locked"})
    tell({"busy": "locked"})
    tell({"warning": "beware"})
    del told[:]
    tell.close()
    assert told == [{"error": "job 4: disk is full", "times": 4}, {"busy": "locked"}]
    tell.close()
    assert len(told) == 2


def test_what_was_only_counted_before_a_long_silence_is_told_after_it():
    watch = Watch()
    repetition = Repetition(watch)
    assert [repetition.times(FULL) for _ in range(4)] == [1, 0, 0, 0]
    watch.seconds += 1300
    assert repetition.times(FULL) == 4


@pytest.fixture
def switches_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switches_often")
def test_from_many_threads_it_is_told_once_and_every_one_is_counted():
    repetition = Repetition(Watch())

    def complain(_):
        return sum(repetition.times(FULL) for _ in range(10_000))

    with ThreadPoolExecutor(8) as threads:
        told = sum(threads.map(complain, range(8)))
    assert told == 1
    assert list(repetition.untold()) == [(FULL, 8 * 10_000 - 1)]
