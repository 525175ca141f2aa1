"""Network of the frame parser: one encoder, run once for the triggers and once for each trigger's elements.

The first pass reads the plain sentence; a linear head gives every word a tag B-frame, I-frame or O. The second adds to
the token embeddings one vector for the frame, on all tokens, and one for each token's side of the trigger (before it,
the trigger itself, after it); another head gives tags B-element, I-element or O. All other weights are shared, so the
second pass costs two small tables, and all its layers see the trigger.
"""

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from trivium.nets.device import autocast

NOT_ASKED, BEFORE, TRIGGER, AFTER = range(4)  # a token's side


class FrameTagger(nn.Module):
    """An encoder of Hugging Face's that takes `inputs_embeds`, with the heads and embeddings of both passes.

    `frames` and `elements` are numbers of their names.
    """

    def __init__(self, encoder: PreTrainedModel, *, frames: int, elements: int) -> None:
        super().__init__()
        width, spread = encoder.config.hidden_size, encoder.config.initializer_range
        self.encoder = encoder
        self.frame = nn.Embedding(1 + frames, width)
        self.side = nn.Embedding(4, width)
        self.triggers = nn.Linear(width, 1 + 2 * frames)
        self.elements = nn.Linear(width, 1 + 2 * elements)
        for weights in (self.frame.weight, self.side.weight, self.triggers.weight, self.elements.weight):
            nn.init.normal_(weights, std=spread)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, frame: Tensor, side: Tensor, words: Tensor) -> Tensor:
        """Compute the states of words, float32.

        Args:
            input_ids, attention_mask: (batch, tokens), padded on the right.
            frame: (batch,) 1 + the frame whose elements are tagged, 0 for triggers.
            side: (batch, tokens) one of the sides, all `NOT_ASKED` for triggers.
            words: (batch, words) each word's first token, 0 beyond the last word.

        Returns:
            (batch, words, width), to be given to `triggers` or `elements`.
        """
        with autocast(input_ids.device):
            embedded = self.encoder.get_input_embeddings()(input_ids)
            is_asked = (frame > 0)[:, None, None]
            embedded = embedded + is_asked * (self.frame(frame)[:, None] + self.side(side))
            states = self.encoder(inputs_embeds=embedded, attention_mask=attention_mask).last_hidden_state
        chosen = words[..., None].expand(-1, -1, states.shape[-1])
        return states.gather(1, chosen).float()


def tagging_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """Compute the mean cross-entropy over words; 0 when there is no word.

    Args:
        logits: (batch, words, tags); −∞ where a tag is impossible.
        tags: (batch, words), −100 beyond the last word.
    """
    total = nn.functional.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=-100, reduction="sum")
    return total / torch.clamp((tags != -100).sum(), min=1)
