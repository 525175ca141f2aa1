"""The bench of CLIP's training on a few pairs: both peers have our loss and gradient, whatever the times."""

import pytest

from bench import clip_training, harness


@pytest.fixture
def tiny(monkeypatch):
    for name in ("SMALL", "LARGE"):
        monkeypatch.setattr(clip_training, name, clip_training.SMALL)
    monkeypatch.setattr(clip_training, "SMALL_BATCH", 4)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_both_peers_train_as_we_do(tiny, figures):
    clip_training.main()
    found = figures("clip_training")
    assert found["largest_gradient_difference"] < 0.1
    (race,) = found["races"].values()
    assert (race["popular"], race["expert"]) == ("open_clip's loop", "torch, channels last, fused Adam")
    assert found["images_per_second"] == found["batch"] / race["seconds"]


@pytest.mark.parametrize("peer", ["by_open_clip", "by_hand"])
def test_another_loss_ends_the_bench(tiny, monkeypatch, peer):
    kept = getattr(clip_training, peer)
    monkeypatch.setattr(clip_training, peer, lambda *given: 1.1 * kept(*given))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        clip_training.main()
