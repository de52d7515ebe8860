"""The begun file: what is in it, what a disk, a lock or a kill does to it, and that several processes share it."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import struct
import subprocess
import sys
import zlib
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.service.begun_file import MARK, SLOT_BYTES, begun_file, open_begun
from arrowproof.service.database import BusyError, DatabaseError
from arrowproof.service.refusal import RefusedError
from tests.service.waiting import wait_until


@pytest.fixture
def path(tmp_path):
    return tmp_path / "finale.sqlite3"


@pytest.fixture
def record(path):
    with closing(open_begun(path, busy_seconds=0.05)) as opened:
        yield opened


def slots(path):
    with closing(open_begun(path)) as opened:
        return opened.slots()


jobs, attempts = st.sampled_from([1, 2, 256, 2**40]), st.integers(0, 2)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), jobs, attempts),
        st.tuples(st.just("reuse"), jobs, attempts, jobs, attempts),
        st.tuples(st.just("clear"), jobs, attempts),
    ),
    max_size=30,
)


class Told:
    """What the protocol says, in a dictionary: job to attempts made before and crashes."""

    def __init__(self):
        self.entries = {}

    def begin(self, job, made):
        before, crashes = self.entries.get(job, (None, 0))
        self.entries[job] = made, crashes + 1 if before == made else 0
        return self.entries[job][1]

    def reuse(self, job, made, ended, ended_made):
        before, _ = self.entries.get(ended, (None, 0))
        if before != ended_made or (job != ended and job in self.entries):
            return False
        del self.entries[ended]
        self.entries[job] = made, 0
        return True

    def clear(self, job, made):
        if self.entries.get(job, (None, 0))[0] == made:
            del self.entries[job]


@given(steps=steps)
@settings(max_examples=100, deadline=None)
def test_two_who_take_turns_at_the_file_have_one_record_as_the_protocol_says(tmp_path_factory, steps):
    path, told = tmp_path_factory.mktemp("record") / "finale.sqlite3", Told()
    with closing(open_begun(path, 0.05)) as one, closing(open_begun(path, 0.05)) as other:
        for number, (name, *arguments) in enumerate(steps):
            record = (one, other)[number % 2]
            assert getattr(record, name)(*arguments) == getattr(told, name)(*arguments)
        assert one.slots() == other.slots() == sorted((job, *entry) for job, entry in told.entries.items())


def test_a_place_that_is_free_is_taken_before_the_file_grows(record, path):
    for job_id in range(1, 401):
        assert record.begin(job_id, 0) == 0
    size = begun_file(path).stat().st_size
    assert size == len(MARK) + 400 * SLOT_BYTES
    for job_id in range(1, 401):
        record.clear(job_id, 0)
        assert record.begin(job_id + 1000, 1) == 0
    assert begun_file(path).stat().st_size == size
    assert [record.begin(job_id + 1000, 1) for job_id in range(1, 401)] == [1] * 400
    assert record.oldest(2) == [(1001, 1), (1002, 1)]


@pytest.mark.parametrize("length", range(len(MARK) + 2 * SLOT_BYTES))
def test_wherever_the_file_was_cut_off_it_is_used_and_whole_slots_count(record, path, length):
    record.begin(1, 0)
    record.begin(2, 0)
    file = begun_file(path)
    file.write_bytes(file.read_bytes()[:length])
    kept = [(1, 0, 0)] if length >= len(MARK) + SLOT_BYTES else []
    assert slots(path) == kept
    with closing(open_begun(path)) as again:
        assert again.begin(2, 0) == 0
    assert slots(path) == [*kept, (2, 0, 0)]


@pytest.mark.parametrize("sector", [0, 1])
def test_a_sector_that_a_power_cut_left_as_zeros_takes_only_its_own_slots_along(record, path, sector):
    of_a_sector = 512 // SLOT_BYTES
    for job_id in range(1, 2 * of_a_sector):
        record.begin(job_id, 0)
    with begun_file(path).open("r+b") as file:
        file.seek(sector * 512)
        file.write(bytes(512))
    kept = range(of_a_sector, 2 * of_a_sector) if sector == 0 else range(1, of_a_sector)
    assert slots(path) == [(job_id, 0, 0) for job_id in kept]


def test_a_slot_that_means_nothing_is_freed_when_the_file_is_opened(record, path):
    record.begin(1, 0)
    with begun_file(path).open("r+b") as file:
        file.seek(len(MARK))
        file.write(b"\xa5" * SLOT_BYTES)
    with closing(open_begun(path)) as again:
        again.begin(2, 0)
    assert begun_file(path).stat().st_size == len(MARK) + SLOT_BYTES
    assert slots(path) == [(2, 0, 0)]


def test_what_the_disk_took_in_part_means_nothing_and_is_an_error(record):
    record.begin(1, 0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(MARK) + SLOT_BYTES + SLOT_BYTES // 2, before[1]))
    try:
        with pytest.raises(DatabaseError, match="in part only"):
            record.begin(2, 0)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(MARK), before[1]))
        with pytest.raises(DatabaseError, match="File too large"):
            record.begin(1, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert record.slots() == [(1, 0, 0)]
    assert record.begin(2, 0) == 0
    assert record.slots() == [(1, 0, 0), (2, 0, 0)]


def test_a_file_that_another_keeps_locked_is_waited_for_and_then_busy(record, path):
    with closing(open_begun(path)) as other:
        fcntl.flock(other.descriptor, fcntl.LOCK_EX)
        for call in (lambda: record.begin(1, 0), lambda: record.clear(1, 0), record.slots):
            with pytest.raises(BusyError, match="another process keeps its lock"):
                call()
        with pytest.raises(RefusedError, match="cannot be used: another process"):
            open_begun(path, busy_seconds=0.0)
    assert record.begin(1, 0) == 0


def test_an_error_leaves_no_lock_behind(record, path):
    kept, only_read = os.dup(record.descriptor), os.open(begun_file(path), os.O_RDONLY)
    os.dup2(only_read, record.descriptor)
    with pytest.raises(DatabaseError, match="Bad file descriptor"):
        record.begin(1, 0)
    assert slots(path) == []
    os.dup2(kept, record.descriptor)
    os.close(kept)
    os.close(only_read)


WRITER = """
import sys
import zlib
from pathlib import Path
from arrowproof.service.begun_file import open_begun
record = open_begun(Path(sys.argv[1]))
first = int(sys.argv[2])
print("ready", flush=True)
while True:
    for job_id in range(first, first + 200):
        record.begin(job_id, 7)
    for job_id in range(first, first + 200):
        record.clear(job_id, 7)
"""


def test_two_that_are_killed_in_the_middle_leave_whole_slots_and_no_lock(path):
    for _ in range(5):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(path), first], stdout=subprocess.PIPE)
            for first in ("1", "1001")
        ]
        for writer in writers:
            assert writer.stdout.readline() == b"ready\n"
        # Both are in the middle of their work when there is a slot of each.
        wait_until(lambda: {job_id // 1000 for job_id, _, _ in slots(path)} == {0, 1}, "two at work")
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            writer.stdout.close()
        content = begun_file(path).read_bytes()
        found = slots(path)
        taken = [content[at : at + SLOT_BYTES] for at in range(len(MARK), len(content), SLOT_BYTES)]
        assert sum(map(any, taken)) == len(found)
        assert {made for _, made, _ in found} <= {7}
        assert len({job_id for job_id, _, _ in found}) == len(found)


def test_numbers_that_look_like_a_slot_but_do_not_begin_where_one_does_are_none(record):
    record.begin(1, 5)
    (checksum,) = struct.unpack("<q", struct.pack("<Q", zlib.crc32(struct.pack("<3q", 1, 5, 0))))
    # The end of the first slot and the beginning of the second are a slot of job 5, were slots anywhere.
    record.begin(zlib.crc32(struct.pack("<3q", 5, 0, checksum)), 0)
    assert record.begin(5, 0) == 0
    assert len(record.slots()) == 3
