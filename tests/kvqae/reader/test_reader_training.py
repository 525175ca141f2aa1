from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from stages.kvqae.reader_finetune import ReaderFinetuneParameters
from stages.kvqae.reader_finetune import main as finetune
from stages.kvqae.reader_pretrain import main as pretrain_any
from tests.kvqae.tiny_reader import write_world
from tests.kvqae.tiny_training import READER, context, reader_training, same
from trivium.formats.questions import Question, read_questions
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.reader import reader_training as reader_training_module
from trivium.kvqae.reader.inputs import read_best, split_by_relevance
from trivium.kvqae.reader.reader_training import ReaderPretrainParameters, loss_of, validation_score
from trivium.kvqae.reader.reading import Reading, load_reader, tokenize_sampled
from trivium.measures.runs import Run

PRETRAIN = {**READER, "seed": 0, "losses": {"zero_shot": "mean", "zero_shot_max": "max"}}
FINETUNE = {**READER, "losses": {"few_shot": "mean", "few_shot_max": "max"}, "max_start": "zero_shot_max"}
pretrain = partial(pretrain_any, reader="zero_shot")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


def inputs(world):
    return reader_training(world).inputs


def train(world, folder, **changes):
    return reader_training(world).train(folder, **changes)


def test_training_learns_to_read(world, tmp_path):
    """Born-in sentences about the man named in the question, on its own training questions."""
    ran = context(tmp_path / "work")
    parameters = ReaderPretrainParameters(**{**PRETRAIN, "steps": 60, "validate_every": 30})
    metrics = pretrain(parameters, ran, **inputs(world), out=tmp_path / "model")
    losses = [loss for _, loss in ran.tracker.points["loss"]]
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    assert [step for step, _ in ran.tracker.points["validation_em"]] == [30, 60]
    assert metrics["validation_em"] == 1.0
    assert metrics["questions"] == 12
    rates = [rate for _, rate in ran.tracker.points["learning_rate"]]
    assert rates[6] == max(rates) == pytest.approx(3e-3)  # 10 % of warm-up, then down
    assert all(later < earlier for earlier, later in pairwise(rates[6:]))


@pytest.mark.parametrize(("selection", "score"), [("em", 1 / 3), ("f1", (1 + 2 / 3 + 0) / 3)])
def test_validation_is_the_mean_of_the_chosen_measure(monkeypatch, selection, score):
    """Three answers by hand: right; one word of two, F1 = 2 · 1 / (2 + 1); wrong."""
    questions = [Question(f"q{number}", f"Where {number} ?", ("Paris",), "Paris") for number in range(3)]
    run = Run.from_dict({question.id: {number: 1.0} for number, question in enumerate(questions)})
    given = {
        (question.text, number): Reading(words, 0, 1, 0.0, 0.0, 0.0)
        for number, (question, words) in enumerate(zip(questions, ["Paris", "Paris France", "Rome"], strict=True))
    }
    monkeypatch.setattr(reader_training_module, "read_pairs", lambda *_, **__: given)
    parameters = ReaderPretrainParameters(**PRETRAIN | {"selection": selection})
    assert validation_score(None, None, questions, run, None, parameters) == pytest.approx(score)


def test_each_reader_is_fine_tuned_with_its_own_loss(world, tmp_path):
    """One step on the same draws: the worst passage's loss is never below the mean of all."""
    shared = inputs(world) | {"questions": world.viquae, "runs": world.runs / "fused"}
    train(world, tmp_path / "pretrained")
    shared["base"] = shared["max_base"] = tmp_path / "pretrained" / "model"
    del shared["published"]
    parameters = ReaderFinetuneParameters(**{**FINETUNE, "steps": 1})
    losses, weights = {}, {}
    for reader in ("few_shot", "few_shot_max"):
        out = tmp_path / reader
        ran = context(tmp_path / f"work-{reader}")
        losses[reader] = finetune(parameters, ran, **shared, reader=reader, seed=0, out=out)["loss"]
        weights[reader] = load_file(out / "model.safetensors")
    assert losses["few_shot_max"] > losses["few_shot"]
    assert not same(weights["few_shot"], weights["few_shot_max"])


def test_loss_of_a_batch_is_the_sum_of_its_questions(world):
    questions = read_questions(world.viquae / "train.jsonl")
    run = read_best(world.runs / "fused" / "train.trec", questions, 100)
    texts = read_passage_texts(world.kb, run.documents)
    examples, _ = split_by_relevance(questions, run, texts)
    torch.manual_seed(0)
    model, tokenizer = load_reader(world.base, 32, new_heads=True)
    model.eval().cpu()  # in full precision
    parameters = ReaderPretrainParameters(**PRETRAIN)
    sampled = [
        (each, np.concatenate([each.relevant, each.irrelevant[:rest]]))
        for each, rest in zip(examples[:3], [1, 3, 2], strict=True)
    ]

    def loss(sampled):
        pairs = tokenize_sampled(tokenizer, sampled, texts, 32)
        return loss_of(model, pairs, sampled, texts, parameters, "mean")[0].item()

    together = loss(sampled)
    assert together == pytest.approx(sum(loss([each]) for each in sampled), rel=1e-5)
    assert together == pytest.approx(loss([(each, ids[::-1]) for each, ids in sampled[::-1]]), rel=1e-5)


def test_a_published_reader_is_measured_and_not_trained(world, tmp_path):
    _, weights = train(world, tmp_path / "theirs")
    published = tmp_path / "published"
    published.mkdir()
    (tmp_path / "theirs" / "model").rename(published / "reader")
    parameters = ReaderPretrainParameters(**PRETRAIN)
    changed = inputs(world) | {"published": published}
    metrics = pretrain(parameters, context(tmp_path / "w"), **changed, out=tmp_path / "m")
    assert metrics.keys() == {"validation_em"}
    assert same(weights, load_file(tmp_path / "m" / "model.safetensors"))
    assert str(published / "reader") in (tmp_path / "m" / "README.md").read_text()
