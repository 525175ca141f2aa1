"""A feed gives what is made of each number, in order, whoever makes it."""

import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest
import torch

from trivium.nets.feeding import feed


def helpers() -> set[object]:
    """Processes and threads beside this one."""
    return {*multiprocessing.active_children(), *threading.enumerate()}


def are_gone(before: set[object]) -> bool:
    """Whether no other helper is left; threads of a closed queue are not waited for, and end a moment later."""
    until = time.monotonic() + 60
    while not helpers() <= before and time.monotonic() < until:
        time.sleep(0.01)
    return helpers() <= before


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_order_and_content_do_not_depend_on_the_workers(workers: int) -> None:
    def make(number: int) -> tuple[int, torch.Tensor]:
        time.sleep(0.02 * (number % 2))
        return number, torch.full((2,), float(number))

    made = list(feed(make, 7, workers))
    assert [number for number, _ in made] == list(range(7))
    assert [tensor.tolist() for _, tensor in made] == [[float(number)] * 2 for number in range(7)]
    assert list(feed(make, 0, workers)) == []


def test_workers_are_other_processes_and_none_is_this_one() -> None:
    assert set(feed(lambda _: os.getpid(), 4, 0)) == {os.getpid()}
    others = set(feed(lambda _: os.getpid(), 4, 2))
    assert len(others) == 2
    assert os.getpid() not in others


def test_nothing_is_drawn_from_the_global_generator() -> None:
    before = torch.random.get_rng_state()
    list(feed(float, 3, 2))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_workers_make_what_has_not_been_asked_for_yet(tmp_path: Path) -> None:
    def make(number: int) -> int:
        (tmp_path / str(number)).touch()
        return number

    results = feed(make, 4, 2)
    assert next(results) == 0
    until = time.monotonic() + 60
    while not (tmp_path / "3").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2", "3"}
    assert list(results) == [1, 2, 3]
    inline = feed(lambda number: (tmp_path / f"inline-{number}").touch(), 2, 0)
    next(inline)
    assert not (tmp_path / "inline-1").exists()


def test_what_fails_in_a_worker_fails_here() -> None:
    def fail(number: int) -> int:
        raise ValueError(f"number {number}")

    for workers in (0, 1):
        with pytest.raises(ValueError, match="number 0"):
            list(feed(fail, 2, workers))


def test_a_feed_that_is_left_early_leaves_nobody() -> None:
    before = helpers()
    for number in feed(int, 50, 2):
        if number == 3:
            break
    assert are_gone(before)


@pytest.mark.parametrize("ahead", [1, 3])
def test_no_more_is_made_than_was_asked_for_and_so_many_ahead(tmp_path: Path, ahead: int) -> None:
    def make(number: int) -> int:
        (tmp_path / str(number)).touch()
        return number

    workers = 2
    results = feed(make, 40, workers, ahead)
    for asked in range(1, 6):
        next(results)
        most = asked + workers * ahead
        until = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < most and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)  # in which one that did not know its bounds would go on
        assert {int(path.name) for path in tmp_path.iterdir()} == set(range(most))
