from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

from stages.kvqae import dpr_finetune, dpr_pretrain
from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.core.stage import execute
from trivium.core.tables import read_json, write_json_lines, write_table
from trivium.formats.trec import write_run
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.retrieval import dpr_training
from trivium.kvqae.retrieval.dpr_training import DprParameters, PairTokens, batch_features, validation_mrr
from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.kvqae.retrieval.training_pairs import Pairs
from trivium.measures.runs import Run
from trivium.nets.bert import DualEncoder
from trivium.nets.cards import licence_of

PARAMETERS = {
    "depth": 3,
    "seed": 0,
    "max_tokens": 16,
    "batch_size": 8,
    "mini_batch_size": 3,
    "epochs": 2,
    "max_steps": None,
    "learning_rate": 3e-3,
    "warmup_steps": 2,
    "max_gradient_norm": 2.0,
    "validate_every": 3,
    "validation_negatives": 1,
    "patience": None,
}


def write_world(folder: Path, *, questions: int = 40) -> dict[str, Path]:
    """Question `who is w3 ?` is answered by the passage of article w3 that says so, not by its other one."""
    articles = pa.table({"title": [f"w{row}" for row in range(questions)], "wikidata_id": [""] * questions})
    write_table(folder / "wiki/articles.parquet", articles)
    texts = [f"who is the answer{row // 2} ?" if row % 2 else "where w59" for row in range(2 * questions)]
    passages = pa.table({"article": [row // 2 for row in range(2 * questions)], "text": texts})
    write_table(folder / "wiki/passages.parquet", passages)
    for split, rows in (("train", range(questions - 8)), ("validation", range(questions - 8, questions))):
        write_json_lines(
            folder / "questions" / f"{split}.jsonl",
            [
                {
                    "id": f"{row}",
                    "input": f"who is w{row} ?",
                    "output": {"original_answer": f"answer{row}", "answer": [f"answer{row}"]},
                }
                for row in rows
            ],
        )
        found = {f"{row}": [2 * row + 1, 2 * row, 2 * ((row + 1) % questions) + 1] for row in rows}
        lists = {query: {passage: 3.0 - place for place, passage in enumerate(ids)} for query, ids in found.items()}
        write_run(folder / "runs" / f"{split}.trec", Run.from_dict(lists))
    write_tiny_bert(folder / "bert")
    (folder / "published").mkdir()  # and nothing in it
    return {"questions": folder / "questions", "runs": folder / "runs", "kb": folder / "wiki"}


def outputs(folder: Path) -> dict[str, Path]:
    return {
        "out_train": folder / "train.parquet",
        "out_validation": folder / "validation.parquet",
        "out_pairs_counts": folder / "pairs.json",
    }


def run(module, folder: Path, *, out: str, start: str, **changed) -> dict[str, float]:
    section = module.__name__.split(".")[-1]
    begins = {} if module is dpr_pretrain else {"start": str(folder / start)}
    (folder / "params.yaml").write_text(yaml.safe_dump({"kvqae": {section: PARAMETERS | changed | begins}}))
    options = {
        "params": folder / "params.yaml",
        "questions": folder / "questions",
        "runs": folder / "runs",
        "kb": folder / "wiki",
    }
    options |= {"out": folder / out, **outputs(folder)}
    if module is dpr_pretrain:
        options |= {"base": folder / start, "published": folder / "published"}
    argv = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    model = DprParameters if module is dpr_pretrain else dpr_finetune.DprFinetuneParameters
    return execute(module.main, f"kvqae.{section}", model, argv)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return {
        f"{tower}.{name}": value
        for tower in ("question", "passage")
        for name, value in load_file(folder / tower / "model.safetensors").items()
    }


def mrr_by_transformers(folder: Path, questions: int = 40) -> float:
    """Validation MRR of exported towers, each text alone: by transformers' own classes, [CLS], and a sort."""

    def vectors(tower: str, texts: list[tuple[str, ...]]) -> torch.Tensor:
        tokenizer = AutoTokenizer.from_pretrained(folder / tower)
        model = AutoModel.from_pretrained(folder / tower, add_pooling_layer=False).eval()
        with torch.no_grad():
            read = (tokenizer(*text, truncation=True, max_length=16, return_tensors="pt") for text in texts)
            return torch.stack([model(**each).last_hidden_state[0, 0] for each in read])

    rows = range(questions - 8, questions)
    asked = vectors("question", [(f"who is w{row} ?",) for row in rows])
    right = vectors("passage", [(f"w{row}", f"who is the answer{row} ?") for row in rows])
    wrong = vectors("passage", [(f"w{row}", "where w59") for row in rows])
    scores = (asked @ torch.cat([right, wrong]).T).tolist()
    ranks = [1 + sorted(row, reverse=True).index(row[place]) for place, row in enumerate(scores)]
    return sum(1 / rank for rank in ranks) / len(ranks)


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path)
    return tmp_path


def test_pretrain_then_finetune(world):
    metrics = run(dpr_pretrain, world, out="zero_shot", start="bert", epochs=5)
    assert metrics["steps"] == 5 * 32 / 8
    assert metrics["train_questions"] == read_json(world / "pairs.json")["train_questions"] == 32
    assert metrics["validation_questions"] == metrics["questions_a_batch"] == 8
    # 16 passages in the pool: at random the expected reciprocal rank is H(16)/16 = 0.21. Validation asks about words
    # that training never saw; what can be learned is which of an article's two passages answers: H(8)/8 = 0.34.
    assert metrics["validation_mrr"] > 0.3
    mrr = mrr_by_transformers(world / "zero_shot")
    assert metrics["validation_mrr"] == pytest.approx(mrr)
    towers = weights(world / "zero_shot")
    name = "encoder.layer.0.output.dense.weight"
    assert not torch.equal(towers[f"question.{name}"], towers[f"passage.{name}"])
    assert "validation_mrr" in (world / "zero_shot/question/README.md").read_text()
    assert licence_of(world / "zero_shot/question", without_card="?") == "apache-2.0"
    assert not list((world / ".work").glob("*/*/*"))  # nothing is left behind

    metrics = run(dpr_finetune, world, out="few_shot", start="zero_shot", max_steps=4, learning_rate=1e-5)
    assert metrics["steps"] == 4
    few_shot = weights(world / "few_shot")
    assert all(0 < (few_shot[key] - towers[key]).abs().max() < 1e-3 for key in towers if key.endswith(name))
    (world / "published").rmdir()
    (world / "zero_shot").rename(world / "published")
    assert run(dpr_pretrain, world, out="taken", start="bert")["validation_mrr"] == pytest.approx(mrr)


@pytest.fixture
def model_and_pairs(tmp_path):
    question, tokenizer = load_text_encoder(write_tiny_bert(tmp_path / "q", seed=1), torch.device("cpu"))
    passage, _ = load_text_encoder(write_tiny_bert(tmp_path / "p", seed=2), torch.device("cpu"))
    words = pa.array([f"w{row}" for row in range(12)])
    texts = PassageTexts(np.arange(12), words, words)
    pairs = Pairs(
        [f"who is w{row}" for row in range(4)],
        [np.array([row, 8 + row]) for row in range(4)],
        [np.array([4 + row]) for row in range(4)],
    )
    return (
        DualEncoder(question, passage),
        tokenizer,
        texts,
        pairs,
        PairTokens(tmp_path / "kept", tokenizer, pairs, texts, 16),
    )


def test_validation_mrr_by_hand(model_and_pairs, monkeypatch):
    model, tokenizer, _, pairs, tokens = model_and_pairs
    # Pool: passages 0–3 (first positives) and 4–7 (negatives); question 0's vector gives these scores.
    pool = np.eye(8, dtype=np.float32)
    questions = np.array(
        [
            [5, 1, 1, 1, 1, 1, 1, 1],  # own first: 1
            [5, 4, 1, 1, 1, 1, 1, 1],  # second: 1/2
            [5, 5, 5, 5, 1, 1, 1, 1],  # ties count against it: 1/4
            [0, 0, 0, 0, 0, 0, 0, 0],  # 1/8
        ],
        np.float32,
    )
    vectors = iter([questions, pool])
    monkeypatch.setattr(dpr_training, "encode", lambda *_: next(vectors))
    mrr = validation_mrr(model, tokenizer, pairs, tokens, DprParameters(**PARAMETERS))
    assert mrr == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 8) / 4)


def test_other_positives_do_not_count_against_a_question(model_and_pairs, monkeypatch):
    model, tokenizer, _, pairs, tokens = model_and_pairs
    pairs = Pairs(pairs.questions[:2], [np.array([0, 1]), np.array([1])], pairs.negatives[:2])  # pool 0, 1, 4, 5
    vectors = iter([np.array([[1, 2, 0, 0], [9, 3, 1, 1]], np.float32), np.eye(4, dtype=np.float32)])
    monkeypatch.setattr(dpr_training, "encode", lambda *_: next(vectors))
    mrr = validation_mrr(model, tokenizer, pairs, tokens, DprParameters(**PARAMETERS))
    assert mrr == pytest.approx((1 + 1 / 2) / 2)


def features_of(model_and_pairs):
    model, tokenizer, _, _, tokens = model_and_pairs
    batch = [(row, row, 4 + row) for row in range(4)]
    return batch_features(batch, tokens, tokenizer.pad_token_id, model)


def test_batches_are_those_that_the_tokenizer_makes(model_and_pairs):
    _, tokenizer, texts, pairs, _ = model_and_pairs
    question, *passages = features_of(model_and_pairs)
    assert [each["tower"] for each in (question, *passages)] == ["question", "passage", "passage"]
    expected = [tokenizer(pairs.questions, return_token_type_ids=False, padding=True, return_tensors="pt")]
    for first in (0, 4):
        titles, read = map(list, zip(*(texts[row] for row in range(first, first + 4)), strict=True))
        expected.append(tokenizer(titles, read, return_token_type_ids=False, padding=True, return_tensors="pt"))
    for found, own in zip((question, *passages), expected, strict=True):
        assert all(torch.equal(found[name], own[name]) for name in ("input_ids", "attention_mask"))
        assert found["input_ids"].dtype == found["attention_mask"].dtype == torch.int64


def test_published_encoders_are_measured_and_not_trained(world):
    for seed, tower in enumerate(("question", "passage")):
        write_tiny_bert(world / "published" / tower, seed=seed)
    metrics = run(dpr_pretrain, world, out="zero_shot", start="bert")
    assert (metrics["steps"], metrics["validation_questions"]) == (0, 8)
    theirs, ours = weights(world / "published"), weights(world / "zero_shot")
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert "not trained here" in (world / "zero_shot/question/README.md").read_text()
    assert run(dpr_finetune, world, out="few_shot", start="zero_shot", max_steps=1)["steps"] == 1
    assert licence_of(world / "few_shot/question", without_card="?") == "other"  # as what it started from
