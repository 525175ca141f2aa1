"""The bench of Table 2 on small inputs: SciPy's loop and ours must agree, whatever the times."""

import pytest

from bench import effects


def test_delta_p_and_intervals_are_those_of_scipy(figures, monkeypatch):
    for name, value in (("MODELS", 2), ("FACTORS", 3), ("EXAMPLES", 300), ("TEXTS", 50), ("PEER_CELLS", 3)):
        monkeypatch.setattr(effects, name, value)
    effects.main()
    found = figures("effects")
    assert found["cells_of_scipy_bootstrap_timed"] == 3
    assert found["largest_p_difference"] < 1e-11
    assert found["largest_bound_difference"] < 0.03 * found["median_width_of_intervals"] + 0.3
    assert found["times_faster"] == pytest.approx(found["seconds_of_scipy_scaled"] / found["seconds"])
