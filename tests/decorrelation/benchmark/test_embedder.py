"""Vectors of any model: whatever the batches, of length 1; and what no model may give."""

from itertools import count

import numpy as np
import pytest
import torch

from tests.decorrelation.benchmark.benchmark_project import Words
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.embeddings import embed, unit


@pytest.mark.parametrize("size", [1, 3, 64])
def test_batches_change_nothing(asked, size):
    first, second = embed(Words(), asked, "a", size), embed(Words(), asked, "b", 2)
    for part in ("pictures", "painted", "captions"):
        np.testing.assert_array_equal(getattr(first, part), getattr(second, part))
        np.testing.assert_allclose(np.linalg.norm(getattr(first, part), axis=1), 1, atol=1e-6)
    right = Words().encode_texts(asked.captions.texts)
    np.testing.assert_allclose(first.captions, right / np.linalg.norm(right, axis=1, keepdims=True), atol=1e-6)


def test_tensors_with_gradients_will_do(asked):
    class Tensors(Words):
        def encode_texts(self, texts):
            return torch.tensor(super().encode_texts(texts), dtype=torch.float16).requires_grad_()

    assert embed(Tensors(), asked, "tensors").captions.dtype == np.float32


WIDTHS = count(3)  # another one with each batch


class Tower:
    def __init__(self, **towers):
        self.__dict__ |= {"encode_images": Words().encode_images, "encode_texts": Words().encode_texts} | towers


@pytest.mark.parametrize(
    ("towers", "message"),
    [
        ({"encode_texts": None}, "mine: field 'encode_texts': a model without a text tower"),
        ({"encode_texts": lambda texts: np.full((len(texts), 4), np.nan)}, "mine, captions:1: NaN or infinite"),
        ({"encode_texts": lambda texts: np.zeros((len(texts), 4))}, "mine, captions:1: an embedding of length 0"),
        ({"encode_images": lambda images: np.ones(len(images))}, "mine, pictures: embeddings of another shape"),
        ({"encode_images": lambda images: np.ones((len(images), 7))}, "different spaces; got '7 and 4'"),
        ({"encode_images": lambda images: np.ones((len(images), next(WIDTHS)))}, "different widths; got"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(asked, towers, message):
    with pytest.raises(BadInput, match=message):
        embed(Tower(**towers), asked, "mine", 3)


def test_the_bad_row_is_named():
    values = np.ones((5, 2))
    values[3, 1] = np.inf
    with pytest.raises(BadInput, match="x:14: NaN"):
        unit(values, 5, "x", first=10)
