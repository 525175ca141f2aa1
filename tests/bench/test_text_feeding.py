"""The pretended GPU computes while its host goes on; no text is lost."""

from types import SimpleNamespace

import pytest

from bench import text_feeding


def test_what_is_written(figures, clock) -> None:
    clock(*3 * (2.0, 2.5, 5.0))
    text_feeding.main(count=600, trials=1)
    found = figures("text_feeding")
    assert found["texts_a_second_of_the_cores_alone"] == found["captions_a_second_of_the_cores_alone"] == 300
    assert found["pairs_a_second_of_the_cores_alone"] == 75
    for kind in ("texts", "pairs", "captions"):
        assert found[f"{kind}_share_of_the_cores_rate"] == 0.8
        assert found[f"{kind}_times_faster_than_inline"] == 2
        waited = found[f"{kind}_waited_for_tokens_share"]
        assert waited > 0.05  # processes start
        assert waited + found[f"{kind}_waited_for_the_gpu_share"] <= 1
        assert 0 < found[f"{kind}_busy_share"] < 0.5


def test_batches_follow_each_other_on_the_pretended_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(text_feeding, "time", clock)
    gpu = text_feeding.Gpu()
    first, second = (gpu.launch(3 * text_feeding.RATE) for _ in range(2))
    assert (first, second) == pytest.approx((13, 16), rel=1e-12)
    assert now[0] == 10
    assert text_feeding.collect(2, second) == 2
    assert now[0] == pytest.approx(16)
    assert gpu.launch(text_feeding.RATE) == pytest.approx(17)
    assert gpu.busy == pytest.approx(7)


def test_a_lost_text_ends_the_bench() -> None:
    load = text_feeding.Load(["a", "b"], list, lambda made: (1, 1), 1.0)
    with pytest.raises(RuntimeError, match="texts were lost"):
        text_feeding.through(load, 0, text_feeding.Gpu())
