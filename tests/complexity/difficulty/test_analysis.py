"""The analysis of any set: what is planted is found, what comes from the measure is told apart, lacks are said."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from tests.complexity.difficulty.asked import answers, english_set, question
from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.effects import DIFFICULTY_COLUMNS
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.core.errors import BadInput
from trivium.measures.agreement import hardness_agreement
from trivium.measures.irt import fit_irt
from trivium.page.difficulty import write_difficulty

SET = english_set()
FAST = DifficultySettings(resamples=200, draws=2)


def reader(skill, loss=0.0, seed=0):
    """Right with this probability, less by `loss` where the answer is long."""
    return answers(SET, lambda each, luck: luck < skill - loss * (each.id[0] == "l"), seed)


def analyse(given, found=SET, settings=FAST, **options):
    said = []
    result = difficulty(
        found, given, language=options.pop("language", "en"), settings=settings, say=said.append, **options
    )
    assert result.notes == tuple(said)
    return result


def rows(found):
    return {(row["model"], row["factor"]): row for row in found.rows}


def test_a_planted_effect_is_found_and_comes_from_reading():
    found = analyse({"good": reader(0.9), "long": reader(0.95, 0.7, 1)})
    by = rows(found)
    assert [set(row) for row in by.values()] == [set(DIFFICULTY_COLUMNS)] * len(by)
    planted = by["long", "long_answer"]
    assert planted["delta"] < -40
    assert planted["holm_significant"]
    assert planted["high"] < 0
    assert planted["comes_from"] == "reading"
    assert {row["model"] for row in found.worse} == {"long"}
    assert by["good", "long_answer"]["comes_from"] is None


def test_the_difference_to_a_baseline_is_a_clustered_regression():
    found = analyse({"long": reader(0.95, 0.5)})
    row, code = rows(found)["long", "long_answer"], found.factors.codes["long_answer"]
    difference = 100 * (found.scores["rouge_l"]["long"] - found.baselines["random_span"])
    fit = sm.OLS(difference, sm.add_constant((code == 1).astype(float))).fit(
        cov_type="cluster", cov_kwds={"groups": found.clusters}, use_t=True
    )
    assert row["random_span_difference"] == pytest.approx(fit.params[1])
    assert row["random_span_p"] == pytest.approx(fit.pvalues[1])
    assert row["delta"] - row["random_span"] == pytest.approx(fit.params[1])


def test_clusters_are_articles_where_there_are_titles():
    assert (analyse({"m": reader(0.5)}).unit, analyse({"m": reader(0.5)}).metrics["clusters"]) == ("article", 15)
    untitled = english_set(titled=False)
    found = analyse({"m": reader(0.5)}, untitled)
    assert (found.unit, found.metrics["clusters"], found.metrics["contexts"]) == ("context", 60, 60)
    one = replace(SET, questions=tuple(replace(each, title="T") for each in SET.questions))
    assert analyse({"m": reader(0.5)}, one).unit == "context"


def test_missing_answers_are_said_first_and_many_need_a_word():
    few = {key: text for key, text in reader(0.8).items() if key not in ("s1", "l7")}
    found = analyse({"m": few})
    assert found.notes[:2] == ("m lacks 2 of 120 answers (1.7 %).", "Missing answers score 0.")
    assert (found.metrics["m_missing"], len(found.questions)) == (2, 120)
    half = {key: text for key, text in reader(0.8).items() if int(key[1:]) % 2}
    with pytest.raises(
        BadInput, match="'half' lacks more than a tenth.*got '60 of 120 missing'; expected zero .* or drop"
    ):
        analyse({"m": few, "half": half})
    zero = analyse({"half": half}, settings=FAST.model_copy(update={"missing": "zero"}))
    assert zero.scores["exact_match"]["half"].mean() < 0.5
    drop = analyse({"m": few, "half": half}, settings=FAST.model_copy(update={"missing": "drop"}))
    assert {each.id for each in drop.questions} == set(half) & set(few)
    assert "some model lacks are left out" in " ".join(drop.notes)
    other = {key: text for key, text in reader(0.8).items() if key not in half}
    with pytest.raises(BadInput, match="no question has an answer of every model"):
        analyse({"a": half, "b": other}, settings=FAST.model_copy(update={"missing": "drop"}))


def test_unanswerable_questions_are_counted_apart():
    blind = tuple(replace(question(f"u{n}", "A text.", "Why?", "x"), answers=(), place=None) for n in range(4))
    found = analyse(
        {"m": reader(0.7) | {"u0": "", "u1": "Unanswerable.", "u2": "because"}, "n": reader(0.7)},
        replace(SET, unanswerable=blind),
    )
    assert len(found.questions) == 120
    assert found.metrics["m_abstained"] == pytest.approx(2 / 3)
    assert "n_abstained" not in found.metrics
    assert "4 unanswerable questions are counted apart." in found.notes
    assert found.metrics["unanswerable"] == 4


def test_the_language_is_detected_and_said():
    assert any(
        "Language: English, detected in 100 % of the contexts" in each
        for each in analyse({"m": reader(0.5)}, language=None).notes
    )
    characters = analyse({"m": reader(0.5)}, language="ja")
    assert any("compared by characters" in each for each in characters.notes)
    assert characters.scores["exact_match"]["m"].mean() == pytest.approx(0.5, abs=0.15)
    assert any("no stemmer" in each for each in analyse({"m": reader(0.5)}, language="sk").notes)


def test_five_models_have_difficulties_by_irt():
    models = {f"m{n}": reader(0.5 + 0.08 * n, 0.4, n) for n in range(5)}
    found = analyse(models)
    assert found.irt is not None
    assert np.all(np.diff([found.metrics[f"m{n}_ability"] for n in range(5)]) > 0)
    row = rows(found)["m0", "long_answer"]
    assert row["irt_low"] < row["irt"] < row["irt_high"]
    assert row["irt_low"] > 0, "long answers are harder"
    code = found.factors.codes["long_answer"]
    expected = found.irt.difficulty[code == 1].mean() - found.irt.difficulty[code == 0].mean()
    assert row["irt"] == pytest.approx(expected)
    four = analyse({name: models[name] for name in list(models)[:4]})
    assert four.irt is None
    assert rows(four)["m0", "long_answer"]["irt"] is None


def test_a_missing_answer_is_missing_in_item_response_theory_too():
    models = {f"m{n}": reader(0.5 + 0.08 * n, 0.4, n) for n in range(5)}
    lacking = {key: None if key in ("s0", "s2", "l4") else text for key, text in models["m4"].items()}
    found = analyse(models | {"m4": lacking})
    assert found.missing.sum() == found.metrics["m4_missing"] == 3
    right = np.stack(list(found.scores["exact_match"].values())) == 1
    assert found.irt.ability == pytest.approx(fit_irt(right, ~found.missing).ability)


def test_a_question_that_nobody_answered_has_no_difficulty(tmp_path):
    models = {f"m{n}": reader(0.5 + 0.08 * n, 0.4, n) | {"s0": None} for n in range(5)}
    write_difficulty(analyse(models), tmp_path)
    with (tmp_path / "questions.csv").open(encoding="utf-8-sig") as file:
        told = {row["id"]: (row["irt_difficulty"], row["irt_error"]) for row in csv.DictReader(file)}
    assert told.pop("s0") == ("", "")
    assert all(difficulty and error for difficulty, error in told.values())


def test_doubtful_fits_are_said():
    perfect = {each.id: each.answers[0] for each in SET.questions}
    found = analyse({f"m{n}": perfect for n in range(5)})
    said = " ".join(found.notes)
    assert found.irt.at_bound
    assert "standard deviation of the difficulties, 0.01, lies at its bound" in said
    assert "intervals of δ have no width" in said
    assert "intervals of difficulties by item response theory have no width" in said
    assert "no width" not in " ".join(analyse({"m": reader(0.5)}).notes)


def test_an_answer_in_memory_that_is_no_text_is_refused():
    with pytest.raises(BadInput, match="not a text; got"):
        analyse({"m": reader(0.5) | {"s0": ["a", "b"]}})
    for given, problem in (
        ({"x": "a"}, r"no answer to any of the questions; got \['x'\]; expected ids such as"),
        (3, "no answers; got 'int'"),
        (reader(0.5) | {1: "a", "1": "b"}, "a question twice"),
    ):
        with pytest.raises(BadInput, match=problem):
            analyse({"m": given}, settings=FAST.model_copy(update={"missing": "zero"}))


def test_questions_and_models_may_be_numbers_and_one_file_is_a_list_of_one(tmp_path):
    numbered = replace(SET, questions=tuple(replace(each, id=str(n)) for n, each in enumerate(SET.questions)))
    told = {number: each.answers[0] for number, each in enumerate(SET.questions)}
    found = analyse({7: told}, numbered)
    assert (found.models, found.metrics["7_em"]) == (["7"], 1.0)
    file = tmp_path / "m.json"
    file.write_text(json.dumps({each.id: each.answers[0] for each in SET.questions}))
    assert analyse(str(file)).metrics["m_em"] == 1.0
    with pytest.raises(BadInput, match="m.json: not a folder; got 'a file'"):
        write_difficulty(found, file)


def test_agreement_and_means_are_the_measures():
    found = analyse({"a": reader(0.8), "b": reader(0.6, 0.3, 3)}, settings=FAST.model_copy(update={"judge": "f1"}))
    expected = hardness_agreement(list(found.scores["f1"].values())).means()
    assert found.metrics["concordance"] == expected["concordance"]
    assert found.metrics["a_f1"] == found.scores["f1"]["a"].mean()
    assert rows(found)["a", "long_answer"]["delta"] == pytest.approx(
        100
        * np.diff([found.scores["f1"]["a"][found.factors.codes["long_answer"] == side].mean() for side in (0, 1)])[0]
    )


def test_answers_to_nothing_are_refused():
    with pytest.raises(BadInput, match="no answers"):
        analyse({})


def test_the_smallest_effect_shrinks_with_the_set():
    small, large = english_set(40), english_set(160)
    models = [answers(each, lambda _, luck: luck < 0.6) for each in (small, large)]
    sizes = [
        rows(analyse({"m": given}, found))["m", "long_answer"]["smallest_delta"]
        for given, found in zip(models, (small, large), strict=True)
    ]
    assert sizes[1] == pytest.approx(sizes[0] / 2, rel=0.35)


def test_a_set_too_small_for_any_test_is_read_all_the_same():
    few = replace(SET, questions=SET.questions[:2])
    found = analyse({"m": {each.id: each.answers[0] for each in few.questions}}, few)
    assert found.metrics["m_em"] == 1
    assert [row["p"] for row in found.rows] == [None] * len(found.rows)
