"""ClipCap from a checkpoint with its authors' names, against their greedy search (CLIP_prefix_caption, predict.py)."""

import pytest
import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from sample.scene_models.scene_networks import save_bert_tokenizer
from tests.decorrelation.tiny_models import pictures, write_base
from trivium.decorrelation.captions.captioner import CLIPCAP, Captioner

PREFIX, WIDTH = 2, 8


@pytest.fixture
def networks(tmp_path):
    write_base("clip", tmp_path / "clip")
    folder = tmp_path / "captioner"
    words = len(save_bert_tokenizer(["a dog and two cats on red grass ."], folder))
    torch.manual_seed(3)
    config = GPT2Config(vocab_size=words, n_positions=32, n_embd=WIDTH, n_layer=1, n_head=2, initializer_range=0.8)
    config.save_pretrained(folder)
    gpt = GPT2LMHeadModel(config).eval()
    mlp = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, PREFIX * WIDTH))
    weights = {f"gpt.{name}": value for name, value in gpt.state_dict().items()}
    weights |= {f"clip_project.model.{name}": value for name, value in mlp.state_dict().items()}
    weights |= {"gpt.transformer.h.0.attn.bias": torch.ones(1, 1, 32, 32), "gpt.transformer.h.0.attn.masked_bias": torch.tensor(-1e4)}  # fmt: skip
    torch.save(weights, folder / CLIPCAP)
    return folder, gpt, mlp


@torch.inference_mode()
def test_a_caption_is_the_greedy_one_of_the_authors_search(networks):
    folder, gpt, mlp = networks
    captioner = Captioner(folder, beams=1, max_tokens=9)
    clip, tokenizer = captioner._model._clip, captioner._model.tokenizer
    stop, expected = tokenizer.convert_tokens_to_ids("."), []
    for picture in pictures(4):
        pixels = clip.prepare(picture, training=False)[None]
        generated = mlp(clip.module.encode_image(pixels)).view(1, PREFIX, WIDTH)
        tokens: list[int] = []
        while len(tokens) < 9 and stop not in tokens:
            tokens.append(int(gpt(inputs_embeds=generated).logits[0, -1].argmax()))
            generated = torch.cat((generated, gpt.transformer.wte(torch.tensor([[tokens[-1]]]))), dim=1)
        expected.append(tokenizer.decode(tokens, skip_special_tokens=True).strip())
    assert captioner.caption(pictures(4), batch=3) == expected
    assert len(set(expected)) > 1
