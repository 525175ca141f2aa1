import csv
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from stages.kvqae.read import main
from stages.kvqae.reader_finetune import ReaderFinetuneParameters
from stages.kvqae.reader_finetune import main as finetune
from tests.kvqae.reader.test_reader_training import FINETUNE, context
from tests.kvqae.tiny_reader import write_world
from trivium.formats.questions import read_questions
from trivium.formats.trec import write_run
from trivium.kvqae.knowledge_base.passage_texts import passages_of_articles, read_passage_texts
from trivium.kvqae.reader.answered_rows import measure_initial
from trivium.kvqae.reader.inputs import ReadParameters, Row, select_passages
from trivium.kvqae.reader.reading import load_reader, save_reader
from trivium.measures.answers import exact_match
from trivium.measures.runs import Run

ROW = {"model": "few_shot", "questions": "viquae", "run": "fused", "passages": 2, "weighted": False, "oracle": "none"}
TRIVIAQA = {**ROW, "model": "zero_shot", "questions": "triviaqa", "run": "bm25_triviaqa", "passages": 3}
PARAMETERS = {
    "rows": {
        "zero_shot_fused": {**ROW, "model": "zero_shot"},
        "zero_shot_max_fused": {**ROW, "model": "zero_shot_max"},
        "few_shot_max_fused": {**ROW, "model": "few_shot_max"},
        "few_shot_fused": {**ROW, "passages": "validation"},
        "few_shot_text_chosen": {**ROW, "run": "text", "passages": "validation"},
        "few_shot_fused_weighted": {**ROW, "weighted": True},
        "few_shot_text": {**ROW, "run": "text"},
        "few_shot_semi_oracle": {**ROW, "run": "text", "oracle": "semi"},
        "few_shot_full_oracle": {**ROW, "run": "text", "oracle": "full"},
        "mine": {**ROW, "run": "brought_mine", "passages": "validation"},
        "triviaqa": TRIVIAQA,
        "triviaqa_weighted": {**TRIVIAQA, "weighted": True},
    },
    "seeds": [0, 1],
    "asked_row": "few_shot_fused",
    "sweep_passages": [1, 2, 4],
    "sweep_questions": 6,
    "compared": [["few_shot_fused", "few_shot_text"]],
    "permutations": 5000,
    "max_tokens": 32,
    "answer_tokens": 8,
    "batch": 16,
    "seed": 0,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A world with a zero-shot reader that guesses and two few-shot readers that learned to read.

    In place of the readers of the max-pooled loss, pretrained and fine-tuned, stand copies of the one that guesses.
    """
    world = write_world(tmp_path_factory.mktemp("world"))
    torch.manual_seed(0)
    world.models = world.folder / "models"
    world.brought = world.folder / "brought"  # a copy of `text`
    shutil.copytree(world.runs / "text", world.brought / "brought_mine")
    model, tokenizer = load_reader(world.base, 32, new_heads=True)
    save_reader(world.models / "zero_shot", model, tokenizer, base=world.base, data="nothing", metrics={})
    shutil.copytree(world.models / "zero_shot", world.models / "zero_shot_max")
    for seed in (0, 1):
        shutil.copytree(world.models / "zero_shot", world.models / "few_shot_max" / f"seed-{seed}")
        finetune(
            ReaderFinetuneParameters(**{**FINETUNE, "steps": 60, "validate_every": 100, "checkpoint_every": 100}),
            context(world.folder / f"work-{seed}"),
            base=world.models / "zero_shot",
            questions=world.viquae,
            runs=world.runs / "fused",
            kb=world.kb,
            reader="few_shot",
            seed=seed,
            out=world.models / "few_shot" / f"seed-{seed}",
        )
    return world


def arguments(world, out):
    return {
        "kb": world.kb,
        "viquae": world.viquae,
        "triviaqa": world.triviaqa,
        "readers": world.models,
        "runs": [world.runs / name / "test.trec" for name in ("fused", "text", "bm25_triviaqa")],
        "validation_runs": [world.runs / name / "validation.trec" for name in ("fused", "text")],
        "brought": world.brought,
        "out": out / "answers",
        "out_curve": out / "curve.csv",
        "out_per_query": out / "per_query.parquet",
    }


@pytest.fixture(scope="module")
def done(world, tmp_path_factory):
    out = tmp_path_factory.mktemp("read")
    return main(ReadParameters(**PARAMETERS), context(out / "work"), **arguments(world, out)), out


def test_rows_differ_as_they_must(done):
    metrics, _ = done
    assert metrics["few_shot_fused_em"] == 1.0  # passage 2n is there, and is read well
    assert metrics["few_shot_text_em"] == 0.0  # no passage of this run holds an answer
    assert metrics["few_shot_semi_oracle_em"] == 0.0
    assert metrics["few_shot_semi_oracle_questions_without_passage"] == 12
    assert metrics["few_shot_full_oracle_em"] == 1.0  # from the entity's own article
    assert metrics["few_shot_full_oracle_questions_without_passage"] == 0
    assert metrics["zero_shot_fused_em"] < 1.0
    assert metrics["few_shot_max_fused_em"] == metrics["zero_shot_max_fused_em"] == metrics["zero_shot_fused_em"]
    assert "zero_shot_max_fused_em_sd" not in metrics
    assert "zero_shot_fused_em_sd" not in metrics
    assert metrics["few_shot_fused_em_sd"] == 0.0
    # Twelve questions out of twelve differ in the same direction: exact p = 2 / 2^12, here exact as 2^12 ≤ 5000.
    assert metrics["few_shot_fused_over_few_shot_text_em_p"] == 2 / 2**12


def test_lists_are_measured_to_their_end_by_hand(world):
    questions = read_questions(world.triviaqa / "test.jsonl")[:4]
    # Relevant at ranks 1 and 4, at none, and no list at all: (1 + 1/4 + 0 + 0) / 4, and one of four at rank 1.
    lists = {"t0": {0: 4.0, 1: 3.0}, "t1": {5: 4.0, 7: 3.0, 9: 2.0, 2: 1.0}, "t2": {1: 1.0}, "t3": {}}
    run = Run.from_dict(lists)
    texts = read_passage_texts(world.kb, run.documents)
    expected = {"x_initial_mrr": 1.25 / 4, "x_initial_precision@1": 1 / 4}
    assert measure_initial(run, questions, texts, prefix="x") == expected


def test_number_of_passages_comes_from_validation(done):
    metrics, out = done
    curve = list(csv.DictReader((out / "curve.csv").open()))
    rows = ["few_shot_fused"] * 3 + ["few_shot_text_chosen"] * 3 + ["mine"] * 3
    assert [(point["row"], int(point["passages"])) for point in curve] == list(zip(rows, [1, 2, 4] * 3, strict=True))
    assert float(curve[0]["em"]) == metrics["few_shot_fused_validation_em@1"] == 1.0
    assert metrics["few_shot_fused_passages"] == 1  # all equal: the fewest
    assert metrics["few_shot_text_chosen_validation_em@4"] == 0.0


def test_each_row_is_swept_on_the_list_of_its_own_run(world, tmp_path):
    """On validation the run `text` has the answer in third place: one row reads one passage, the other four."""
    lists = {f"v{n}": {2 * n + 1: 3.0, (2 * n + 3) % 24: 2.0, 2 * n: 1.0} for n in range(12)}
    write_run(tmp_path / "text" / "validation.trec", Run.from_dict(lists, name="text"))
    given = arguments(world, tmp_path)
    given["validation_runs"][1] = tmp_path / "text" / "validation.trec"
    metrics = main(ReadParameters(**PARAMETERS), context(tmp_path / "work"), **given)
    assert (metrics["few_shot_fused_passages"], metrics["few_shot_text_chosen_passages"]) == (1, 4)
    answers = pq.read_table(tmp_path / "answers" / "few_shot_text_chosen.parquet")
    assert {len(read) for read in answers["passages"].to_pylist()} == {3}  # all that the test list has


def test_answers_and_per_query_values_agree_with_the_metrics(done, world):
    metrics, out = done
    questions = {question.id: question for question in read_questions(world.viquae / "test.jsonl")}
    texts = read_passage_texts(world.kb, np.arange(24))
    rows = pq.read_table(out / "answers" / "few_shot_fused.parquet").to_pylist()
    assert [(row["id"], row["seed"]) for row in rows] == [(f"v{n}", seed) for seed in (0, 1) for n in range(12)]
    for row in rows:
        assert row["prediction"] == " [SEP] ".join(texts[row["passage"]])[row["start"] : row["end"]]
        assert row["em"] == exact_match(row["prediction"], questions[row["id"]].answers)
        assert 0 < row["score"] <= 1
        spans = dict(zip(row["passages"], zip(row["starts"], row["ends"], strict=True), strict=True))
        assert spans[row["passage"]] == (row["start"], row["end"])  # the answer is the best of these
    per_query = pq.read_table(out / "per_query.parquet").to_pylist()
    for name in PARAMETERS["rows"]:
        values = [row for row in per_query if row["row"] == name]
        assert len(values) == (12 if PARAMETERS["rows"][name]["model"].startswith("zero_shot") else 24)
        assert np.mean([row["f1"] for row in values]) == pytest.approx(metrics[f"{name}_f1"])
    assert {row["seed"] for row in per_query if row["row"] == "triviaqa"} == {None}
    empty = pq.read_table(out / "answers" / "few_shot_semi_oracle.parquet").to_pylist()
    assert {(row["prediction"], row["score"], row["passage"]) for row in empty} == {("", 0.0, -1)}
    assert all(row["passages"] == row["starts"] == row["ends"] == [] for row in empty)


def test_oracles_select_what_the_paper_says(world):
    questions = read_questions(world.viquae / "test.jsonl")[:3]
    run = Run.from_dict({"v0": {1: 3.0, 0: 2.0, 3: 1.0}, "v1": {1: 3.0, 5: 2.0, 2: 1.0}, "v2": {7: 1.0}})
    texts = read_passage_texts(world.kb, np.arange(24))
    own = passages_of_articles(world.kb, {"Q0", "Q1", "nobody"})
    assert {name: ids.tolist() for name, ids in own.items()} == {"Q0": [0, 1], "Q1": [2, 3]}

    def chosen(oracle, passages):
        row = Row(**{**ROW, "oracle": oracle})
        return [each.passages.tolist() for each in select_passages(row.oracle, questions, run, texts, own, passages)]

    assert chosen("none", 2) == [[1, 0], [1, 5], [7]]
    assert chosen("semi", 2) == [[0], [], []]
    assert chosen("semi", 3) == [[0], [2], []]
    assert chosen("full", 2) == [[0], [2], []]  # v1 from its own article; v2's article is unknown
