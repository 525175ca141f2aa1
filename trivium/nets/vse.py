"""The two towers of VSE++ (Faghri et al. 2018), with a bidirectional GRU (decorrelation.md §4)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence

from trivium.nets.device import autocast
from trivium.nets.vgg import Vgg


class VseTowers(nn.Module):
    """A CNN with a linear layer, and word vectors with a GRU, into one space.

    Args:
        cnn: without its classifier.
        words: size of the vocabulary; word 0 is padding.
        word_dimension: size of a word's vector.
        dimension: size of an embedding, also of the GRU's state in each direction.
    """

    def __init__(self, cnn: Vgg, *, words: int, word_dimension: int, dimension: int) -> None:
        super().__init__()
        self.cnn = cnn
        self.image = nn.Linear(cnn.width, dimension)
        self.words = nn.Embedding(words, word_dimension, padding_idx=0)
        self.gru = nn.GRU(word_dimension, dimension, batch_first=True, bidirectional=True)
        nn.init.xavier_uniform_(self.image.weight)
        nn.init.zeros_(self.image.bias)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)

    def images(self, pixels: Tensor) -> Tensor:
        """(n, 3, h, w) → (n, dimension) of length 1; so are the CNN's features before the projection."""
        with autocast(pixels.device):
            features = self.cnn(pixels)
        return normalize(self.image(normalize(features.float(), dim=1)), dim=1)

    def texts(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """The mean of both directions' last states.

        Args:
            ids: (n, longest) words, padded behind.
            lengths: (n,) at least 1.

        Returns:
            (n, dimension) of length 1; padding changes nothing.
        """
        # The GRU stays in float32: in bf16 its state loses what long texts add up.
        with torch.autocast(ids.device.type, enabled=False):
            packed = pack_padded_sequence(self.words(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
            _, last = self.gru(packed)
            return normalize(last.mean(dim=0), dim=1)
