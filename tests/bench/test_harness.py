"""What the benches share: times, peak memory of a fresh process, figures on disk."""

import json
import time

import numpy as np
import pytest

from bench import harness


def test_measure_is_the_median_after_a_call_that_is_not_counted():
    pauses = iter([0.5, 0.0, 0.1, 0.0])
    assert harness.measure(lambda: time.sleep(next(pauses)), repeats=3) < 0.05
    assert next(pauses, None) is None


def test_peak_memory_is_that_of_the_call_alone():
    here = np.ones(100 << 17)  # 100 MiB that the fresh process must not count
    small, large = harness.peak_memory(np.ones, 1 << 17), harness.peak_memory(np.ones, shape=60 << 17)
    assert large - small == pytest.approx(59, abs=10)
    assert small < here.nbytes / 2**20


def test_a_call_that_fails_is_an_error(capfd):
    with pytest.raises(RuntimeError, match=r"numpy\.ones failed with exit code 1"):
        harness.peak_memory(np.ones, "no shape")
    assert "TypeError" in capfd.readouterr().err


def test_figures_are_printed_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    harness.write("speed", {"seconds": 1.5, "versions": harness.versions("numpy")})
    written = json.loads((tmp_path / "speed.json").read_text())
    assert written == json.loads(capsys.readouterr().out)
    assert written["seconds"] == 1.5
    assert written["versions"] == {"numpy": np.__version__}
    assert written["machine"]["cores"] >= 1
