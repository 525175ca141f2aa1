"""Stage complexity-score: every number of the table is the formula on eight questions."""

import csv
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kruskal

from stages.complexity.score import main
from tests.complexity.scored_world import answer, write_world
from trivium.complexity.systems import NO_SEED, System
from trivium.complexity.table1 import ScoreParameters, score_shuffled, spread_by_chance
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import read_table
from trivium.core.tracking import Tracker
from trivium.formats.answer_files import Predictions
from trivium.measures.french import exact_match, f1
from trivium.measures.rouge import rouge_l

GOLD = [
    "L’armée belge",
    "Ypres",
    "La flotte anglaise",
    "Brême",
    "Le général Férié",
    "sa forteresse",
    "Un évêque",
    "la cité",
]
SEEDS = {
    0: ["l'armée belge", "Ypres", "flotte", "", "Le général", "la forteresse", "Un évêque", "temps"],
    5: ["La flotte", "Ypres", "La flotte anglaise", "Brême", "général Férié", "rien", "évêque", "la cité"],
}


def write_answers(folder):
    """Questions, and answers of three models; returns the questions."""
    examples = write_world(folder)
    for seed, answers in SEEDS.items():
        answer(folder, f"predictions/camembert/seed-{seed}.jsonl", answers)
    answer(folder, "prompted/gpt.jsonl", [f"La réponse est : {text}." for text in GOLD])
    answer(folder, "brought/mine.jsonl", GOLD[:6])
    return examples


@pytest.fixture
def world(tmp_path):
    return write_answers(tmp_path)


def here(folder, workers=1):
    return Context(tracker=Tracker(), work=folder / "work", engine=LocalEngine(workers))


def run(folder, context=None, out=None, **changes):
    """The stage's metrics; here it writes into the folder that it reads."""
    keys = {
        "run": ("camembert",),
        "readers": {"camembert": "extractive", "t5": "seq2seq"},
        "seeds": (0, 5),
        "prompted": ("gpt", "mixtral"),
        "shuffles": 3,
        "confidence": 0.95,
        "resamples": 200,
        "seed": 1,
    }
    names = ("predictions", "prompted", "brought")
    return main(
        ScoreParameters(**keys | changes),
        context or here(folder),
        questions=folder / "questions.jsonl",
        texts=folder / "texts.jsonl",
        **{name: folder / name for name in names},
        out=(out or folder) / "scores.parquet",
        out_frames=(out or folder) / "frame_scores.csv",
        out_questions=(out or folder) / "evaluation.json",
    )


def test_table_1(tmp_path, world):
    metrics = run(tmp_path)
    means = {
        "rouge_l": [rouge_l(GOLD, answers).mean() for answers in SEEDS.values()],
        "rouge_l_paper": [rouge_l(GOLD, answers, setting="paper").mean() for answers in SEEDS.values()],
        "em": [np.mean([exact_match(*pair) for pair in zip(answers, GOLD, strict=True)]) for answers in SEEDS.values()],
        "f1": [np.mean([f1(*pair) for pair in zip(answers, GOLD, strict=True)]) for answers in SEEDS.values()],
    }
    for measure, values in means.items():
        assert metrics[f"camembert_{measure}"] == pytest.approx(np.mean(values))
        assert metrics[f"camembert_{measure}_sd"] == pytest.approx(abs(values[0] - values[1]) / np.sqrt(2))
        assert f"mine_{measure}_sd" not in metrics
    assert metrics["camembert_rouge_l"] != metrics["camembert_rouge_l_paper"]
    assert metrics["camembert_rouge_l_low"] < metrics["camembert_rouge_l"] < metrics["camembert_rouge_l_high"]
    assert metrics["camembert_empty"] == 1
    assert metrics["mine_rouge_l"] == metrics["mine_em"] == 6 / 8
    assert metrics["mine_missing"] == 2
    assert metrics["gpt_em"] == 0 < metrics["gpt_rouge_l"] < 1
    assert metrics["prompted_not_run"] == 1
    assert "mixtral_rouge_l" not in metrics
    assert (metrics["questions"], metrics["texts"], metrics["frames"]) == (8, 4, 2)
    # armée, Brême, général Férié, évêque, cité
    assert metrics["mangled_references"] == 5 / 8


def test_baselines_stand_in_the_table_and_models_are_compared_with_the_sentence(tmp_path, world):
    metrics = run(tmp_path)
    # Each question names the verb of its text's first sentence, hence that sentence is its best overlap.
    firsts = [each.text.text.split(" Le temps")[0] for each in world]
    expected = rouge_l([each.answer_text for each in world], firsts).mean()
    assert metrics["best_overlap_sentence_rouge_l"] == pytest.approx(expected)
    assert 0 <= metrics["random_span_rouge_l"] < 0.6
    assert metrics["mine_over_baseline"] == pytest.approx(6 / 8 - expected)
    assert metrics["mine_over_baseline_low"] < 6 / 8 - expected < metrics["mine_over_baseline_high"]
    assert "random_span_over_baseline" not in metrics
    assert "random_span_shuffled_rouge_l" not in metrics


def test_shuffled_score_is_that_of_another_question_with_the_same_element(tmp_path, world):
    metrics = run(tmp_path)
    # Each element is asked for twice (Assailant: q0 and q2, …): the shuffle can but swap the two.
    swapped = [2, 3, 0, 1, 6, 7, 4, 5]
    expected = np.mean([rouge_l(GOLD, [answers[place] for place in swapped]).mean() for answers in SEEDS.values()])
    assert metrics["camembert_shuffled_rouge_l"] == pytest.approx(expected)
    assert metrics["alone_with_their_element"] == 0


def test_shuffle_leaves_out_who_is_alone():
    answers = dict(zip("abc", ["un", "deux", "trois"], strict=True))
    system = System("m", "brought", {NO_SEED: Predictions(answers, 0, 0, 0)})
    keys = {"shuffles": 2, "seed": 0}
    # c is alone; a and b get each other's answer, which is right.
    assert score_shuffled(system, ["deux", "un", "trois"], list("xxy"), **keys) == 1.0
    assert score_shuffled(system, ["un", "deux", "trois"], list("xxy"), **keys) == 0.0
    assert score_shuffled(system, ["un", "deux", "trois"], list("xyz"), **keys) is None


def test_figure_2(tmp_path, world):
    metrics = run(tmp_path)
    with (tmp_path / "frame_scores.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["model"] == "camembert"]
    values = np.mean([rouge_l(GOLD, answers) for answers in SEEDS.values()], axis=0)
    means = {"Attack": values[:4].mean(), "Losing": values[4:].mean()}
    assert {line["frame"]: float(line["rouge_l"]) for line in lines} == pytest.approx(means)
    assert [line["frame"] for line in lines] == sorted(means, key=means.get)
    assert {line["questions"] for line in lines} == {"4"}
    assert metrics["camembert_frame_range"] == pytest.approx(abs(means["Attack"] - means["Losing"]))
    assert metrics["camembert_frame_sd"] == pytest.approx(np.std(list(means.values()), ddof=1))
    peer = kruskal(values[:4], values[4:])
    assert metrics["camembert_frame_h"] == pytest.approx(peer.statistic)
    assert metrics["camembert_frame_p"] == pytest.approx(peer.pvalue)


def test_spread_by_chance_when_texts_hold_one_frame():
    # Whole texts move: two of the four 1-texts and 0-texts share a frame in 1 of 3 splits, where frames differ by 1.
    values = np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=float)
    chance, p = spread_by_chance(values, list("FFFFGGGG"), list("aabbccdd"), permutations=3000, seed=0)
    assert chance == pytest.approx(np.sqrt(0.5) / 3, abs=0.02)
    assert p == pytest.approx(1 / 3, abs=0.03)


def test_spread_by_chance_within_a_text():
    # Texts of unequal size exchange nothing; the scores of each are put in another order.
    values, frames, texts = np.array([1.0, 0.0, 1.0, 0.5, 0.0]), list("FGFHG"), list("aabbb")
    _, p = spread_by_chance(values, frames, texts, permutations=3000, seed=0)
    drawn = [
        np.std([np.mean([a[0], b[0]]), np.mean([a[1], b[2]]), b[1]], ddof=1)
        for a in permutations([1.0, 0.0])
        for b in permutations([1.0, 0.5, 0.0])
    ]
    assert p == pytest.approx(np.mean(np.array(drawn) >= drawn[0] - 1e-9), abs=0.03)
    assert spread_by_chance(values, list("FFGGG"), texts, permutations=10, seed=0) is None


def test_every_answer_is_written_with_its_scores(tmp_path, world):
    run(tmp_path)
    table = read_table(tmp_path / "scores.parquet").to_pylist()
    assert list(table[0]) == ["id", "model", "kind", "seed", "prediction", "rouge_l", "rouge_l_paper", "em", "f1"]
    kinds = {(row["model"], row["kind"], row["seed"]) for row in table}
    assert kinds == {
        ("camembert", "extractive", 0),
        ("camembert", "extractive", 5),
        ("gpt", "prompted", -1),
        ("mine", "brought", -1),
        ("best_overlap_sentence", "baseline", -1),
        ("random_span", "baseline", -1),
    }
    assert len(table) == 6 * 8
    rows = [row for row in table if (row["model"], row["seed"]) == ("camembert", 5)]
    assert [row["prediction"] for row in rows] == SEEDS[5]
    assert [row["id"] for row in rows] == [each.id for each in world]
    np.testing.assert_allclose([row["rouge_l"] for row in rows], rouge_l(GOLD, SEEDS[5]))
