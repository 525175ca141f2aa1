from bench import harness, rrt

TINY = {"global_dimension": 6, "layers": 1, "heads": 2, "hidden": 8, "locals": 3, "pairs": 4}


def test_figures(monkeypatch, clock):
    written = {}
    clock(2, 3, 7)  # ours, torch in batches, torch pair by pair
    monkeypatch.setattr(rrt, "SMALL", TINY)
    monkeypatch.setattr(rrt, "PAPER", TINY)
    monkeypatch.setattr(harness, "write", lambda name, values: written.update({name: values}))
    rrt.main()
    figures = written["rrt"]
    assert figures["tokens"] == 10
    assert figures["pairs"] == 4
    assert figures["pairs_per_second"] == 4 / 2
    assert figures["torch_batched_time_over_ours"] == 3 / 2
    assert figures["torch_one_by_one_time_over_ours"] == 7 / 2
