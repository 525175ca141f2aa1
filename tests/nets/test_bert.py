"""Dual encoder and cross-encoder against formulas and against their libraries."""

import math

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.kvqae.retrieval.text_encoder import load_text_encoder, tokenize
from trivium.nets.bert import (
    DualEncoder,
    cls_vectors,
    in_batch_loss,
    one_relevant_loss,
    relevance_scores,
)


def test_loss_by_hand():
    scores = torch.tensor([[0.0, 0.0, 0.0, 0.0], [math.log(6.0), 0.0, math.log(2.0), 0.0]])
    assert one_relevant_loss(scores).tolist() == pytest.approx([math.log(4), -math.log(6 / 10)])


def test_loss_is_the_cross_entropy_of_the_first_passage():
    torch.manual_seed(0)
    scores = torch.randn(5, 24) * 50
    expected = torch.nn.functional.cross_entropy(scores, torch.zeros(5, dtype=torch.long), reduction="none")
    assert torch.allclose(one_relevant_loss(scores), expected, atol=1e-4)
    assert torch.allclose(one_relevant_loss(scores + 1000), expected, atol=1e-3)  # only differences count


def test_scores_are_those_of_the_network_and_padding_plays_no_role():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, num_labels=1
    )
    model = BertForSequenceClassification(config).eval()
    ids, mask = torch.randint(1, 20, (3, 6)), torch.ones(3, 6, dtype=torch.long)
    types = torch.tensor([[0, 0, 0, 1, 1, 1]] * 3)
    scores = relevance_scores(model, ids, mask, types)
    expected = model(input_ids=ids, attention_mask=mask, token_type_ids=types).logits[:, 0]
    assert scores.shape == (3,)
    assert torch.allclose(scores, expected)
    wider = [torch.nn.functional.pad(each, (0, 4)) for each in (ids, mask, types)]
    assert torch.allclose(relevance_scores(model, *wider), scores, atol=1e-6)


def test_scores_have_full_precision_under_autocast(monkeypatch):
    import trivium.nets.bert as module

    monkeypatch.setattr(module, "autocast", lambda device: torch.autocast("cpu", dtype=torch.bfloat16))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=500, hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, num_labels=1
    )
    model = BertForSequenceClassification(config).eval()
    ids = torch.arange(1, 401).view(400, 1)
    scores = relevance_scores(model, ids, torch.ones_like(ids), torch.zeros_like(ids))
    assert scores.dtype == torch.float32
    assert len(scores.bfloat16().unique()) < 300 < len(scores.unique())


CPU = torch.device("cpu")


@pytest.fixture
def model_and_features(tmp_path):
    question, tokenizer = load_text_encoder(write_tiny_bert(tmp_path / "q", seed=1), CPU)
    passage, _ = load_text_encoder(write_tiny_bert(tmp_path / "p", seed=2), CPU)
    texts = {
        "question": ["who is w1 ?", "where is w2", "w3", "who w4 w5", "w6 ?"],
        "positive": ["w1 w11", "w2 w12 w13", "w3 w4", "w14", "w6"],
        "negative": ["w21", "w22 w23 w24", "w25 w26", "w27", "w28 w29 w30 w31"],
    }
    features = [
        {
            "tower": "question" if name == "question" else "passage",
            **tokenizer.pad({"input_ids": tokenize(tokenizer, column, 16)}, return_tensors="pt"),
        }
        for name, column in texts.items()
    ]
    return DualEncoder(question, passage), features


def gradients(model):
    return {name: weights.grad.clone() for name, weights in model.named_parameters()}


def softmax_formula(model, features):
    """-log exp(q_i·p_i) / Σ over all positives and negatives, written out."""
    q, p, n = (
        cls_vectors(model.question if column["tower"] == "question" else model.passage, *list(column.values())[1:])
        for column in features
    )
    losses = []
    for i in range(len(q)):
        exponentials = [torch.exp(torch.dot(q[i], d)) for d in (*p, *n)]
        losses.append(-torch.log(exponentials[i] / sum(exponentials)))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("mini_batch_size", [1, 2, 4, 5])
def test_loss_is_the_softmax_formula_gradient_included(model_and_features, mini_batch_size):
    model, features = model_and_features
    model.eval()
    expected = softmax_formula(model, features)
    expected.backward()
    expected_gradients = gradients(model)
    model.zero_grad()
    loss = in_batch_loss(model, mini_batch_size, batch_size=5)(features, None)
    loss.backward()
    torch.testing.assert_close(loss, expected)
    largest = max(gradient.norm() for gradient in expected_gradients.values())
    for name, gradient in gradients(model).items():
        assert (gradient - expected_gradients[name]).norm() < 1e-3 * largest, name  # float32, through two layers


def test_towers_share_nothing(model_and_features):
    model, features = model_and_features
    model.eval()
    with torch.no_grad():
        before = [model(column)["sentence_embedding"] for column in features[:2]]
        for weights in model.question.parameters():
            weights.add_(0.1)
        after = [model(column)["sentence_embedding"] for column in features[:2]]
    assert not torch.equal(before[0], after[0])
    assert torch.equal(before[1], after[1])


@pytest.mark.parametrize("mini_batch_size", [2, 5])
def test_dropout_is_drawn_alike_in_both_passes(model_and_features, mini_batch_size):
    """The gradient belongs to the loss: a step against it lowers the loss for the same dropout."""
    model, features = model_and_features
    model.train()
    loss_function = in_batch_loss(model, mini_batch_size, batch_size=5)
    torch.manual_seed(3)
    before = loss_function(features, None)
    before.backward()
    squared = sum((gradient**2).sum() for gradient in gradients(model).values())
    step = 1e-4 / squared
    with torch.no_grad():
        for weights in model.parameters():
            weights -= step * weights.grad
    torch.manual_seed(3)
    after = loss_function(features, None)
    # First order: the loss falls by step · |gradient|².
    assert (before - after).item() == pytest.approx(1e-4, rel=0.1)


@pytest.mark.gpu
def test_bf16_on_a_gpu_is_close_to_float32(model_and_features):
    model, features = model_and_features
    model.eval()
    with torch.no_grad():
        exact = model(features[0])["sentence_embedding"]
        on_gpu = {
            name: value.cuda() if isinstance(value, torch.Tensor) else value for name, value in features[0].items()
        }
        half = model.cuda()(on_gpu)["sentence_embedding"]
    assert half.dtype == torch.float32
    torch.testing.assert_close(half.cpu(), exact, rtol=0, atol=0.05)


@pytest.mark.gpu
@pytest.mark.parametrize("mini_batch_size", [2, 5])
def test_gradient_on_a_gpu_is_close_to_float32(model_and_features, mini_batch_size):
    model, features = model_and_features
    model.eval()
    in_batch_loss(model, 5, batch_size=5)(features, None).backward()
    expected = torch.cat([gradient.ravel() for gradient in gradients(model).values()])
    model.zero_grad()
    model.cuda()
    on_gpu = [{k: v.cuda() if isinstance(v, torch.Tensor) else v for k, v in column.items()} for column in features]
    in_batch_loss(model, mini_batch_size, batch_size=5)(on_gpu, None).backward()
    got = torch.cat([gradient.cpu().ravel() for gradient in gradients(model).values()])
    assert torch.nn.functional.cosine_similarity(got, expected, dim=0) > 0.99
