"""The resident in this process: when it takes wake-ups away, and that none is lost for it."""

from __future__ import annotations

import select
from contextlib import closing
from dataclasses import replace

import pytest

from arrowproof.service.address import Address
from arrowproof.service.clock import database_clock
from arrowproof.service.ending import Ending
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note
from arrowproof.service.resident import Resident
from arrowproof.service.workplace import WorkerSettings, open_workplace
from tests.service.worker_lives import TEN_SECONDS

JOBS = 20


class CountedWaker:
    """A waker, and how often it was drained."""

    def __init__(self, waker):
        self._waker = waker
        self.drained = 0
        self.fileno = waker.fileno
        self.close = waker.close

    def drain(self):
        self.drained += 1
        self._waker.drain()


class EndAtWait(Ending):
    """Has the worker end when it comes to wait for the last time, and keeps whether it would have waited each time."""

    def __init__(self, waits):
        super().__init__(drains=True)
        self._waits = waits
        self.woken = []

    def wait(self, _, waker=None):
        readable, _, _ = select.select([waker], [], [], 0)
        self.woken.append(bool(readable))
        self.is_asked = len(self.woken) == self._waits


@pytest.fixture
def stay(engine, database):
    """Has a resident stay in a database with due jobs, until it has come to wait so often."""

    def stay(waits, tell=lambda _: None):
        for number in range(JOBS):
            accept_note(database, SentUnderKey(f"k{number}", "t"), 3, database_clock, Hold())
        place = open_workplace(Address(engine.db), WorkerSettings(Hold(), TEN_SECONDS, wakes=True), tell)
        waker = CountedWaker(place.waker)
        with EndAtWait(waits) as ending:
            Resident(lambda: replace(place, waker=waker), ending, 600.0, tell).stay()
        return waker, ending

    return stay


def test_while_jobs_are_due_wake_ups_are_not_asked_for_before_each_look(stay):
    waker, ending = stay(waits=1)
    assert 1 <= waker.drained < JOBS
    assert ending.woken == [False]


def test_a_wake_up_that_came_during_work_ends_the_wait_behind_it_and_no_other(engine, stay):
    rings = []

    def ring_once(happened):
        if "outcome" in happened and not rings:
            rings.append(happened)
            with closing(Address(engine.db).open(rings=True)) as ringing:
                accept_note(ringing, SentUnderKey("late", "t"), 3, database_clock, Hold())

    _, ending = stay(waits=2, tell=ring_once)
    assert ending.woken == [True, False]
