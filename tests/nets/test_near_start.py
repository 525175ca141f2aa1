"""What near copying and near matching promise of fresh networks."""

import pytest
import torch
from transformers import (
    CamembertConfig,
    CamembertModel,
    MT5Config,
    MT5ForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
)

from trivium.nets.near_start import NOISE, near_copying, near_matching

WORDS, LENGTH, MARK = 200, 12, 3
SIZES = {"d_model": 64, "d_kv": 32, "d_ff": 64, "num_layers": 1, "num_heads": 2, "dropout_rate": 0.0}


def network(seed, version="mt5", **changes):
    torch.manual_seed(seed)
    shape = {"vocab_size": WORDS, "decoder_start_token_id": 0, **SIZES, **changes}
    return (
        MT5ForConditionalGeneration(MT5Config(**shape))
        if version == "mt5"
        else T5ForConditionalGeneration(T5Config(**shape, tie_word_embeddings=version == "t5"))
    ).eval()


def copier(seed=0, version="mt5", **changes):
    model = network(seed, version, **changes)
    near_copying(model, torch.Generator().manual_seed(5))
    return model


def matrices(model, name):
    return [part.get_submodule(name).weight for key, part in model.named_modules() if key.endswith("EncDecAttention")]


@pytest.mark.parametrize("changes", [{}, {"num_heads": 3}, {"d_kv": 8, "num_decoder_layers": 2}])
def test_values_and_outputs_are_near_the_identity(changes):
    model = copier(**changes)
    inner = model.config.num_heads * model.config.d_kv
    for name, shape in (("v", (inner, 64)), ("o", (64, inner))):
        for weight in matrices(model, name):
            noise = weight - torch.eye(*shape)
            assert weight.shape == shape
            assert float(noise.detach().std()) == pytest.approx(NOISE / shape[1] ** 0.5, rel=0.15)


@pytest.mark.parametrize("version", ["t5", "flan_t5", "mt5"])
def test_untrained_it_goes_on_as_the_text_does(version):
    texts = torch.stack([torch.randperm(WORDS - 1)[:LENGTH] + 1 for _ in range(40)])
    shares = {}
    for name, model in (("copier", copier(0, version)), ("plain", network(0, version))):
        with torch.no_grad():
            logits = model(input_ids=texts, decoder_input_ids=texts[:, 2:-1]).logits
        shares[name] = float((logits.argmax(-1) == texts[:, 3:]).float().mean())
    assert shares["copier"] > 0.8
    assert shares["plain"] < 0.1


def batch(generator, size=32):
    """The two words after the mark are the answer: to be copied, not known."""
    ids = torch.randint(MARK + 1, WORDS, (size, LENGTH), generator=generator)
    place = torch.randint(0, LENGTH - 2, (size,), generator=generator)
    rows = torch.arange(size)
    ids[rows, place] = MARK
    return ids, torch.stack([ids[rows, place + 1], ids[rows, place + 2]], 1)


def accuracy(seed, *, copying, steps=40):
    model, generator = (copier if copying else network)(seed), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        ids, labels = batch(generator)
        optimizer.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
    ids, labels = batch(generator, 256)
    with torch.no_grad():
        return float((model(input_ids=ids, labels=labels).logits.argmax(-1) == labels).float().mean())


def test_copying_is_learnt_sooner():
    assert accuracy(0, copying=True) > accuracy(0, copying=False) + 0.3


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
