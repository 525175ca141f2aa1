"""A feed gives what is made of each number, in order, whoever makes it."""

import os
import time

import pytest
import torch

from trivium.nets.feeding import Feed


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_order_and_content_do_not_depend_on_the_workers(workers: int) -> None:
    def make(number: int) -> tuple[int, torch.Tensor]:
        time.sleep(0.02 * (number % 2))
        return number, torch.full((2,), float(number))

    made = list(Feed(make, 7, workers))
    assert [number for number, _ in made] == list(range(7))
    assert [tensor.tolist() for _, tensor in made] == [[float(number)] * 2 for number in range(7)]
    assert list(Feed(make, 0, workers)) == []


def test_workers_are_other_processes_and_none_is_this_one() -> None:
    assert set(Feed(lambda _: os.getpid(), 4, 0)) == {os.getpid()}
    others = set(Feed(lambda _: os.getpid(), 4, 2))
    assert len(others) == 2
    assert os.getpid() not in others


def test_nothing_is_drawn_from_the_global_generator() -> None:
    before = torch.random.get_rng_state()
    list(Feed(float, 3, 2))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_it_says_how_long_was_waited() -> None:
    def slow(number: int) -> int:
        time.sleep(0.05)
        return number

    feed = Feed(slow, 4, 0)
    list(feed)
    assert 0.2 <= feed.waited <= feed.taken
    ahead = Feed(slow, 4, 2)
    for _ in ahead:
        time.sleep(0.3)  # as a busy GPU does: two workers have made the next ones meanwhile
    assert ahead.waited < ahead.taken - 4 * 0.3 + 0.01


def test_what_fails_in_a_worker_fails_here() -> None:
    def fail(number: int) -> int:
        raise ValueError(f"number {number}")

    for workers in (0, 1):
        with pytest.raises(ValueError, match="number 0"):
            list(Feed(fail, 2, workers))
