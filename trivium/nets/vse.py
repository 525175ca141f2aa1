"""VSE++ (Faghri et al. 2018; decorrelation.md §4): VGG, two towers with a bidirectional GRU, and the triplet loss.

VGG (Simonyan & Zisserman 2015) has torchvision's names of weights, and any width.
"""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.checkpoint import checkpoint_sequential
from torchvision.models.vgg import cfgs, make_layers

from trivium.nets.device import autocast

TORCHVISION = {"vgg11": "A", "vgg13": "B", "vgg16": "D", "vgg19": "E"}  # its names of the rows of VGG's table 1
GRID, HIDDEN = 7, 4096


def channels_of(architecture: str) -> list[str | int]:
    """Return the convolutions of one of torchvision's VGGs: channels, and `M` for a max-pooling."""
    return list(cfgs[TORCHVISION[architecture]])


class Vgg(nn.Module):
    """Convolutions and three fully connected layers; the last one, a classifier, can be left out.

    Args:
        channels: of the 3×3 convolutions in order, with `M` for a max-pooling of 2×2.
        grid: side of the map that the average pooling makes for the fully connected layers (VGG: 7).
        hidden: width of the fully connected layers (VGG: 4096).
        classes: of the classifier; None leaves it out.
        dropout: of the features, before the classifier if there is one.

    Attributes:
        width: size of a feature vector, `hidden`.
        checkpointing: compute the convolutions' activations again in the backward pass instead of keeping them.
    """

    def __init__(
        self, channels: Sequence[str | int], *, grid: int, hidden: int, classes: int | None, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.features = make_layers(cast(list[str | int], list(channels)))
        self.avgpool = nn.AdaptiveAvgPool2d(grid)
        last = next(size for size in reversed(channels) if isinstance(size, int))
        fully = [nn.Linear(last * grid * grid, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, hidden), nn.ReLU()]
        classifier = [] if classes is None else [nn.Linear(hidden, classes)]
        self.classifier = nn.Sequential(*fully, nn.Dropout(dropout), *classifier)
        self.width = hidden
        self.checkpointing = False

    def forward(self, pixels: Tensor) -> Tensor:
        """Compute features (n, hidden), or logits (n, classes) with the classifier, of pixels (n, 3, h, w)."""
        pixels = pixels.contiguous(memory_format=torch.channels_last)  # a step takes half as long on a processor
        if self.checkpointing and self.training:
            blocks = sum(isinstance(layer, nn.MaxPool2d) for layer in self.features)
            maps = checkpoint_sequential(self.features, max(1, blocks), pixels, use_reentrant=False)
        else:
            maps = self.features(pixels)
        features: Tensor = self.classifier(self.avgpool(maps).flatten(1))
        return features


def triplet_hinge(scores: Tensor, pictures: Tensor, *, margin: float, hardest: bool) -> Tensor:
    """Compute Σ over pairs i of h(max over j of [margin + s_ij - s_ii]) + h(max over j of [margin + s_ji - s_ii]).

    h(x) = max(0, x); j are the pairs of other pictures. It is a sum, since the limit of the gradient's norm was chosen
    for it. With the mean over j in place of the maximum it is the sum of hinges of VSE0, divided by the number of
    negatives so that both have one learning rate.

    Args:
        scores: (n, n) similarity of picture i and text j.
        pictures: (n,) ids; pairs of one picture are no negatives of each other.
        margin: by how much s_ii must lead.
        hardest: whether to take the maximum over negatives; else the mean.

    Returns:
        A scalar; 0 where there is no negative.
    """
    negative = pictures[:, None] != pictures[None, :]
    own = scores.diagonal()
    texts = (margin + scores - own[:, None]).clamp(min=0) * negative
    images = (margin + scores - own[None, :]).clamp(min=0) * negative
    if hardest:
        return texts.amax(dim=1).sum() + images.amax(dim=0).sum()
    count = negative.sum(dim=1).clamp(min=1)
    return (texts.sum(dim=1) / count).sum() + (images.sum(dim=0) / count).sum()


class VseTowers(nn.Module):
    """Encoders into one space: a CNN with a linear layer, and word vectors with a GRU.

    Args:
        cnn: without its classifier.
        words: size of the vocabulary; word 0 is padding.
        word_dimension: size of a word's vector.
        dimension: size of an embedding, also of the GRU's state in each direction.
        bidirectional: whether the GRU reads backwards too, as the paper says; that of its authors' checkpoint does not.
    """

    def __init__(
        self, cnn: Vgg, *, words: int, word_dimension: int, dimension: int, bidirectional: bool = True
    ) -> None:
        super().__init__()
        self.cnn = cnn
        self.image = nn.Linear(cnn.width, dimension)
        self.words = nn.Embedding(words, word_dimension, padding_idx=0)
        self.gru = nn.GRU(word_dimension, dimension, batch_first=True, bidirectional=bidirectional)
        nn.init.xavier_uniform_(self.image.weight)
        nn.init.zeros_(self.image.bias)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)

    def images(self, pixels: Tensor) -> Tensor:
        """Encode pixels (n, 3, h, w) to (n, dimension) of length 1; the CNN's features are normalised too."""
        with autocast(pixels.device):
            features = self.cnn(pixels)
        return normalize(self.image(normalize(features.float(), dim=1)), dim=1)

    def texts(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Encode texts as the mean of the last states of both directions.

        Args:
            ids: (n, longest) words, padded on the right.
            lengths: (n,) at least 1.

        Returns:
            (n, dimension) of length 1; padding changes nothing.
        """
        # The GRU stays in float32: in bf16 its state would lose small updates over long texts.
        with torch.autocast(ids.device.type, enabled=False):
            packed = pack_padded_sequence(self.words(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
            _, last = self.gru(packed)
            return normalize(last.mean(dim=0), dim=1)
