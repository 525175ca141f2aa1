"""How small an effect is found: curves by hand, tables of another size, and power that grows with effect and size."""

import numpy as np
import pytest

from tests.complexity.analysis_world import factor_table
from trivium.complexity.effects.analysis import analyse
from trivium.complexity.effects.planted_effects import (
    CRITERIA,
    Difficulty,
    Power,
    SensitivityParameters,
    as_large_as,
    power_at,
    powers,
    sensitivity_metrics,
    smallest_delta,
)

DIFFICULTY = Difficulty(level=0.6, models=0.05, texts=0.1, frames=0.05, examples=0.2, answers=0.35)
ANALYSIS = {"risk": 0.05, "smallest_set": 8, "resamples": 50, "confidence": 0.95}


def line(*points):
    """Powers of one criterion, from (δ, power)."""
    return [Power("corpus", "f0", "holm", 0, delta, power, 0, 1, 10) for delta, power in points]


def parameters(**changes):
    values = {"planted": [-0.05, -0.3], "simulations": 4, "power": 0.8, "paper": {"questions": 400, "models": 3}}
    return SensitivityParameters(**values | changes)


def test_the_smallest_delta_by_hand():
    # Half of the way from .6 to 1 at 4 and 8 points: 6 points.
    assert smallest_delta(line((0, 0.05), (-4, 0.6), (-8, 1)), 0.8) == pytest.approx(-6)
    assert smallest_delta(line((-8, 1), (0, 0.05), (-4, 0.6)), 0.8) == pytest.approx(-6)  # in any order
    assert smallest_delta(line((0, 0.05), (-4, 0.6), (-8, 0.79)), 0.8) is None
    assert smallest_delta(line((0, 0.9), (-4, 1)), 0.8) == 0  # called worse without an effect
    # A dip is levelled: .9 and .5 become .7 each.
    assert smallest_delta(line((0, 0), (-2, 0.9), (-4, 0.5), (-6, 0.9)), 0.8) == pytest.approx(-5)


def test_the_power_of_a_delta_lies_on_the_line():
    points = line((0, 0.1), (-4, 0.5), (-8, 0.9))
    assert power_at(points, -2) == pytest.approx(0.3)
    assert (power_at(points, 3), power_at(points, -20)) == (pytest.approx(0.1), pytest.approx(0.9))
    assert power_at(points, smallest_delta(points, 0.8)) == pytest.approx(0.8)


def test_what_no_effect_reaches_has_no_metric():
    never = [Power("paper", "f1", "found", 0, delta, 0.5, 0, 1, 10) for delta in (0.0, -9.0)]
    assert sensitivity_metrics([*line((0, 0), (-5, 1)), *never], 0.8) == {"smallest_corpus_holm_f0": pytest.approx(-4)}


def test_another_size_keeps_texts_whole_and_factors_of_frames_constant():
    table = factor_table(300, 60)
    drawn = as_large_as(table, 1000, np.random.default_rng(0))
    assert len(set(drawn.ids)) == 1000
    assert {len(each) for each in (drawn.texts, drawn.frames, drawn.elements, drawn.factors[0])} == {1000}
    sizes = {name: int((table.texts == name).sum()) for name in set(table.texts)}
    drawn_sizes = [int((drawn.texts == name).sum()) for name in dict.fromkeys(drawn.texts)]
    assert set(drawn_sizes[:-1]) <= set(sizes.values())  # the last one is cut
    assert set(drawn.frames) <= set(table.frames)
    rows = [table.ids.index(name.split()[0]) for name in drawn.ids]
    assert (drawn.factors == table.factors[:, rows]).all()
    assert (drawn.frames == table.frames[rows]).all()


def test_power_grows_with_the_effect_and_is_small_without_one():
    table = factor_table(600, 150)
    found = list(powers(table, "corpus", parameters(), models=3, difficulty=DIFFICULTY, seed=0, **ANALYSIS))
    assert {each.criterion for each in found} == set(CRITERIA)
    assert {each.simulations for each in found if each.planted} == {4}
    assert {each.simulations for each in found if not each.planted} == {4 * 7}
    for factor in ("f2", "f5"):
        curve = {each.planted: each for each in found if (each.factor, each.criterion) == (factor, "mann_whitney")}
        assert list(curve) == [0, -0.05, -0.3]
        assert curve[-0.3].delta < curve[-0.05].delta < curve[0].delta + 1
        assert abs(curve[-0.3].delta) < 30  # cut scores show less than was planted
        assert curve[-0.3].power == 1 > curve[0].power
    again = list(powers(table, "corpus", parameters(), models=3, difficulty=DIFFICULTY, seed=0, **ANALYSIS))
    assert again == found


def test_small_sets_are_in_no_test_and_change_no_other():
    # Two examples of 300 that are all wrong: p = 1e-17 by the normal approximation, 6e-4 exactly.
    table = factor_table(300, 100)
    few = np.zeros(300, np.int8)
    few[:2] = 1
    scores = np.random.default_rng(0).random((2, 300))
    scores[:, :2] = 0
    with_few, options = table.with_factor("f3", few), {**ANALYSIS, "seed": 0}
    found, alone = analyse(scores, with_few, **options), analyse(scores, with_few, **options | {"smallest_set": 1})
    column = table.column("f3")
    assert (alone.p[:, column] < 0.05).all()
    for matrix in (found.p, found.p_holm, found.p_frame, found.low, found.joint.p, found.p_all):
        assert np.isnan(matrix[:, column]).all()
    assert (found.delta == alone.delta).all()  # what it is stays said
    assert not found.significant[:, column].any()
    others = [place for place in range(len(table.names)) if place != column]
    assert np.array_equal(found.p[:, others], alone.p[:, others], equal_nan=True)
    assert (found.p_holm[:, others] <= alone.p_holm[:, others]).all()  # fewer cells to correct for
