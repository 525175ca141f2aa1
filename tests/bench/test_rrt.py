from bench import harness, rrt

TINY = {"global_dimension": 6, "layers": 1, "heads": 2, "hidden": 8, "locals": 3, "pairs": 4}


def test_figures(monkeypatch):
    written = {}
    monkeypatch.setattr(rrt, "SMALL", TINY)
    monkeypatch.setattr(rrt, "PAPER", TINY)
    monkeypatch.setattr(harness, "write", lambda name, values: written.update({name: values}))
    rrt.main()
    figures = written["rrt"]
    assert figures["tokens"] == 10
    assert figures["pairs"] == 4
    assert figures["pairs_per_second"] > 0
