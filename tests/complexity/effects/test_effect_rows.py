"""Effects of factors of any kind: against SciPy, the formula, and what is too small to tell."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from trivium.complexity.effects.analysis import COLUMNS, AnalysisParameters, effect_rows
from trivium.measures.significance import holm

KEYS = AnalysisParameters(risk=0.05, smallest_set=1, confidence=0.95, resamples=300, seed=0)


def planted(n=600, seed=0):
    rng = np.random.default_rng(seed)
    codes = {name: rng.integers(-1, 2, size=n).astype(np.int8) for name in ("hard", "idle")}
    score = np.clip(0.7 - 0.2 * (codes["hard"] == 1) + 0.25 * rng.normal(size=n), 0, 1)
    return {"m": score, "flat": np.full(n, 0.5)}, codes, [f"t{number // 4}" for number in range(n)]


def test_effects_are_scipys_and_the_formula():
    scores, codes, clusters = planted()
    rows = {(row["model"], row["factor"]): row for row in effect_rows(scores, codes, clusters, KEYS)}
    assert [set(row) for row in rows.values()] == [set(COLUMNS)] * 4
    for factor, code in codes.items():
        yes, no = scores["m"][code == 1], scores["m"][code == 0]
        row = rows["m", factor]
        assert (row["yes"], row["no"]) == (len(yes), len(no))
        assert row["delta"] == pytest.approx(100 * (yes.mean() - no.mean()))
        assert row["delta_floor"] == np.floor(row["delta"])
        assert row["p"] == pytest.approx(mannwhitneyu(yes, no).pvalue)
    np.testing.assert_allclose(
        [row["p_holm"] for row in rows.values()], holm(np.array([row["p"] for row in rows.values()]))
    )
    hard, idle = rows["m", "hard"], rows["m", "idle"]
    assert hard["low"] < hard["delta"] < hard["high"] < 0
    assert hard["joint"] == pytest.approx(-20, abs=6)
    assert (hard["validated"], hard["significant"], hard["holm_significant"]) == (True, True, True)
    assert not idle["holm_significant"]
    assert (rows["flat", "hard"]["delta"], rows["flat", "hard"]["p"]) == (0, 1)


def test_a_set_that_is_too_small_is_as_if_the_factor_were_not_there():
    scores, codes, clusters = planted()
    codes["rare"] = np.where(np.arange(600) < 5, 1, 0).astype(np.int8)
    keys = KEYS.model_copy(update={"smallest_set": 6})
    with_rare = effect_rows(scores, codes, clusters, keys)
    del codes["rare"]
    others = [row for row in with_rare if row["factor"] != "rare"]
    assert others == list(map(pytest.approx, effect_rows(scores, codes, clusters, keys)))
    rare = [row for row in with_rare if row["factor"] == "rare"]
    assert [(row["yes"], row["no"]) for row in rare] == [(5, 595)] * 2
    assert {row[name] for row in rare for name in ("delta", "p", "p_holm", "low", "joint", "joint_p")} == {None}
