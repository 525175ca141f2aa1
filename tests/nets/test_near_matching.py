"""A token attends to its own word on the other side, before anything is learnt."""

import pytest
import torch
from transformers import CamembertConfig, CamembertModel

from trivium.nets.near_start import near_matching

QUESTION, CONTEXT = [10, 11, 12, 13], [20, 11, 21, 22, 13, 23, 24]


def encoder(segments=2):
    torch.manual_seed(0)
    config = CamembertConfig(
        vocab_size=50, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        type_vocab_size=segments, max_position_embeddings=40, attn_implementation="eager",
    )  # fmt: skip
    return CamembertModel(config, add_pooling_layer=False).eval()


def attention(model):
    """Mean over the first layer's heads: (tokens, tokens)."""
    types = torch.tensor([[0] * len(QUESTION) + [1] * len(CONTEXT)])
    output = model(torch.tensor([QUESTION + CONTEXT]), token_type_ids=types, output_attentions=True)
    return output.attentions[0][0].mean(0)


def test_tokens_attend_to_their_word_on_the_other_side():
    model = encoder()
    before = attention(model)
    near_matching(model, torch.Generator().manual_seed(0))
    after = attention(model)
    for question, context in ((1, 1), (3, 4)):
        asked, found = question, len(QUESTION) + context
        for row, column in ((asked, found), (found, asked)):
            assert int(after[row].argmax()) == column
            assert after[row, column] > 0.6 > 3 * before[row, column]


def test_tokens_without_a_partner_look_at_the_other_side_evenly():
    model = encoder()
    near_matching(model, torch.Generator().manual_seed(0))
    looked = attention(model)[len(QUESTION) + 2]
    assert float(looked[: len(QUESTION)].sum()) > 0.8
    assert float(looked.max()) < 0.6


def test_the_generator_alone_decides():
    weights = []
    for _ in range(2):
        model = encoder()
        near_matching(model, torch.Generator().manual_seed(5))
        weights.append(model.encoder.layer[0].attention.self.key.weight)
    assert torch.equal(*weights)


def test_one_segment_is_not_enough():
    with pytest.raises(ValueError, match="two segments, got 1"):
        near_matching(encoder(segments=1), torch.Generator())
