"""A start near copying: identity in the right place, and an effect on a task that needs nothing else."""

import pytest
import torch
from transformers import BertConfig, BertModel, MT5Config, MT5ForConditionalGeneration

from stages.nets.near_copying import NOISE, near_copying

WORDS, LENGTH, MARK = 40, 8, 3


def network(seed, **changes):
    torch.manual_seed(seed)
    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "dropout_rate": 0.0}
    return MT5ForConditionalGeneration(MT5Config(vocab_size=WORDS, decoder_start_token_id=0, **{**sizes, **changes}))


def matrices(model, name):
    return [part.get_submodule(name).weight for key, part in model.named_modules() if key.endswith("EncDecAttention")]


@pytest.mark.parametrize("changes", [{}, {"num_heads": 3}, {"d_kv": 8, "num_decoder_layers": 2}])
def test_values_and_outputs_are_near_the_identity_and_the_rest_is_left(changes):
    plain, model = network(0, **changes), network(0, **changes)
    near_copying(model, torch.Generator().manual_seed(5))
    inner = model.config.num_heads * model.config.d_kv
    for name, shape in (("v", (inner, 32)), ("o", (32, inner))):
        for weight in matrices(model, name):
            noise = weight - torch.eye(*shape)
            assert weight.shape == shape
            assert float(noise.detach().std()) == pytest.approx(NOISE / shape[1] ** 0.5, rel=0.15)
    changed = {key for key, weight in model.state_dict().items() if not torch.equal(weight, plain.state_dict()[key])}
    assert all(".EncDecAttention.v." in key or ".EncDecAttention.o." in key for key in changed)
    assert len(changed) == 2 * model.config.num_decoder_layers


def test_the_generator_alone_decides_the_noise():
    first, again, other = network(0), network(1), network(0)
    for model, seed in ((first, 5), (again, 5), (other, 6)):
        near_copying(model, torch.Generator().manual_seed(seed))
    assert torch.equal(matrices(first, "o")[0], matrices(again, "o")[0])
    assert not torch.equal(matrices(first, "o")[0], matrices(other, "o")[0])


def test_what_is_attended_to_arrives_as_it_is():
    model = network(0)
    near_copying(model, torch.Generator().manual_seed(5))
    attention = model.decoder.block[0].layer[1].EncDecAttention
    one = torch.randn(1, 1, 32)  # a single token takes all attention
    output = attention(torch.randn(1, 4, 32), key_value_states=one)[0]
    similarity = torch.cosine_similarity(output, one.expand(1, 4, 32), dim=-1)
    assert float(similarity.min()) > 0.95


def batch(generator, size=64):
    """The word after the mark is the answer: to be copied, not known."""
    ids = torch.randint(MARK + 1, WORDS, (size, LENGTH), generator=generator)
    place = torch.randint(0, LENGTH - 1, (size,), generator=generator)
    rows = torch.arange(size)
    ids[rows, place] = MARK
    return ids, ids[rows, place + 1, None]


def accuracy(seed, *, copying, steps=120):
    model, generator = network(seed), torch.Generator().manual_seed(seed)
    if copying:
        near_copying(model, generator)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        ids, labels = batch(generator)
        optimizer.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
    ids, labels = batch(generator, 512)
    with torch.no_grad():
        return float((model(input_ids=ids, labels=labels).logits.argmax(-1) == labels).float().mean())


def test_copying_is_learnt_sooner():
    pairs = [(accuracy(seed, copying=True), accuracy(seed, copying=False)) for seed in range(2)]
    assert all(near > plain + 0.2 for near, plain in pairs)


def test_a_model_without_cross_attention_is_refused():
    config = BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    with pytest.raises(ValueError, match="no cross-attention of T5's in BertModel"):
        near_copying(BertModel(config), torch.Generator())
