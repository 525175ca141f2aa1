"""Stage complexity-simulate: planted effects are found, and only those; what is drawn is what was planted."""

import csv

import numpy as np
import pytest

from stages.complexity.simulate import METHODS, main
from tests.complexity.analysis_world import factor_table, write_factors
from tests.complexity.paper_factors import FACTORS
from trivium.complexity.effects.planted_effects import Difficulty, confounded, simulated_scores
from trivium.complexity.effects.simulation import SCENARIOS, SimulateParameters, metrics_of, rates, simulate
from trivium.core.errors import BadInput

DIFFICULTY = {"level": 0.6, "models": 0.05, "texts": 0.1, "frames": 0.05, "examples": 0.2, "answers": 0.35}


def parameters(**changes):
    values = {
        "simulations": 12,
        "models": 3,
        "effects": {"f3": -0.25, "f4": -0.3},
        "confounding": {"factor": "f5", "strength": 0.8, "effect": -0.4},
        "difficulty": DIFFICULTY,
        "sensitivity": {"planted": [-0.2], "simulations": 2, "power": 0.8, "paper": {"questions": 200, "models": 2}},
        "risk": 0.05,
        "smallest_set": 2,
        "confidence": 0.95,
        "resamples": 200,
        "seed": 3,
    }
    return SimulateParameters(**values | changes)


def run(folder, **changes):
    files = {"factors": folder / "factors.parquet", "out": folder / "rates.csv", "out_powers": folder / "powers.csv"}
    return main(parameters(**changes), None, **files)


def draw(table, effects=None, element_effect=None, seed=0, **changes):
    return simulated_scores(
        table,
        effects or {},
        np.zeros(len(table.ids)) if element_effect is None else element_effect,
        models=4,
        difficulty=Difficulty(**DIFFICULTY | changes),
        rng=np.random.default_rng(seed),
    )


def test_scores_are_bounded_with_many_fully_right_and_wrong():
    scores = draw(factor_table(2000))
    assert scores.min() == 0
    assert scores.max() == 1
    assert (scores == 1).mean() > 0.1
    assert (scores == 0).mean() > 0.05
    assert ((scores > 0) & (scores < 1)).mean() > 0.3


def test_only_planted_factors_move_the_scores():
    table = factor_table(500)
    before, after = draw(table), draw(table, {"f4": -0.1})
    moved = before != after
    assert not moved[:, table.factors[4] != 1].any()
    inside = (before > 0.1) & (before < 1)  # not cut on either side
    assert (before - after)[inside & (table.factors[4] == 1)] == pytest.approx(0.1)


def test_examples_of_one_text_and_one_frame_are_alike():
    table = factor_table(3000, 300)
    for labels, changes in ((table.texts, {"texts": 0.3, "frames": 0}), (table.frames, {"texts": 0, "frames": 0.3})):
        means = np.array([draw(table, **changes)[:, labels == name].mean() for name in np.unique(labels)])
        none = np.array([draw(table, texts=0, frames=0)[:, labels == name].mean() for name in np.unique(labels)])
        assert means.std() > 2 * none.std()


def test_confounding_goes_with_the_elements_and_with_nothing_else():
    table = factor_table(6000)
    made, effect = confounded(table, "f5", strength=0.8, effect=-0.4, rng=np.random.default_rng(0))
    hard = effect < 0
    assert set(effect) == {0, -0.4}
    assert 0.4 < hard.mean() < 0.7
    for name in np.unique(table.elements):
        assert len(set(hard[table.elements == name])) == 1
    assert made.factors[5][hard].mean() == pytest.approx(0.9, abs=0.03)
    assert made.factors[5][~hard].mean() == pytest.approx(0.1, abs=0.03)
    assert (np.delete(made.factors, 5, axis=0) == np.delete(table.factors, 5, axis=0)).all()


def test_a_simulation_depends_on_its_number_and_scenario_only():
    table, chosen = factor_table(200), parameters()
    again = [simulate("planted", 3, table, chosen).p.tolist() for _ in range(2)]
    assert again[0] == again[1]
    assert again[0] != simulate("planted", 4, table, chosen).p.tolist()
    assert again[0] != simulate("null", 3, table, chosen).p.tolist()


def test_rates_by_hand():
    # Two simulations, one model; planted f3 and f4, f0 does not split the corpus.
    cells = np.zeros((2, 1, 7), bool)
    cells[:, 0, 3] = cells[0, 0, 4] = cells[1, 0, 6] = True
    defined = np.array([name != "f0" for name in FACTORS])
    found = {(r.factor, r.role): r for r in rates("planted", cells, defined, "joint", parameters(), FACTORS)}
    assert {key: rate.rate for key, rate in found.items()} == {
        ("f1", "null"): 0,
        ("f2", "null"): 0,
        ("f3", "planted"): 1,
        ("f4", "planted"): 0.5,
        ("f5", "null"): 0,
        ("f6", "null"): 0.5,
        ("all", "null"): 1 / 8,
        ("any", "null"): 1 / 2,
        ("all", "planted"): 3 / 4,
    }
    assert found["all", "planted"].simulations == 2
    assert found["f3", "planted"].low == pytest.approx(1 / (1 + 1.959964**2 / 2))
    metrics = metrics_of(list(found.values()), parameters())
    assert metrics["power_joint"] == 0.75
    assert metrics["power_joint_f4"] == 0.5
    assert metrics["planted_any_false_alarm_joint"] == 0.5


def test_the_analysis_finds_what_was_planted_and_only_that(tmp_path):
    write_factors(tmp_path / "factors.parquet", factor_table(900, 200))
    metrics = run(tmp_path)
    assert metrics["power_found"] > 0.9
    assert metrics["planted_false_alarms_found"] < 0.05
    assert metrics["planted_false_alarms_joint"] < 0.15
    assert metrics["null_any_false_alarm_found_holm"] < 0.1
    # Plain δ takes the mix of elements for an effect of f5; the regression does not.
    assert metrics["confounded_mann_whitney"] == metrics["confounded_holm"] == 1
    assert metrics["confounded_joint"] < 0.2
    assert metrics["confounded_found"] < 0.1
    with (tmp_path / "rates.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert {row["scenario"] for row in rows} == set(SCENARIOS)
    assert {row["method"] for row in rows} == set(METHODS)
    assert all(float(row["low"]) <= float(row["rate"]) <= float(row["high"]) for row in rows)
    assert {row["factor"] for row in rows if row["role"] == "planted"} == {"f3", "f4", "all"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"effects": {"f9": -0.1}}, r"factors\.parquet: field 'complexity\.simulate\.effects'.*choices: f0, f1"),
        ({"effects": dict.fromkeys(FACTORS, -0.1)}, "expected some, not all"),
        (
            {"confounding": {"factor": "f7", "strength": 0.5, "effect": -0.1}},
            "confounding.factor.*no such factor.*'f7'",
        ),
    ],
)
def test_effects_are_planted_on_factors_of_the_table(tmp_path, changes, message):
    write_factors(tmp_path / "factors.parquet", factor_table(100))
    with pytest.raises(BadInput, match=message):
        run(tmp_path, **changes)
