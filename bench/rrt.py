"""Image pairs a second through a Re-Ranking Transformer: `python -m bench.rrt`.

With a GPU the paper's network on a question's pairs: 100 of 1 004 tokens, 6 layers; on a CPU a smaller one. Random
weights and descriptors. The popular way is torch's own `TransformerEncoder` with the same weights, all pairs at once:
every token of every layer, where only the last layer's [CLS] is read. The expert writes the layers out, asks the last
one for [CLS] alone, and has no mask, as no image lacks a descriptor.
"""

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from bench import harness
from trivium.kvqae.rerankers.rrt import build_rrt, score_pairs
from trivium.nets.device import autocast, pick_device
from trivium.nets.reranking_transformer import CLS, GLOBAL_Q, GLOBAL_T, LOCAL_Q, LOCAL_T, SEP, RerankingTransformer
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION, FeatureFolder

PAPER = {"global_dimension": 2048, "layers": 6, "heads": 4, "hidden": 1024, "locals": 500, "pairs": 100}
SMALL = {"global_dimension": 236, "layers": 2, "heads": 1, "hidden": 128, "locals": 32, "pairs": 100}
CLOSE = {"cpu": 1e-4, "cuda": 0.1}  # logits; in bf16 on a GPU
WHY = "images with fewer descriptors than others are masked, and pairs are put in the order of their length"
NAMES = {  # what our layers call their parts, and what torch's do
    "in_projection.": "self_attn.in_proj_",
    "out_projection": "self_attn.out_proj",
    "widen": "linear1",
    "narrow": "linear2",
    "norm_attention": "norm1",
    "norm_feed_forward": "norm2",
}


def features(count: int, most: int, dimension: int) -> FeatureFolder:
    """Random descriptors of images that have them all."""
    rng = np.random.default_rng(0)
    return FeatureFolder(
        names=pa.chunked_array([pa.array([str(row) for row in range(count)])]),
        counts=np.full(count, most, np.int32),
        overall=rng.normal(size=(count, dimension)).astype(np.float16),
        local=rng.normal(size=(count, most, LOCAL_DIMENSION)).astype(np.float16),
        scales=rng.integers(0, 7, (count, most)).astype(np.int8),
    )


def tokens_of(model: RerankingTransformer, images: FeatureFolder, pairs: NDArray[np.int64]) -> Tensor:
    """(pairs, tokens, width): [CLS] and [SEP] before the global and local descriptors of either image."""
    device = model.classifier.weight.device
    parts = []
    for rows, *segments in zip(pairs.T, (CLS, SEP), (GLOBAL_Q, GLOBAL_T), (LOCAL_Q, LOCAL_T), strict=True):
        overall, local, scales = (
            torch.from_numpy(each[rows]).to(device) for each in (images.overall, images.local, images.scales)
        )
        mark, of_overall, of_local = model.segment_embeddings.weight[segments]
        projected = functional.normalize(model.global_projection(overall.float()), dim=-1)
        described = functional.normalize(local.float(), dim=-1) + model.scale_embeddings(scales.long())
        parts += [mark.expand(len(rows), 1, -1), (projected + of_overall)[:, None], described + of_local]
    return torch.cat(parts, dim=1)


def torch_name(name: str) -> str:
    """What torch's layer calls a weight of ours."""
    for own, theirs in NAMES.items():
        name = name.replace(own, theirs)
    return name


def torch_encoder(model: RerankingTransformer) -> nn.TransformerEncoder:
    """The layers in torch's own encoder."""
    width, layers, heads, hidden = LOCAL_DIMENSION, *(model.sizes[name] for name in ("layers", "heads", "hidden"))
    layer = nn.TransformerEncoderLayer(width, heads, hidden, dropout=0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    for theirs, own in zip(encoder.layers, model.layers, strict=True):
        theirs.load_state_dict({torch_name(name): weights for name, weights in own.state_dict().items()})
    return encoder.eval().requires_grad_(False).to(model.classifier.weight.device)


@torch.inference_mode()
def by_torch(
    model: RerankingTransformer, encoder: nn.TransformerEncoder, images: FeatureFolder, pairs: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Logits through torch's encoder."""
    with autocast(model.classifier.weight.device):
        states = encoder(tokens_of(model, images, pairs))
    return model.classifier(states[:, 0].float())[:, 0].cpu().numpy()


@torch.inference_mode()
def by_hand(model: RerankingTransformer, images: FeatureFolder, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
    """Logits as an expert would compute them."""
    heads = (model.sizes["heads"], -1)
    with autocast(model.classifier.weight.device):
        tokens = tokens_of(model, images, pairs)
        layer: Any
        for number, layer in enumerate(model.layers, 1):
            asking = tokens[:, :1] if number == len(model.layers) else tokens
            projections = zip(*(each.chunk(3) for each in layer.in_projection.parameters()), strict=True)
            query, key, value = (
                functional.linear(states, *each).unflatten(-1, heads).transpose(1, 2)
                for states, each in zip((asking, tokens, tokens), projections, strict=True)
            )
            attended = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
            states = layer.norm_attention(asking + layer.out_projection(attended))
            tokens = layer.norm_feed_forward(states + layer.narrow(layer.widen(states).relu()))
    return model.classifier(tokens[:, 0].float())[:, 0].cpu().numpy()


def main() -> None:
    """Race, after all three have given the same logits."""
    device = pick_device()
    sizes = PAPER if device.type == "cuda" else SMALL
    torch.manual_seed(0)
    network = {name: sizes[name] for name in ("global_dimension", "layers", "heads", "hidden")}
    model = build_rrt(**network).eval().requires_grad_(False).to(device)
    images = features(sizes["pairs"] + 1, sizes["locals"], sizes["global_dimension"])
    pairs = np.stack([np.zeros(sizes["pairs"], np.int64), np.arange(1, sizes["pairs"] + 1)], axis=1)
    ours = partial(score_pairs, model, images, images, pairs, batch=100)
    popular = partial(by_torch, model, torch_encoder(model), images, pairs)
    expert = partial(by_hand, model, images, pairs)
    for peer in (popular, expert):
        np.testing.assert_allclose(peer(), ours(), rtol=0, atol=CLOSE[device.type])
    tokens = 2 * sizes["locals"] + 4
    race = harness.race(
        ours,
        harness.Peer("torch's TransformerEncoder", popular),
        harness.Peer("layers by hand", expert),
        gflop=harness.gflop(expert),
        gigabytes=2e-9 * sizes["pairs"] * tokens * LOCAL_DIMENSION,
        why=WHY,
    )
    harness.write(
        "rrt",
        {
            **sizes,
            "tokens": tokens,
            "device": device.type,
            "pairs_per_second": sizes["pairs"] / race["seconds"],
            "races": {f"{sizes['pairs']} pairs of {tokens} tokens": race},
            "versions": harness.versions("torch"),
        },
    )


if __name__ == "__main__":
    main()
