"""Two models on the same questions, against regressions of statsmodels; several trainings; parts of increasing difficulty."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from tests.complexity.difficulty.asked import answers, english_set
from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.comparison import COMPARISON_COLUMNS, compare_models
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.difficulty.partitions import shown_factors, write_partitions
from trivium.core.errors import BadInput
from trivium.formats.question_sets import read_question_set
from trivium.measures.significance import holm
from trivium.page.difficulty import write_difficulty

SET = english_set()
FAST = DifficultySettings(resamples=200, draws=2)


def reader(skill, loss=0.0, seed=0):
    return answers(SET, lambda each, luck: luck < skill - loss * (each.id[0] == "l"), seed)


def analyse(given, found=SET):
    return difficulty(found, given, language="en", settings=FAST, say=lambda _: None)


@pytest.fixture(scope="module")
def two():
    return analyse({"good": reader(0.95), "long": reader(0.95, 0.7, 1), "same": reader(0.95, 0, 7)})


def test_differences_are_regressions_with_clustered_errors(two):
    found = compare_models(two, "good", "long")
    difference = 100 * (two.scores["rouge_l"]["good"] - two.scores["rouge_l"]["long"])

    def fit(design, values, groups):
        return sm.OLS(values, design).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)

    whole = fit(np.ones(len(difference)), difference, two.clusters)
    # With one column statsmodels' correction is G/(G - 1) · (n - 1)/(n - 1): ours.
    assert (found.difference, found.p) == (pytest.approx(whole.params[0]), pytest.approx(whole.pvalues[0]))
    assert [found.low, found.high] == pytest.approx(whole.conf_int()[0])
    rows = {row["factor"]: row for row in found.rows}
    assert tuple(rows["long_answer"]) == COMPARISON_COLUMNS
    code = two.factors.codes["long_answer"]
    for key, side in (("on_yes", code == 1), ("on_no", code == 0)):
        part = fit(np.ones(side.sum()), difference[side], two.clusters[side])
        assert rows["long_answer"][key] == pytest.approx(part.params[0])
        assert [rows["long_answer"][f"{key}_{end}"] for end in ("low", "high")] == pytest.approx(part.conf_int()[0])
    between = fit(sm.add_constant((code == 1).astype(float)), difference, two.clusters)
    assert rows["long_answer"]["more_on_yes"] == pytest.approx(between.params[1])
    assert rows["long_answer"]["p"] == pytest.approx(between.pvalues[1])
    assert [row["p_holm"] for row in found.rows] == pytest.approx(holm(np.array([row["p"] for row in found.rows])))


def test_the_sentence_says_who_is_better_and_where(two):
    said = str(compare_models(two, "good", "long"))
    assert said.startswith("good is better than long (good less long: +")
    assert ", and mostly where “" in said
    assert "“answer longer than in half of the set” (+" in said
    turned = str(compare_models(two, "long", "good"))
    assert turned.startswith("good is better than long (long less good: -")
    assert "“answer longer than in half of the set” (-" in turned
    alike = str(compare_models(two, "good", "same"))
    assert alike.startswith("good and same cannot be told apart (good less same: ")
    assert "this set would show " in alike
    for pair in (("good", "other"), ("good", "good")):
        with pytest.raises(BadInput, match=r"not two of the models; got .* \(choices: good, long, same\)"):
            compare_models(two, *pair)


def test_trainings_are_one_model_with_a_spread():
    trainings = [reader(0.9, 0.5, seed) for seed in range(3)]
    found = analyse({"m": trainings, "n": reader(0.9)})
    alone = [analyse({"m": each}).scores["rouge_l"]["m"] for each in trainings]
    assert found.models == ["m", "n"]
    assert list(found.answers) == ["m#1", "m#2", "m#3", "n"]
    assert found.scores["rouge_l"]["m"] == pytest.approx(np.mean(alone, axis=0))
    told = found.of_model("m")
    assert (told["trainings"], told["spread"]) == (3, pytest.approx(np.std([each.mean() for each in alone], ddof=1)))
    assert "trainings" not in found.of_model("n")
    row = next(row for row in found.rows if (row["model"], row["factor"]) == ("m", "long_answer"))
    code = found.factors.codes["long_answer"]
    mean = found.scores["rouge_l"]["m"]
    assert row["delta"] == pytest.approx(100 * (mean[code == 1].mean() - mean[code == 0].mean()))
    assert "m: 3 trainings, of which every score is the mean." in found.notes
    assert "± " in repr(found).splitlines()[1]
    assert "over 3 trainings" in repr(found).splitlines()[1]


def test_intervals_draw_trainings_too():
    """Trainings that differ widely make an interval wider than their mean, taken as one training, has."""
    apart = [reader(0.95, loss, 5) for loss in (0.0, 0.9)]
    found = analyse({"m": apart})
    row = next(row for row in found.rows if row["factor"] == "long_answer")
    one = next(row for row in analyse({"m": reader(0.95, 0.45, 5)}).rows if row["factor"] == "long_answer")
    assert row["high"] - row["low"] > 2 * (one["high"] - one["low"])


def test_parts_get_harder_by_what_the_set_shows(two, tmp_path):
    assert "long_answer" in shown_factors(two)
    rows = write_partitions(two, tmp_path)
    means = {row["partition"]: row["score"] for row in rows if row["model"] == "mean"}
    last = len(shown_factors(two))
    assert means["holding-0"] > means[f"holding-{last}"]
    assert means["long_answer-no"] > means["long_answer-yes"]
    sizes = 0
    for name in means:
        part = read_question_set(tmp_path / "partitions" / name / "data.json")
        ids = {each.id for each in part.questions}
        sizes += len(ids) * name.startswith("holding")
        own = {row["model"]: row for row in rows if row["partition"] == name}
        assert own["long"]["examples"] == len(ids)
        places = [at for at, each in enumerate(two.questions) if each.id in ids]
        assert own["long"]["score"] == pytest.approx(two.scores["rouge_l"]["long"][places].mean())
        card = (tmp_path / "partitions" / name / "README.md").read_text("utf-8")
        assert f"| long | {own['long']['score']:.4f} |" in card
        assert card.startswith("---\nlanguage: en\n")
    assert sizes == len(two.questions)
    with (tmp_path / "partitions.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(rows)


def test_hard_and_informative_quarters_and_questions_without_a_place(tmp_path):
    lost = replace(SET, questions=(replace(SET.questions[0], place=None), *SET.questions[1:]))
    found = analyse({f"m{n}": reader(0.4 + 0.1 * n, 0.3, n) for n in range(6)}, lost)
    rows = write_partitions(found, tmp_path)
    for name, values in (("hard", found.irt.difficulty), ("informative", found.irt.information)):
        own = read_question_set(tmp_path / "partitions" / name / "data.json")
        inside = np.array([each.id in {of.id for of in own.questions} for each in found.questions])
        assert inside.sum() in (29, 30)
        assert values[inside].min() >= values[~inside][1:].max() - 1e-12
    assert {"hard", "informative"} <= {row["partition"] for row in rows}
    cards = "".join(path.read_text("utf-8") for path in (tmp_path / "partitions").glob("holding-*/README.md"))
    assert "their answers do not stand in their texts: 1" in cards
    assert 0 <= found.discrimination_p <= 1


def test_no_factor_makes_no_parts(tmp_path):
    right = {each.id: each.answers[0] for each in SET.questions}
    assert write_partitions(analyse({"m": right}), tmp_path) == []
    assert list((tmp_path / "partitions").iterdir()) == []


def test_the_page_and_the_json_have_both(two, tmp_path):
    comparison, rows = compare_models(two, "good", "long"), write_partitions(two, tmp_path)
    write_difficulty(two, tmp_path, comparison=comparison, partitions=rows)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "good and long</h2>" in page
    assert ", and mostly where “" in page
    assert "holding-0" in page
    tree = json.loads((tmp_path / "difficulty.json").read_text("utf-8"))
    assert tree["comparison"]["says"] == str(comparison)
    assert tree["partitions"] == rows
    with (tmp_path / "comparison.csv").open(encoding="utf-8") as file:
        assert [row["factor"] for row in csv.DictReader(file)] == [row["factor"] for row in comparison.rows]
