import math

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from trivium.nets.bert import one_relevant_loss, relevance_scores


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
