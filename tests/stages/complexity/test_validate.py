"""Stage complexity-validate: every cell against an independent computation, and what must not be analysed."""

import csv

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
import statsmodels.formula.api as smf

from stages.complexity.validate import ValidateParameters, main
from tests.complexity.analysis_world import factor_table, with_factor, write_factors, write_scores
from tests.complexity.paper_factors import FACTORS
from trivium.complexity.effects.analysed_tables import read_scores, schema
from trivium.complexity.effects.analysis import analyse
from trivium.complexity.effects.regression import joint_regression, of_frames, uncounted_dummies
from trivium.core.tables import read_table, write_table
from trivium.measures.significance import holm

OPTIONS = {"risk": 0.05, "smallest_set": 1, "resamples": 200, "confidence": 0.95, "seed": 0}


def scores_of(table, models=3, seed=0):
    rng = np.random.default_rng(seed)
    shift = -0.35 * (table.factors[3] == 1)
    return np.clip(0.6 + shift + rng.normal(0, 0.15, len(table.ids)) + rng.normal(0, 0.3, (models, len(shift))), 0, 1)


def test_delta_and_p_are_the_papers():
    table = factor_table()
    scores = scores_of(table)
    effects = analyse(scores, table, ValidateParameters(measure="rouge_l", **OPTIONS), np.arange(len(scores)))
    for row, values in enumerate(scores):
        for column, codes in enumerate(table.factors):
            yes, no = values[codes == 1], values[codes == 0]
            assert effects["delta"][row, column] == pytest.approx(100 * (yes.mean() - no.mean()))
            theirs = scipy.stats.mannwhitneyu(yes, no, method="asymptotic")
            assert effects["p"][row, column] == pytest.approx(theirs.pvalue, rel=1e-11)
    assert effects["p_holm"].ravel() == pytest.approx(holm(effects["p"].ravel()))
    assert effects["yes"][0].tolist() == [(codes == 1).sum() for codes in table.factors]
    assert effects["found"][:, 3].all()
    assert effects["found_holm"][:, 3].all()
    assert not effects["found_holm"][:, [0, 1, 2, 4, 5, 6]].any()
    assert not (effects["found"] & ~effects["significant"]).any()


def test_the_other_reading_has_a_delta_and_no_other_part(tmp_path):
    table = factor_table(40)
    rows = [
        {"id": name, "text_id": "t", "frame": "F", "answer_element": "E", "f3": at % 2 == 0, "f3_other": other}
        for at, (name, other) in enumerate(zip(table.ids, [True] * 10 + [False] * 20 + [None] * 10, strict=True))
    ]
    names = schema({"f3": "absent"}, {"f3_other": pa.bool_()}, {"f3": "the other reading"})
    write_table(tmp_path / "factors.parquet", pa.Table.from_pylist(rows, schema=names))
    scores = np.array([0.25] * 10 + [0.75] * 20 + [0.0] * 10)
    write_scores(tmp_path / "scores.parquet", table.ids, {("a", "extractive", 0): scores})
    paths = {name: tmp_path / name for name in ("out", "out_agreement")}
    metrics = main(ValidateParameters(measure="rouge_l", **OPTIONS), scores=tmp_path / "scores.parquet",
                   factors=tmp_path / "factors.parquet", **paths)  # fmt: skip
    assert metrics["a_f3_other_delta_points"] == pytest.approx(-50)
    theirs = scipy.stats.mannwhitneyu([0.25] * 10, [0.75] * 20, method="asymptotic")
    assert metrics["a_f3_other_p"] == pytest.approx(theirs.pvalue)
    assert metrics["tests"] == 1
    assert set(read_table(paths["out"])["factor"].to_pylist()) == {"f3"}


def test_joint_regression_is_that_of_a_formula():
    table = factor_table(300)
    scores = scores_of(table, models=2, seed=1)
    joint = joint_regression(scores, table.factors, table.elements, table.texts, table.frames, confidence=0.9)
    of_frame = np.array([name in ("f0", "f6") for name in FACTORS])  # constant: without elements, errors by frame
    names = list(FACTORS)
    for row, values in enumerate(scores):
        data = {name: (codes == 1).astype(float) for name, codes in zip(FACTORS, table.factors, strict=True)}
        data |= {"score": 100 * values, "element": table.elements}
        by_text, by_frame, without = (
            smf.ols("score ~ " + " + ".join(names) + elements, data).fit(
                cov_type="cluster", cov_kwds={"groups": np.unique(labels, return_inverse=True)[1]}, use_t=True
            )
            for elements, labels in (
                (" + C(element)", table.texts),
                (" + C(element)", table.frames),
                ("", table.frames),
            )
        )
        for mask, fit, framed in ((~of_frame, by_text, by_frame), (of_frame, without, without)):
            assert joint.coefficient[row, mask] == pytest.approx(fit.params[names][mask], rel=1e-8)
            assert joint.p[row, mask] == pytest.approx(fit.pvalues[names][mask], rel=1e-6)
            assert joint.p_frame[row, mask] == pytest.approx(framed.pvalues[names][mask], rel=1e-6)
            bounds = np.stack([joint.low[row, mask], joint.high[row, mask]], axis=1)
            assert bounds == pytest.approx(fit.conf_int(0.1).loc[names].to_numpy()[mask], rel=1e-8)


def test_a_factor_of_frames_is_not_taken_away_by_the_names_of_their_elements():
    # Every frame has elements of its own: with them in the regression nothing would be left of f6.
    table = factor_table(900, 200)
    scores = np.clip(0.7 - 0.2 * table.factors[6] + np.random.default_rng(1).normal(0, 0.2, (2, 900)), 0, 1)
    named = np.char.add(table.frames, table.elements)
    joint = joint_regression(scores, table.factors, named, table.texts, table.frames, confidence=0.95)
    plain = joint_regression(scores, table.factors, table.frames, table.texts, table.frames, confidence=0.95)
    for found in (joint, plain):
        assert found.coefficient[:, 6] == pytest.approx(-18, abs=4)
        assert (found.p_frame[:, 6] < 0.001).all()
        assert (np.abs(found.coefficient[:, 0]) < 4).all()
    assert joint.coefficient[:, 6].tolist() == plain.coefficient[:, 6].tolist()
    # A factor that is no frame's is still held beside elements of one frame.
    assert joint.coefficient[:, 2].tolist() != plain.coefficient[:, 2].tolist()


def test_which_factors_are_of_frames_by_hand():
    factors = np.array([[1, 1, 0, 0, -1], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1]], np.int8)
    assert of_frames(factors, np.array([0, 0, 1, 1, 2])).tolist() == [True, False, False]


def test_factors_that_cannot_be_told_apart_have_no_coefficient():
    table = factor_table(300)
    scores = scores_of(table)
    table = with_factor(with_factor(table, "f2", table.factors[3]), "f6", np.ones(300, np.int8))
    joint = joint_regression(scores, table.factors, table.elements, table.texts, table.frames, confidence=0.95)
    assert np.isnan(joint.coefficient).all(axis=0).tolist() == [False, False, True, True, False, False, True]
    assert np.isnan(joint.p_frame).all(axis=0).tolist() == [False, False, True, True, False, False, True]


def test_hard_uncounted_examples_are_no_effect_of_the_factor():
    rng = np.random.default_rng(4)
    table = factor_table(2000, 400)
    odd = rng.random(2000) < 0.2  # in neither set of f4, and hard
    table = with_factor(table, "f1", (rng.random(2000) < 0.1).astype(np.int8))
    table = with_factor(table, "f4", np.where(odd, -1, rng.random(2000) < 0.3).astype(np.int8))
    scores = np.clip(0.7 - 0.4 * odd + rng.normal(0, 0.3, (2, 2000)), 0, 1)
    joint = joint_regression(scores, table.factors, table.elements, table.texts, table.frames, confidence=0.95)
    assert (np.abs(joint.coefficient[:, 4]) < 4).all()  # beside easier "no" examples it would be +12
    assert (joint.p[:, 4] > 0.01).all()
    # The same as when all that f4 does not count is left out, for all other factors are without meaning.
    kept = ~odd
    labels = table.elements[kept], table.texts[kept], table.frames[kept]
    alone = joint_regression(scores[:, kept], table.factors[:, kept], *labels, confidence=0.95)
    assert joint.coefficient[:, 4] == pytest.approx(alone.coefficient[:, 4], abs=0.5)


@pytest.mark.parametrize("beside", [0.0, 0.05])
def test_a_factor_whose_yes_has_no_path_keeps_its_coefficient(beside):
    rng = np.random.default_rng(5)
    table = factor_table(2000, 400)
    f1 = rng.random(2000) < 0.1
    odd = ~f1 & (rng.random(2000) < beside)  # the trigger is in the answer: no path either, and very easy
    table = with_factor(table, "f1", f1.astype(np.int8))
    table = with_factor(table, "f4", np.where(f1 | odd, -1, rng.random(2000) < 0.3).astype(np.int8))
    scores = np.clip(0.5 - 0.2 * f1 + 0.5 * odd + rng.normal(0, 0.1, (2, 2000)), 0, 1)
    joint = joint_regression(scores, table.factors, table.elements, table.texts, table.frames, confidence=0.95)
    assert joint.coefficient[:, 1] == pytest.approx(-20, abs=3)
    assert (np.abs(joint.coefficient[:, 4]) < 2).all()


def test_dummies_of_uncounted_examples_by_hand():
    f1 = [1, 0, 0, 0, 0, 0, 0, 0]
    f4 = [-1, -1, 0, 1, 0, 1, 0, 1]
    assert uncounted_dummies(np.array([f1, f4])).T.tolist() == [[0, 1, 0, 0, 0, 0, 0, 0]]
    assert uncounted_dummies(np.array([f1, [-1, 0, 0, 1, 0, 1, 0, 1]])).shape == (8, 0)
    assert uncounted_dummies(np.array([[0, 1] * 4, f4])).T.tolist() == [[1, 1, 0, 0, 0, 0, 0, 0]]
    # Nearly all are uncounted (f3 in its other reading): that a yes is among them says nothing.
    most = [-1, -1, -1, -1, -1, -1, 0, 1]
    assert uncounted_dummies(np.array([f1, most])).T.tolist() == [[1] * 6 + [0] * 2]


@pytest.fixture
def world(tmp_path):
    table = factor_table(200, 40)
    write_factors(tmp_path / "factors.parquet", table)
    values = scores_of(table, 5)
    names = [("big", "extractive", 0), ("big", "extractive", 1), ("small", "seq2seq", 0), ("shout", "baseline", -1)]
    write_scores(tmp_path / "scores.parquet", table.ids, dict(zip(names, values, strict=False)))
    return tmp_path, table, dict(zip(names, values, strict=False))


def run(folder, **changes):
    values = {"measure": "rouge_l", **OPTIONS}
    return main(
        ValidateParameters(**values | changes),
        scores=folder / "scores.parquet",
        factors=folder / "factors.parquet",
        out=folder / "effects.parquet",
        out_agreement=folder / "agreement.csv",
    )


def test_the_stage_averages_seeds_and_leaves_baselines_out(world):
    folder, table, scores = world
    metrics = run(folder)
    big = (scores["big", "extractive", 0] + scores["big", "extractive", 1]) / 2
    values = np.stack([big, scores["small", "seq2seq", 0]])
    assert read_scores(folder / "scores.parquet", table.ids, "rouge_l").values == pytest.approx(values)
    trainings = np.stack(list(scores.values())[:3])
    parameters = ValidateParameters(measure="rouge_l", **OPTIONS)
    effects = analyse(trainings, table, parameters, np.array([0, 0, 1]))
    of_means = analyse(values, table, parameters, np.arange(2))
    assert np.array_equal(of_means["p_all"], effects["p_all"])
    assert np.array_equal(of_means["high"][1], effects["high"][1])  # one training
    assert (of_means["high"][0] != effects["high"][0]).all()  # two
    rows = read_table(folder / "effects.parquet").to_pylist()
    assert [(row["model"], row["factor"]) for row in rows] == [(m, f) for m in ("big", "small") for f in FACTORS]
    for name, expected in (
        ("delta", effects["delta"]),
        ("delta_floor", np.floor(effects["delta"])),
        ("p_holm", effects["p_holm"]),
        ("joint_p", effects["joint_p"]),
        ("high", effects["high"]),
        ("found", effects["found"]),
    ):
        assert [row[name] for row in rows] == expected.ravel().tolist()
    assert (rows[0]["yes"], rows[0]["no"]) == (effects["yes"][0, 0], effects["no"][0, 0])
    assert metrics["examples"] == 200
    assert metrics["models"] == 2
    assert metrics["baselines_left_out"] == 1
    assert metrics["f3_validated"] == metrics["f3_found"] == 2
    assert metrics["small_f3_delta_points"] == pytest.approx(effects["delta"][1, 3])
    with (folder / "agreement.csv").open() as lines:
        (pair,) = csv.DictReader(lines)
    assert (pair["model"], pair["other"]) == ("big", "small")
    assert float(pair["spearman"]) == pytest.approx(scipy.stats.spearmanr(*values).statistic)
    assert metrics["mean_spearman"] == float(pair["spearman"])
