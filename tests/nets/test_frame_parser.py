import pytest
import torch
from transformers import BertConfig, BertModel, CamembertConfig, CamembertModel

from trivium.nets.frame_parser import AFTER, BEFORE, NOT_ASKED, TRIGGER, FrameTagger, tagging_loss

SIZES = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}


@pytest.fixture(params=["camembert", "bert"])
def network(request):
    torch.manual_seed(0)
    if request.param == "camembert":
        encoder = CamembertModel(CamembertConfig(**SIZES, pad_token_id=1, max_position_embeddings=40))
    else:
        encoder = BertModel(BertConfig(**SIZES))
    return FrameTagger(encoder, frames=3, elements=2).eval()


def batch(lengths, *, frame=0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    size = (len(lengths), max(lengths))
    mask = (torch.arange(size[1])[None] < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(5, 30, size, generator=generator) * mask + (1 - mask)
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "frame": torch.full((len(lengths),), frame),
        "side": torch.full(size, NOT_ASKED),
        "words": torch.arange(1, size[1] - 1)[None].repeat(len(lengths), 1),
    }


@torch.inference_mode()
def test_without_a_question_states_are_the_encoder_s(network):
    inputs = batch([7, 7])
    plain = network.encoder(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).last_hidden_state
    assert torch.allclose(network(**inputs), plain[:, 1:-1], atol=1e-6)
    inputs["side"][:] = AFTER  # nothing is asked: sides do not count
    assert torch.allclose(network(**inputs), plain[:, 1:-1], atol=1e-6)


@torch.inference_mode()
def test_states_depend_on_frame_and_trigger(network):
    asked = batch([7], frame=2)
    asked["side"] = torch.tensor([[BEFORE, BEFORE, TRIGGER, AFTER, AFTER, AFTER, AFTER]])
    other_frame = {**asked, "frame": torch.tensor([1])}
    other_trigger = {**asked, "side": torch.tensor([[BEFORE, BEFORE, BEFORE, BEFORE, TRIGGER, AFTER, AFTER]])}
    states = network(**asked)
    for other in (batch([7]), other_frame, other_trigger):
        assert (network(**other) - states).abs().max() > 1e-3


@torch.inference_mode()
def test_padding_and_neighbours_change_nothing(network):
    inputs = batch([9, 5], frame=1)
    inputs["side"][:, 3], inputs["side"][:, :3], inputs["side"][:, 4:] = TRIGGER, BEFORE, AFTER
    together = network(**inputs)
    alone = {name: value[1:, :5] if value.ndim == 2 else value[1:] for name, value in inputs.items()}
    alone["words"] = alone["words"][:, :3]
    assert torch.allclose(together[1, :3], network(**alone)[0], atol=1e-5)


def test_loss_is_the_mean_over_words_and_knows_impossible_tags():
    logits = torch.log(torch.tensor([[[0.5, 0.25, 0.25], [0.8, 0.1, 0.1]], [[0.2, 0.4, 0.4], [0.9, 0.05, 0.05]]]))
    tags = torch.tensor([[1, 0], [2, -100]])
    expected = -(torch.log(torch.tensor(0.25)) + torch.log(torch.tensor(0.8)) + torch.log(torch.tensor(0.4))) / 3
    assert tagging_loss(logits, tags).item() == pytest.approx(expected.item(), rel=1e-5)
    masked = logits.clone()
    masked[1, 0, 1] = -torch.inf
    again = -(torch.log(torch.tensor(0.25 * 0.8)) + torch.log(torch.tensor(0.4 / 0.6))) / 3
    assert tagging_loss(masked, tags).item() == pytest.approx(again.item(), rel=1e-5)
    assert tagging_loss(logits, torch.full((2, 2), -100)).item() == 0
