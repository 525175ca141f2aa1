from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import stages.kvqae.rerankers.cross_encoder_training as module
from stages.kvqae.questions import read_questions
from stages.kvqae.reader.data import retrieved, split_by_relevance, texts_of
from stages.kvqae.rerank_finetune import RerankFinetuneParameters
from stages.kvqae.rerank_finetune import main as finetune
from stages.kvqae.rerank_pretrain import RerankPretrainParameters
from stages.kvqae.rerank_pretrain import main as pretrain
from stages.kvqae.rerankers.cross_encoder import load_cross_encoder
from stages.kvqae.rerankers.cross_encoder_training import loss_of
from stages.kvqae.rerankers.cross_encoder_validation import Validation
from stages.measures.runs import Run
from stages.stage import BadInput, Context
from stages.tables import write_run
from stages.tracking import Tracker
from tests.kvqae.tiny_reader import write_bert, write_world

VALUES = {
    "seed": 1,
    "max_tokens": 32,
    "depth": 100,
    "passages": 4,
    "dropout": 0.1,
    "frozen_embeddings": False,
    "questions": 4,
    "steps": 6,
    "learning_rate": 3e-3,
    "weight_decay": 0.01,
    "schedule": "linear",
    "warmup": 0.1,
    "clip": 1.0,
    "validate_every": 3,
    "validation_questions": 5,
    "validation_passages": 3,
    "batch": 16,
    "checkpoint_every": 2,
}


class Interrupted(Exception):
    pass


class Curves(Tracker):
    """Keeps the curves; may stop the training in the middle of a step, after its loss and before the optimiser."""

    def __init__(self, stop=None):
        self.points, self.stop = {}, stop

    def log(self, step, **values):
        if step == self.stop:
            raise Interrupted
        for name, value in values.items():
            self.points.setdefault(name, []).append((step, value))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


def context(folder: Path, stop: int | None = None) -> Context:
    folder.mkdir(parents=True, exist_ok=True)
    return Context(tracker=Curves(stop), work=folder, engine=None)


def inputs(world):
    return {
        "base": world.base,
        "questions": world.triviaqa,
        "runs": world.runs / "bm25_triviaqa",
        "passages": world.passages,
        "articles": world.articles,
    }


def train(world, folder, **changes):
    torch.manual_seed(99)  # must not matter
    parameters = RerankPretrainParameters(**{**VALUES, **changes})
    metrics = pretrain(parameters, context(folder / "work"), **inputs(world), out=folder / "model")
    return metrics, load_file(folder / "model" / "model.safetensors")


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def write_runs(folder: Path, lists) -> Path:
    for split in ("train", "validation"):
        write_run(folder / f"{split}.trec", Run.from_dict(lists, name="made"))
    return folder


def test_training_learns_to_rank(world, tmp_path):
    """Passages that say where somebody was born, last in the initial lists."""
    lists = {f"t{n}": {2 * n + 1: 3.0, (2 * n + 3) % 24: 2.0, 2 * n: 1.0} for n in range(12)}
    ran = context(tmp_path / "work")
    parameters = RerankPretrainParameters(**VALUES | {"steps": 40, "validate_every": 20, "passages": 3})
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


def test_same_seed_same_weights_and_another_seed_others(world, tmp_path):
    _, first = train(world, tmp_path / "a")
    _, again = train(world, tmp_path / "b")
    _, other = train(world, tmp_path / "c", seed=2)
    assert same(first, again)
    assert not same(first, other)


def test_frozen_embeddings_do_not_move(world, tmp_path):
    base = load_file(world.base / "model.safetensors")
    _, frozen = train(world, tmp_path / "a", frozen_embeddings=True)
    _, free = train(world, tmp_path / "b")
    name, layer = "embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight"
    assert torch.equal(base[name], frozen[f"bert.{name}"])
    assert not torch.equal(base[name], free[f"bert.{name}"])
    assert not torch.equal(base[layer], frozen[f"bert.{layer}"])


def test_weight_decay_alone_moves_words_that_no_text_has(world, tmp_path):
    base, name = load_file(world.base / "model.safetensors"), "embeddings.word_embeddings.weight"
    _, decayed = train(world, tmp_path / "a")
    _, kept = train(world, tmp_path / "b", weight_decay=0)
    rows = (base[name] == kept[f"bert.{name}"]).all(dim=1)
    rows[0] = False  # the padding's is zero
    assert rows.any()
    assert (base[name][rows].abs().sum(dim=1) > decayed[f"bert.{name}"][rows].abs().sum(dim=1)).all()


@pytest.mark.parametrize(("schedule", "kept"), [("linear", 2), ("constant", 1)])
def test_the_schedule_says_which_weights_are_kept(world, tmp_path, monkeypatch, schedule, kept):
    seen, left = [], iter([0.1, 0.5, 0.5])  # the first at equality

    def mrr(self, model, *rest, **named):
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
        return next(left)

    monkeypatch.setattr(Validation, "mrr", mrr)
    metrics, weights = train(world, tmp_path, schedule=schedule, validate_every=2)
    assert metrics["validation_mrr"] == 0.5
    assert [same(weights, {name: each[name] for name in weights}) for each in seen] == [
        place == kept for place in range(3)
    ]


def test_interrupted_training_goes_on_to_the_same_weights(world, tmp_path):
    whole_metrics, whole = train(world, tmp_path / "whole")
    parameters, out = RerankPretrainParameters(**VALUES), tmp_path / "again" / "model"
    with pytest.raises(Interrupted):
        pretrain(parameters, context(tmp_path / "work", stop=4), **inputs(world), out=out)
    assert not out.exists()
    again = context(tmp_path / "work")
    metrics = pretrain(parameters, again, **inputs(world), out=out)
    assert [step for step, _ in again.tracker.points["loss"]] == [3, 4, 5, 6]  # the checkpoint is of step 2
    assert same(whole, load_file(out / "model.safetensors"))
    assert metrics == whole_metrics


def test_checkpoint_of_another_model(world, tmp_path):
    parameters = RerankPretrainParameters(**VALUES)
    with pytest.raises(Interrupted):
        pretrain(parameters, context(tmp_path / "work", stop=4), **inputs(world), out=tmp_path / "model")
    changed = inputs(world) | {"base": write_bert(tmp_path / "wider", hidden=48)}
    with pytest.raises(BadInput, match="checkpoint: checkpoint does not fit: [^;]*size mismatch"):
        pretrain(parameters, context(tmp_path / "work"), **changed, out=tmp_path / "model")


def test_fine_tuning_starts_from_the_pretrained_cross_encoder(world, tmp_path):
    _, pretrained = train(world, tmp_path / "pretrained")
    shared = inputs(world) | {"questions": world.viquae, "runs": world.runs / "fused"}
    shared["base"] = tmp_path / "pretrained" / "model"
    slow = RerankFinetuneParameters(**VALUES | {"learning_rate": 1e-12})
    finetune(slow, context(tmp_path / "w"), **shared, out=tmp_path / "few_shot")
    tuned = load_file(tmp_path / "few_shot" / "model.safetensors")
    assert all(torch.allclose(tuned[name], pretrained[name], atol=1e-8) for name in pretrained)
    assert "trained on: ViQuAE" in (tmp_path / "few_shot" / "README.md").read_text()
    with pytest.raises(BadInput, match="weights are missing"):
        finetune(slow, context(tmp_path / "w"), **shared | {"base": world.base}, out=tmp_path / "none")


def test_loss_of_a_batch_is_the_sum_of_its_questions(world):
    questions = read_questions(world.viquae / "train.jsonl")
    run = retrieved(world.runs / "fused" / "train.trec", questions, 100)
    texts = texts_of(world.passages, world.articles, run.documents)
    examples, _ = split_by_relevance(questions, run, texts)
    torch.manual_seed(0)
    model, tokenizer = load_cross_encoder(world.base, new_perceptron=True)
    model.eval()
    sampled = [(each, np.concatenate([each.relevant, each.irrelevant])) for each in examples[:3]]
    together = loss_of(model, tokenizer, sampled, texts, 32).item()
    assert together == pytest.approx(sum(loss_of(model, tokenizer, [each], texts, 32).item() for each in sampled))
    others = [(each, np.concatenate([ids[:1], ids[:0:-1]])) for each, ids in sampled[::-1]]
    assert together == pytest.approx(loss_of(model, tokenizer, others, texts, 32).item(), rel=1e-5)


def test_every_step_sees_one_relevant_passage_and_others_of_the_best(world, tmp_path, monkeypatch):
    seen = []

    def spy(model, tokenizer, sampled, *rest):
        seen.extend((example, ids.tolist()) for example, ids in sampled)
        return loss_of(model, tokenizer, sampled, *rest)

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


def test_out_of_memory_halves_the_questions_scored_together(world, tmp_path, monkeypatch):
    sizes = []

    def scarce(model, tokenizer, sampled, *rest):
        sizes.append(len(sampled))
        if len(sampled) > 1:
            raise torch.OutOfMemoryError
        return loss_of(model, tokenizer, sampled, *rest)

    monkeypatch.setattr(module, "loss_of", scarce)
    metrics, _ = train(world, tmp_path, steps=1)
    assert sizes == [4, 2, 1, 1, 1, 1]
    assert np.isfinite(metrics["loss"])


def test_questions_that_cannot_fill_a_step_are_dropped_and_counted(world, tmp_path):
    lists = {f"t{n}": {2 * n: 3.0, (2 * n + 3) % 24: 2.0, (2 * n + 5) % 24: 1.0} for n in range(12)}
    lists["t0"] = {1: 1.0}  # nothing relevant
    lists["t1"] = {2: 2.0, 3: 1.0}  # one other passage, two are needed
    del lists["t2"]  # nothing retrieved
    changed = inputs(world) | {"runs": write_runs(tmp_path / "runs", lists)}
    parameters = RerankPretrainParameters(**VALUES | {"passages": 3, "steps": 1})
    metrics = pretrain(parameters, context(tmp_path / "w"), **changed, out=tmp_path / "m")
    assert (metrics["questions"], metrics["questions_without_relevant"]) == (12, 2)
    assert metrics["questions_with_few_irrelevant"] == 1
    assert metrics["answers_normalised_to_nothing"] == 12
    whole = RerankPretrainParameters(**VALUES | {"passages": 5})
    with pytest.raises(
        BadInput, match="no question to train on; got '10 with a relevant passage.*expected .* 4 others"
    ):
        pretrain(whole, context(tmp_path / "w"), **changed, out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_validation_counts_questions_without_relevant_passage(world):
    questions = read_questions(world.viquae / "validation.jsonl")[:3]
    lists = {"v0": {0: 2.0, 3: 1.0}, "v1": {7: 2.0, 2: 1.0}, "v2": {1: 1.0}, "v3": {6: 1.0}}
    run = Run.from_dict(lists)
    validation = Validation.judge(questions, run, texts_of(world.passages, world.articles, run.documents))
    assert [ids.tolist() for ids in validation.qrels.relevant] == [[0], [2], []]
    assert validation.initial_mrr() == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_bad_numbers(world, tmp_path):
    with pytest.raises(BadInput, match="step .: the loss is not finite"):
        train(world, tmp_path, learning_rate=1e30)
    with pytest.raises(BadInput, match="more tokens than the cross-encoder has positions; got 65"):
        train(world, tmp_path, max_tokens=65)
    assert not (tmp_path / "model").exists()
