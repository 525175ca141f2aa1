"""The bench of Table 2 on small inputs: SciPy's loop and ours must agree, whatever the times."""

import json

from bench import effects, harness


def test_delta_p_and_intervals_are_those_of_scipy(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    monkeypatch.setattr(harness, "peak_memory", lambda *arguments, **options: 0.0)
    for name, value in (("MODELS", 2), ("FACTORS", 3), ("EXAMPLES", 300), ("TEXTS", 50), ("PEER_CELLS", 3)):
        monkeypatch.setattr(effects, name, value)
    effects.main()
    found = json.loads((tmp_path / "effects.json").read_text())
    assert found["cells_of_scipy_bootstrap_timed"] == 3
    assert found["largest_p_difference"] < 1e-11
    assert found["largest_bound_difference"] < 0.03 * found["median_width_of_intervals"] + 0.3
    assert found["times_faster"] > 0
