"""What the benches share: times, peak memory of a fresh process, figures on disk."""

import time

import numpy as np
import pytest
import torch

from bench import harness


def test_peak_memory_is_that_of_the_call_alone():
    here = np.ones(100 << 17)  # 100 MiB that the fresh process must not count
    small, large = harness.peak_memory(np.ones, 1 << 17), harness.peak_memory(np.ones, shape=60 << 17)
    assert large - small == pytest.approx(59, abs=10)
    assert small < here.nbytes / 2**20


def sleeper(calls, name, seconds):
    def call():
        calls.append(name)
        time.sleep(seconds)

    return call


def test_a_race_interleaves_and_says_why_only_where_ours_is_slower(monkeypatch):
    monkeypatch.setattr(harness, "TRIALS", 2)
    monkeypatch.setattr(harness, "limits", lambda: harness.Limits(gflops=10.0, gigabytes=5.0))
    calls = []
    ours, slow, fast = (sleeper(calls, *each) for each in (("a", 0.02), ("b", 0.04), ("c", 0.005)))
    lost = harness.race(ours, harness.Peer("slow", slow), harness.Peer("fast", fast), gflop=1, gigabytes=2, why="x")
    assert calls == ["a", "b", "c"] * 3  # the first round is not counted
    assert lost["popular_ratio"] < 1 < lost["expert_ratio"]
    assert (lost["why"], lost["limit_seconds"], lost["limit"]) == ("x", 0.4, "memory bandwidth")
    won = harness.race(fast, harness.Peer("slow", slow), harness.Peer("slow", ours), gflop=8, gigabytes=2, why="x")
    assert won["expert_ratio"] < 1
    assert (won["why"], won["limit_seconds"], won["limit"]) == ("", 0.8, "arithmetic")


def test_a_peer_that_does_a_share_is_asked_once_and_counted_in_full(monkeypatch):
    monkeypatch.setattr(harness, "TRIALS", 3)
    calls = []
    part = harness.Peer("part", sleeper(calls, "b", 0.01), share=0.1)
    found = harness.race(sleeper(calls, "a", 0.01), part, harness.Peer("all", sleeper(calls, "c", 0.01)), why="x")
    assert calls == [*"abc", *"abc", *"ac", *"ac"]
    assert found["popular_seconds"] == pytest.approx(0.1, rel=0.5)


def test_arithmetic_of_torch_is_that_of_its_products():
    left, right = torch.ones(3, 5), torch.ones(5, 7)
    assert harness.gflop(lambda: left @ right) == pytest.approx(2e-9 * 3 * 5 * 7)
