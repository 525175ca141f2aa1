from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

import trivium.kvqae.rerankers.cross_encoder as module
from tests.kvqae.tiny_reader import write_world
from tests.kvqae.tiny_training import CROSS_ENCODER, context, cross_encoder_training, inputs
from tests.kvqae.tiny_training import pretrain_cross_encoder as pretrain
from trivium.core.errors import BadInput
from trivium.formats.questions import read_questions
from trivium.formats.trec import write_run
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.reader.inputs import judge_listed, read_best, split_by_relevance
from trivium.kvqae.reader.reading import tokenize_sampled
from trivium.kvqae.rerankers.cross_encoder import CrossEncoderTrainingParameters, load_cross_encoder, loss_of
from trivium.measures.ranking import mean_reciprocal_rank
from trivium.measures.runs import Run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


def train(world, folder, **changes):
    return cross_encoder_training(world).train(folder, **changes)


def write_runs(folder: Path, lists) -> Path:
    for split in ("train", "validation"):
        write_run(folder / f"{split}.trec", Run.from_dict(lists, name="made"))
    return folder


def test_training_learns_to_rank(world, tmp_path):
    """Passages that say where somebody was born, last in the initial lists."""
    lists = {f"t{n}": {2 * n + 1: 3.0, (2 * n + 3) % 24: 2.0, 2 * n: 1.0} for n in range(12)}
    ran = context(tmp_path / "work")
    parameters = CrossEncoderTrainingParameters(**CROSS_ENCODER | {"steps": 40, "validate_every": 20, "passages": 3})
    changed = inputs(world) | {"runs": write_runs(tmp_path / "runs", lists)}
    metrics = pretrain(parameters, ran, **changed, out=tmp_path / "model")
    losses = [loss for _, loss in ran.tracker.points["loss"]]
    assert losses[0] == pytest.approx(np.log(3), abs=0.1)  # knows nothing
    assert np.mean(losses[-5:]) < 0.2
    assert [step for step, _ in ran.tracker.points["validation_mrr"]] == [20, 40]
    assert metrics["validation_mrr"] == 1.0
    assert metrics["initial_validation_mrr"] == pytest.approx(1 / 3)
    assert metrics["questions"] == 12
    rates = [rate for _, rate in ran.tracker.points["learning_rate"]]
    assert rates[4] == max(rates) == pytest.approx(3e-3)  # 10 % of warm-up, then down
    assert all(later < earlier for earlier, later in pairwise(rates[4:]))


def test_loss_of_a_batch_is_the_sum_of_its_questions(world):
    questions = read_questions(world.viquae / "train.jsonl")
    run = read_best(world.runs / "fused" / "train.trec", questions, 100)
    texts = read_passage_texts(world.kb, run.documents)
    examples, _ = split_by_relevance(questions, run, texts)
    torch.manual_seed(0)
    model, tokenizer = load_cross_encoder(world.base, 32, new_perceptron=True)
    model.eval().cpu()  # in full precision
    sampled = [(each, np.concatenate([each.relevant, each.irrelevant])) for each in examples[:3]]

    def loss(sampled):
        return loss_of(model, tokenize_sampled(tokenizer, sampled, texts, 32), sampled).item()

    together = loss(sampled)
    assert together == pytest.approx(sum(loss([each]) for each in sampled))
    others = [(each, np.concatenate([ids[:1], ids[:0:-1]])) for each, ids in sampled[::-1]]
    assert together == pytest.approx(loss(others), rel=1e-5)


def test_every_step_sees_one_relevant_passage_and_others_of_the_best(world, tmp_path, monkeypatch):
    seen = []

    def spy(model, pairs, sampled):
        seen.extend((example, ids.tolist()) for example, ids in sampled)
        return loss_of(model, pairs, sampled)

    monkeypatch.setattr(module, "loss_of", spy)
    train(world, tmp_path, passages=3)
    assert len(seen) == 24
    for example, ids in seen:
        number = int(example.question.id[1:])
        assert ids[0] == 2 * number
        assert len(set(ids)) == 3
        assert set(ids[1:]) < {2 * number + 1, (2 * number + 3) % 24, (2 * number + 5) % 24}
    drawn = {example.question.id: set() for example, _ in seen}
    for example, ids in seen:
        drawn[example.question.id].add(frozenset(ids))
    assert max(map(len, drawn.values())) == 2  # drawn anew each time


def test_questions_that_cannot_fill_a_step_are_dropped_and_counted(world, tmp_path):
    lists = {f"t{n}": {2 * n: 3.0, (2 * n + 3) % 24: 2.0, (2 * n + 5) % 24: 1.0} for n in range(12)}
    lists["t0"] = {1: 1.0}  # nothing relevant
    lists["t1"] = {2: 2.0, 3: 1.0}  # one other passage, two are needed
    del lists["t2"]  # nothing retrieved
    changed = inputs(world) | {"runs": write_runs(tmp_path / "runs", lists)}
    parameters = CrossEncoderTrainingParameters(**CROSS_ENCODER | {"passages": 3, "steps": 1})
    metrics = pretrain(parameters, context(tmp_path / "w"), **changed, out=tmp_path / "m")
    assert (metrics["questions"], metrics["questions_without_relevant"]) == (12, 2)
    assert metrics["questions_with_few_irrelevant"] == 1
    assert metrics["answers_normalised_to_nothing"] == 12
    whole = CrossEncoderTrainingParameters(**CROSS_ENCODER | {"passages": 5})
    with pytest.raises(
        BadInput, match="no question to train on; got '10 with a relevant passage.*expected .* 4 others"
    ):
        pretrain(whole, context(tmp_path / "w"), **changed, out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_validation_counts_questions_without_relevant_passage(world):
    questions = read_questions(world.viquae / "validation.jsonl")[:3]
    lists = {"v0": {0: 2.0, 3: 1.0}, "v1": {7: 2.0, 2: 1.0}, "v2": {1: 1.0}, "v3": {6: 1.0}}
    run = Run.from_dict(lists)
    run = run.select(question.id for question in questions)
    qrels = judge_listed(questions, run, read_passage_texts(world.kb, run.documents))
    assert [ids.tolist() for ids in qrels.relevant] == [[0], [2], []]
    assert mean_reciprocal_rank(run, qrels) == pytest.approx((1 + 1 / 2 + 0) / 3)
