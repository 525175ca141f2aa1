"""The bench of Table 2 on small inputs: SciPy's loop and ours must agree, whatever the times."""

from bench import effects, harness


def test_delta_p_and_intervals_are_those_of_scipy(figures, monkeypatch):
    for name, value in (("MODELS", 2), ("FACTORS", 3), ("EXAMPLES", 300), ("TEXTS", 50), ("PEER_CELLS", 3)):
        monkeypatch.setattr(effects, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)
    effects.main()
    found = figures("effects")
    assert found["cells_of_scipy_bootstrap_timed"] == 3
    assert found["largest_p_difference"] < 1e-11
    assert found["largest_bound_difference"] < 0.03 * found["median_width_of_intervals"] + 0.3
    assert found["largest_bound_difference_to_numpy"] < 0.03 * found["median_width_of_intervals"] + 0.3
    (race,) = found["races"].values()
    assert (race["popular"], race["expert"]) == ("SciPy, cell by cell", "NumPy, one product")
