"""Many clients that ask for much at once keep nobody waiting for long, and nobody for ever."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, suppress

import pytest

from arrowproof.service.turns import MOST_BEHIND, MOST_IN_A_ROUND, Turns
from tests.service.raw_http import connected, get, statuses, stopped
from tests.service.waiting import wait_until

GREEDY = 200
EACH = 15


def begun_in_rounds(asked, rounds=20):
    """What is begun in each round of a real event loop. ``asked`` are the names that ask, and whether from behind."""

    async def play():
        turns, log = Turns(), []
        for name, is_behind in asked:
            turns.ask(lambda name=name: log.append(name), is_behind=is_behind)
        seen = []
        for _ in range(rounds):
            seen.append(log[sum(map(len, seen)) :])
            await asyncio.sleep(0)
        return seen

    return asyncio.run(play())


def test_who_asks_alone_begins_at_once():
    assert begun_in_rounds([("a", False)])[0] == ["a"]
    assert begun_in_rounds([("a", True)])[0] == ["a"]


def test_no_more_begin_in_one_round_than_may_and_in_the_order_in_which_they_asked():
    rounds = begun_in_rounds([(number, False) for number in range(30)])
    assert {len(begun) for begun in rounds} <= set(range(MOST_IN_A_ROUND + 1))
    assert [number for begun in rounds for number in begun] == list(range(30))


def test_who_was_just_answered_lets_others_go_first_and_is_not_forgotten():
    behind = [(f"behind {number}", True) for number in range(60)]
    first = [(f"first {number}", False) for number in range(60)]
    rounds = begun_in_rounds(behind + first, rounds=40)
    both = [begun for begun in rounds[1:] if any(name.startswith("first") for name in begun)]
    assert all(sum(name.startswith("behind") for name in begun) <= MOST_BEHIND for begun in both[:-1])
    assert all(any(name.startswith("behind") for name in begun) for begun in both)
    assert sorted(name for begun in rounds for name in begun) == sorted(name for name, _ in behind + first)


def test_while_threads_are_waited_for_who_was_just_answered_begins_by_steps_and_others_at_once(monkeypatch):
    async def play():
        crowd, log, steps = [True], [], []
        monkeypatch.setattr(asyncio.get_running_loop(), "call_later", lambda _, step: steps.append(step))
        turns = Turns(lambda: crowd[0])
        for number in range(3):
            turns.ask(lambda number=number: log.append(f"behind {number}"), is_behind=True)
        for number in range(20):
            turns.ask(lambda number=number: log.append(f"first {number}"), is_behind=False)
        for _ in range(5):
            await asyncio.sleep(0)
        assert log == [f"first {number}" for number in range(20)]
        (step,) = steps
        step()
        for _ in range(5):
            await asyncio.sleep(0)
        assert log[20:] == ["behind 0"]
        crowd[0] = False
        steps[-1]()
        for _ in range(5):
            await asyncio.sleep(0)
        return log[21:]

    assert asyncio.run(play()) == ["behind 1", "behind 2"]


def test_one_that_cannot_be_begun_keeps_nobody_else_from_it():
    async def play():
        turns, log = Turns(), []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: log.append(type(context["exception"])))
        for number in range(MOST_IN_A_ROUND):
            turns.ask(lambda number=number: log.append(number), is_behind=False)
        turns.ask(lambda: 1 / 0, is_behind=False)
        turns.ask(lambda: log.append("last"), is_behind=False)
        for _ in range(5):
            await asyncio.sleep(0)
        return log

    assert asyncio.run(play()) == [*range(MOST_IN_A_ROUND), ZeroDivisionError, "last"]


class Greedy:
    """A client that sends all its requests at once, and reads later."""

    def __init__(self, client, path):
        self._client = client
        self._received = bytearray()
        client.sendall(get(path) * EACH)
        client.setblocking(False)

    def answered(self):
        """How many answers have come to it so far."""
        with suppress(BlockingIOError):
            while chunk := self._client.recv(2**20):
                self._received += chunk
        return self._received.count(b"HTTP/1.1 200")


@pytest.mark.parametrize("shared_engine", ["sqlite"], indirect=True, scope="module")
@pytest.mark.parametrize("path", ["/problems/busy", "/counts"], ids=["without a thread", "in a thread"])
def test_a_new_client_is_answered_before_all_the_greedy_ones_are_answered_again_and_they_get_all_answers(server, path):
    with ExitStack() as stack:
        with stopped(server):
            greedy = [Greedy(stack.enter_context(connected(server)), path) for _ in range(GREEDY)]
        wait_until(lambda: all(client.answered() for client in greedy), "the first answer to each")
        with connected(server) as new:
            before = sum(client.answered() for client in greedy)
            new.sendall(get(path))
            assert statuses(new.recv(4096)) == [200]
            assert sum(client.answered() for client in greedy) - before < GREEDY * 2 / 3
        wait_until(lambda: all(client.answered() == EACH for client in greedy), "all other answers")
