"""The pretended GPU computes while its host goes on; no text is lost."""

from types import SimpleNamespace

import pytest

from bench import text_feeding
from trivium.nets.ragged import ragged


def test_what_is_written(figures, clock) -> None:
    clock(2.0, 2.5, 5.0)
    text_feeding.main(count=600, trials=1)
    found = figures("text_feeding")
    assert found["texts_a_second_of_the_cores_alone"] == 300
    assert found["share_of_the_cores_rate"] == 0.8
    assert found["times_faster_than_inline"] == 2
    assert found["waited_for_tokens_share"] > 0.05  # processes start
    assert found["waited_for_tokens_share"] + found["waited_for_the_gpu_share"] <= 1
    assert 0 < found["busy_share"] < 0.5


def test_batches_follow_each_other_on_the_pretended_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(text_feeding, "time", clock)
    tokens = ragged([[1] * 100, [2] * 50])
    each = 150 * text_feeding.FLOP_A_TOKEN / text_feeding.RATE
    gpu = text_feeding.Gpu()
    first, second = gpu.launch(tokens), gpu.launch(tokens)
    assert (first, second) == pytest.approx((10 + each, 10 + 2 * each), rel=1e-12)
    assert now[0] == 10
    assert gpu.collect(tokens, second) == 2
    assert now[0] == pytest.approx(second)
    assert gpu.launch(tokens) == pytest.approx(10 + 3 * each)
    assert gpu.busy == pytest.approx(3 * each)
