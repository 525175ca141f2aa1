"""Re-Ranking Transformer, which tells whether two images show the same thing (kvqae.md §4; Tan et al. 2021).

One sequence holds both images: `[CLS] g_q l_q1 … l_qm [SEP] g_t l_t1 … l_tm`, 2m + 4 tokens. A global descriptor g is
projected to the width of the local ones; all are scaled to length 1. Local tokens add the embedding of their scale;
every token adds that of its segment. The place of a local descriptor in the image is not used. Post-norm layers with
ReLU, no dropout; a linear map of the last [CLS] gives the logit of "same".
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

LOCAL_Q, LOCAL_T, CLS, SEP, GLOBAL_Q, GLOBAL_T = range(6)  # rows of the segment embeddings, as in the authors' weights
FAINT, MARK = 0.3, 0.6  # `begin_as_matcher`: factor of random embeddings, value of the marking channels


class Described(NamedTuple):
    """Features of a batch of images.

    Attributes:
        overall: (images, g) global descriptors.
        local: (images, m, width) local descriptors.
        scales: (images, m) int64, from 0.
        present: (images, m) bool, False on padding; an image may have no local descriptor.
    """

    overall: Tensor
    local: Tensor
    scales: Tensor
    present: Tensor


class Layer(nn.Module):
    """A post-norm Transformer layer: attention, then the feed-forward network."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_projection = nn.Linear(width, 3 * width)
        self.out_projection = nn.Linear(width, width)
        self.widen = nn.Linear(width, hidden)
        self.narrow = nn.Linear(hidden, width)
        self.norm_attention = nn.LayerNorm(width)
        self.norm_feed_forward = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, mask: Tensor, selected: Tensor) -> Tensor:
        """Compute new states of some tokens.

        Args:
            tokens: (pairs, tokens, width), keys and values.
            mask: (pairs, 1, 1, tokens) bool, False on padding.
            selected: (pairs, n, width), the tokens whose new states are returned.
        """
        width = tokens.shape[-1]
        weight, bias = self.in_projection.weight, self.in_projection.bias
        queries = self._split(functional.linear(selected, weight[:width], bias[:width]))
        keys, values = functional.linear(tokens, weight[width:], bias[width:]).chunk(2, dim=-1)
        attended = functional.scaled_dot_product_attention(queries, self._split(keys), self._split(values), mask)
        attended = self.out_projection(attended.transpose(1, 2).flatten(2))
        states = self.norm_attention(selected + attended)
        return self.norm_feed_forward(states + self.narrow(functional.relu(self.widen(states))))

    def _split(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class RerankingTransformer(nn.Module):
    """The re-ranking network.

    Args:
        global_dimension: size g of global descriptors.
        width: size of local descriptors and of all tokens (128).
        layers, heads, hidden: sizes of the Transformer (6, 4, 1 024).
        scales: number of scales of local descriptors (7).

    Attributes:
        sizes: arguments that may differ between networks, by name.
    """

    def __init__(self, *, global_dimension: int, width: int, layers: int, heads: int, hidden: int, scales: int) -> None:
        super().__init__()
        self.sizes = {"global_dimension": global_dimension, "layers": layers, "heads": heads, "hidden": hidden}
        self.global_projection = nn.Linear(global_dimension, width)
        self.scale_embeddings = nn.Embedding(scales, width)
        self.segment_embeddings = nn.Embedding(6, width)
        self.layers = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))
        self.classifier = nn.Linear(width, 1)
        for weights in self.parameters():
            if weights.dim() > 1:
                nn.init.xavier_uniform_(weights)

    @torch.no_grad()
    def begin_as_matcher(self, sharpness: float) -> None:
        """Set weights so that in the first layer each token attends to the most similar one of the other image.

        From random weights the authors train on a million photographs; training on few would stay at chance. As in
        mimetic initialisation (Trockman and Kolter 2023) queries and keys start as multiples of the identity, values
        times output as its negative: a token becomes its difference from what it matched. One channel a head marks
        which image a token is of, with the key's sign inverted, so that no token matches itself; another one marks
        global tokens. Later layers, feed-forward networks and all else start at random, and everything is trained.

        Args:
            sharpness: factor of the descriptors' dot products in the softmax.
        """
        first, width = self.layers[0], self.classifier.in_features
        assert isinstance(first, Layer)
        per_head = width // self.sizes["heads"]
        identity, turned = torch.eye(width), torch.ones(width)
        turned[::per_head] = -1
        scale = (sharpness * per_head**0.5) ** 0.5
        first.in_projection.weight.copy_(torch.cat([scale * identity, scale * identity * turned, identity]))
        first.in_projection.bias.zero_()
        first.out_projection.weight.copy_(-identity)
        first.out_projection.bias.zero_()
        self.scale_embeddings.weight.mul_(FAINT)
        segments = self.segment_embeddings.weight.mul_(FAINT)
        for segment, image in ((LOCAL_Q, 1), (GLOBAL_Q, 1), (LOCAL_T, -1), (GLOBAL_T, -1)):
            segments[segment, ::per_head] += image * MARK
        segments[[GLOBAL_Q, GLOBAL_T], 1::per_head] += MARK

    def forward(self, query: Described, target: Described) -> Tensor:
        """Compute the logit of "same" of each pair, (pairs,) float32."""
        pairs = len(query.overall)
        segments = self.segment_embeddings.weight
        parts = [
            segments[CLS].expand(pairs, 1, -1),
            self._overall(query) + segments[GLOBAL_Q],
            self._local(query) + segments[LOCAL_Q],
            segments[SEP].expand(pairs, 1, -1),
            self._overall(target) + segments[GLOBAL_T],
            self._local(target) + segments[LOCAL_T],
        ]
        tokens = torch.cat(parts, dim=1)
        always = query.present.new_ones(pairs, 2)
        mask = torch.cat([always, query.present, always, target.present], dim=1)[:, None, None]
        *first, last = self.layers
        for layer in first:
            tokens = layer(tokens, mask, tokens)
        # Only [CLS] of the last layer is used.
        first_token = last(tokens, mask, tokens[:, :1])[:, 0].float()
        with torch.autocast(first_token.device.type, enabled=False):  # bf16 logits would tie
            return self.classifier(first_token)[:, 0]

    def _overall(self, images: Described) -> Tensor:
        return functional.normalize(self.global_projection(images.overall), dim=-1)[:, None]

    def _local(self, images: Described) -> Tensor:
        return functional.normalize(images.local, dim=-1) + self.scale_embeddings(images.scales)
