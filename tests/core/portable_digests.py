"""Prints a digest of small trainings and computations, a line each: `python -m tests.core.portable_digests`.

Run natively and on an emulated processor (see `test_portable.py`), the lines must be the same.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator

from trivium.core.arithmetic import SETTINGS

os.environ.update(SETTINGS.get(sys.argv[1] if len(sys.argv) > 1 else "", {}))

import numpy as np
import torch
import transformers
from torch import nn

STEPS = 3
WIDTH = 64


def digest(*arrays: object) -> str:
    """Of the bytes of arrays and tensors."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array.detach() if isinstance(array, torch.Tensor) else array).tobytes())
    return total.hexdigest()[:12]


def trained(network: nn.Module, loss: Callable[[], torch.Tensor]) -> str:
    """Three steps of the optimiser that the stages use; the digest of all weights."""
    network.train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2, fused=True)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    return digest(*network.state_dict().values())


def bert() -> str:
    """A text encoder with a contrastive loss, as DPR; eager attention, as on a CPU."""
    config = transformers.BertConfig(
        vocab_size=200, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=4, intermediate_size=2 * WIDTH
    )
    config._attn_implementation = "eager"
    network = transformers.BertModel(config)
    tokens = torch.randint(1, 200, (16, 21))

    def loss() -> torch.Tensor:
        states = network(tokens).last_hidden_state[:, 0]
        return nn.functional.cross_entropy(states[:8] @ states[8:].T, torch.arange(8))

    return trained(network, loss)


def convolutions() -> str:
    """The stand-in of ArcFace: convolutions, batch norm, grouped convolutions."""
    from sample.encoders.stand_ins import FaceNetwork

    network, pixels = FaceNetwork(16, 8), torch.rand(6, 3, 112, 112)
    return trained(network, lambda: network(pixels).square().mean())


def recurrent() -> str:
    """Words and a GRU, with the hinge of VSE++."""
    words, gru = nn.Embedding(100, 32), nn.GRU(32, WIDTH, batch_first=True)
    both, tokens = nn.ModuleList([words, gru]), torch.randint(0, 100, (12, 9))

    def loss() -> torch.Tensor:
        states = nn.functional.normalize(gru(words(tokens))[1][0])
        return (0.2 + states @ states.roll(1, 0).T - 1).clamp(min=0).max(dim=1).values.sum()

    return trained(both, loss)


def functions() -> str:
    """torch's functions of one value, and sums."""
    values = torch.randn(1000, 37)
    made = [getattr(torch, name)(values) for name in ("exp", "tanh", "erf", "sigmoid", "sin")]
    made += [values.abs().sqrt(), values.abs().log(), nn.functional.gelu(values), values.softmax(-1), values.sum(0)]
    return digest(*made, values.double() @ values.double().T, torch.linalg.svdvals(values))


def numpy_functions() -> str:
    """NumPy's functions of one value, products, sums, and what is drawn."""
    draws = np.random.default_rng(0)
    made = []
    for kind in (np.float32, np.float64):
        values = draws.standard_normal((257, 131)).astype(kind)
        made += [getattr(np, name)(values) for name in ("exp", "exp2", "expm1", "tanh", "cbrt", "arctan", "sin", "cos")]
        made += [getattr(np, name)(np.abs(values) + 0.1) for name in ("log", "log2", "log10", "log1p", "sqrt")]
        made += [values @ values.T, values.sum(0), values.mean(1), values.var(1), np.power(np.abs(values), 1.7)]
        made += [np.einsum("ij,ij->i", values, values, dtype=np.float64), np.linalg.svd(values)[1]]
    return digest(*made)


def statistics() -> str:
    """SciPy's distributions, products and solvers."""
    import scipy.linalg
    import scipy.special
    import scipy.stats

    values = np.random.default_rng(0).standard_normal((60, 40))
    made = [scipy.stats.norm.sf(values), scipy.special.expit(values), scipy.special.gammaln(np.abs(values))]
    made += [scipy.linalg.eigh(values.T @ values)[0], scipy.stats.mannwhitneyu(values[0], values[1]).pvalue]
    return digest(*map(np.asarray, made))


def nearest_neighbours() -> str:
    """faiss: exact lists and an inverted file."""
    import faiss

    vectors = np.random.default_rng(0).standard_normal((2000, WIDTH)).astype(np.float32)
    index = faiss.index_factory(WIDTH, "IVF16,SQ8", faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    return digest(
        faiss.knn(vectors[:50], vectors, 10, metric=faiss.METRIC_INNER_PRODUCT)[0], faiss.serialize_index(index)
    )


def pictures() -> str:
    """OpenCV and Pillow: resizing, warping, in-painting, local features."""
    import cv2
    from PIL import Image

    picture = (np.random.default_rng(0).random((120, 160, 3)) * 255).astype(np.uint8)
    hole = np.zeros((120, 160), np.uint8)
    hole[30:60, 40:80] = 255
    turn = cv2.getRotationMatrix2D((60, 60), 33, 1.1)
    made = [cv2.resize(picture, (77, 65), interpolation=kind) for kind in range(5)]
    made += [cv2.warpAffine(picture, turn, (100, 90)), cv2.inpaint(picture, hole, 3, cv2.INPAINT_TELEA)]
    made += [cv2.GaussianBlur(picture, (0, 0), 2.3), cv2.SIFT_create().detectAndCompute(picture, None)[1]]
    made += [np.asarray(Image.fromarray(picture).resize((99, 88), Image.Resampling.BICUBIC))]
    return digest(*made)


def named_entities() -> str:
    """spaCy, whose products are BLIS's: a tagger of a few sentences."""
    import spacy
    from spacy.training import Example

    pipeline = spacy.blank("en")
    recogniser = pipeline.add_pipe("ner")
    recogniser.add_label("WHO")
    sentence = pipeline.make_doc("Ada Lovelace wrote the first program in London .")
    example = Example.from_dict(sentence, {"entities": [(0, 12, "WHO")]})
    spacy.util.fix_random_seed(0)
    optimizer = pipeline.initialize(lambda: [example])
    for _ in range(STEPS):
        pipeline.update([example] * 8, sgd=optimizer)
    return hashlib.sha256(recogniser.model.to_bytes()).hexdigest()[:12]


KINDS = (bert, convolutions, recurrent, functions, numpy_functions, statistics, nearest_neighbours, pictures,
         named_entities)  # fmt: skip


def lines() -> Iterator[str]:
    """Name and digest of each kind."""
    for kind in KINDS:
        torch.manual_seed(0)
        yield f"{kind.__name__} {kind()}"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
