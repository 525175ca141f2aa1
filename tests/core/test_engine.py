import os
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import psutil
import pytest

from trivium.core import engine
from trivium.core.engine import LocalEngine


def square(number: int) -> int:
    if number == 99:
        raise ValueError("shard 99 is broken")
    return number * number


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_whatever_the_workers(workers):
    assert list(LocalEngine(workers).map(square, range(11), description="squares")) == [n * n for n in range(11)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_broken_shard_is_not_swallowed(workers):
    with pytest.raises(ValueError, match="shard 99"):
        list(LocalEngine(workers).map(square, [1, 99], description="squares"))


@pytest.fixture
def asked(monkeypatch):
    """For how many processes pools were asked; a shard is done when it is handed in, in this process."""
    numbers = []

    class Pool:
        def __init__(self, workers, *_):
            numbers.append(workers)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, function, shard):
            done = Future()
            done.set_result(function(shard))
            return done

    monkeypatch.setattr(engine, "ProcessPoolExecutor", Pool)
    return numbers


@pytest.mark.parametrize(
    ("on_gpu", "gpu_workers", "processes"),
    [(True, [2], 2), (True, [1], 0), (True, [], 0), (True, [5], 3), (False, [2], 3)],
)
def test_few_processes_where_each_has_its_networks_on_a_gpu(asked, on_gpu, gpu_workers, processes):
    mapped = LocalEngine(3, *gpu_workers).map(square, range(9), description="squares", on_gpu=on_gpu)
    assert list(mapped) == [n * n for n in range(9)]
    assert asked == ([processes] if processes else [])


def tell_and_wait(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    time.sleep(300)


STAGE = "import sys, tests.core.test_engine as t; list(t.LocalEngine(2).map(t.tell_and_wait, [sys.argv[1]] * 2, description='wait'))"


def test_workers_end_with_a_killed_stage(tmp_path):
    stage = subprocess.Popen([sys.executable, "-c", STAGE, str(tmp_path)])
    deadline = time.monotonic() + 120
    while len(workers := [int(file.name) for file in tmp_path.iterdir()]) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(workers) == 2
    stage.kill()
    stage.wait()
    while any(psutil.pid_exists(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not [worker for worker in workers if psutil.pid_exists(worker)]


def test_few_shards_are_taken_before_their_turn(asked):
    taken = []
    results = LocalEngine(3).map(square, (taken.append(n) or n for n in range(50)), description="squares")
    assert [next(results), len(taken), next(results), len(taken)] == [0, 6, 1, 7]
    assert asked == [3]
