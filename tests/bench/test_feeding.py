"""The bench of feeding on a few pictures: threads and torch's loader give our batches, whatever the times."""

import pytest
import torch

from bench import feeding, harness


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("PICTURES", 8), ("BATCH", 2), ("SIDE", 240), ("BUSY", 0.001)):
        monkeypatch.setattr(feeding, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)
    monkeypatch.setattr(harness, "cores", lambda: 2)


def test_both_peers_give_our_batches(figures, clock):
    clock(2, 8)  # the cores alone, and inline
    feeding.main()
    found = figures("feeding")
    race = found["races"]["8 pictures, 2 workers"]
    assert (race["popular"], race["expert"]) == ("torch's DataLoader", "threads")
    assert found["pictures_a_second_with_the_gpu_in_the_loop"] == 8 / race["seconds"]
    assert found["pictures_a_second_of_the_cores_alone"] == 8 / 2
    assert found["pictures_a_second_decoded_inline"] == 8 / 8
    assert found["times_faster_than_inline"] == 8 / race["seconds"]
    assert 0.05 < found["waited_share"] < 1  # processes start and end, and only the start is waited for


def test_threads_go_on_behind_what_was_asked_for_at_first():
    given = feeding.photographs()
    few_ahead, all_ahead = (list(feeding.by_threads(given, workers)) for workers in (1, 2))
    assert len(few_ahead) == 4
    assert torch.equal(torch.cat(few_ahead), torch.cat(all_ahead))
    assert torch.equal(few_ahead[3][1], feeding.prepared(given[7]))


def test_other_batches_end_the_bench(monkeypatch):
    kept = feeding.by_threads
    monkeypatch.setattr(feeding, "by_threads", lambda *given: reversed(list(kept(*given))))
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        feeding.main()
