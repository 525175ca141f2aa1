"""BLIP's retrieval network in training: contrastive loss with momentum encoders, and matching (Li et al. 2022).

ITC: f are the unit embeddings of the batch, f^m those of the momentum encoders, Q the queue of f^m of earlier batches.
With s_ij = f_i · f^m_j / τ over the batch and the queue, and targets
y_ij = α softmax_j(f^m_i · f^m_j / τ) + (1 - α) [picture i is picture j] / (how many are),
the loss is the cross-entropy -Σ_j y_ij log softmax_j(s_ij), mean over i and over both directions.

ITM: a cross-encoder classifies each pair and two hard negatives, a text drawn for the picture and a picture drawn for
the text, with softmax similarities over the batch's other pictures as probabilities: cross-entropy over 3 n pairs.
"""

import copy

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax, normalize, softmax
from transformers import BlipForImageTextRetrieval

from trivium.nets.device import autocast


class BlipEncoders(nn.Module):
    """Encoders and projections; `match_token` is the id of [ENC], in the place of [CLS] where a text has a picture."""

    def __init__(self, network: BlipForImageTextRetrieval, match_token: int) -> None:
        super().__init__()
        self.network = network
        self.match_token = match_token

    def images(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Encode pixels (n, 3, h, w); returns patches (n, patches, width) and unit embeddings (n, d)."""
        with autocast(pixels.device):
            patches = self.network.vision_model(pixels).last_hidden_state
            embeddings = self.network.vision_proj(patches[:, 0])
        return patches, normalize(embeddings.float(), dim=1)

    def texts(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Encode token ids and their mask, (n, tokens); returns unit embeddings (n, d)."""
        with autocast(ids.device):
            states = self.network.text_encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            embeddings = self.network.text_proj(states[:, 0])
        return normalize(embeddings.float(), dim=1)

    def match(self, patches: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Compute the logits (n, 2) of each text with a picture's patches: no match, match."""
        ids = torch.cat([torch.full_like(ids[:, :1], self.match_token), ids[:, 1:]], dim=1)
        with autocast(ids.device):
            states = self.network.text_encoder(
                input_ids=ids, attention_mask=mask, encoder_hidden_states=patches
            ).last_hidden_state
            logits = self.network.itm_head(states[:, 0])
        return logits.float()


class BlipTraining(nn.Module):
    """State of a training: encoders, temperature, momentum encoders and queue.

    Args:
        encoders: the encoders that are trained.
        temperature: initial τ; learned, between 0.001 and 0.5.
        queue: number of momentum embeddings kept; random at the start.
        momentum: weight of the momentum encoders' own weights at each update.
    """

    images: Tensor
    texts: Tensor
    pictures: Tensor
    place: Tensor

    def __init__(self, encoders: BlipEncoders, *, temperature: float, queue: int, momentum: float) -> None:
        super().__init__()
        self.encoders = encoders
        self.temperature = nn.Parameter(torch.tensor(temperature))
        self.slow = copy.deepcopy(encoders).requires_grad_(False)
        self._momentum = momentum
        dimension = encoders.network.vision_proj.out_features
        self.register_buffer("images", normalize(torch.randn(queue, dimension), dim=1))
        self.register_buffer("texts", normalize(torch.randn(queue, dimension), dim=1))
        self.register_buffer("pictures", torch.full((queue,), -1, dtype=torch.int64))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))

    def loss(self, pixels: Tensor, ids: Tensor, mask: Tensor, pictures: Tensor, alpha: float) -> Tensor:
        """Compute ITC + ITM of a batch; updates the momentum encoders and the queue.

        Args:
            pixels: (n, 3, h, w).
            ids, mask: (n, tokens).
            pictures: (n,) ids other than -1, which marks the queue's empty places; pairs of one picture are positives
                of each other.
            alpha: weight of the momentum encoders' similarities in the targets.
        """
        scale = 1 / self.temperature.clamp(0.001, 0.5)
        patches, images = self.encoders.images(pixels)
        texts = self.encoders.texts(ids, mask)
        with torch.no_grad():
            for slow, fast in zip(self.slow.parameters(), self.encoders.parameters(), strict=True):
                slow.lerp_(fast, 1 - self._momentum)
            slow_images, slow_texts = self.slow.images(pixels)[1], self.slow.texts(ids, mask)
        contrastive = self._contrastive(images, texts, slow_images, slow_texts, pictures, scale, alpha)
        self._enqueue(slow_images, slow_texts, pictures)
        with torch.no_grad():
            scores = scale * images @ texts.T
        return contrastive + self._matching(patches, ids, mask, scores, pictures)

    def _contrastive(
        self,
        images: Tensor,
        texts: Tensor,
        slow_images: Tensor,
        slow_texts: Tensor,
        pictures: Tensor,
        scale: Tensor,
        alpha: float,
    ) -> Tensor:
        all_images, all_texts = torch.cat([slow_images, self.images]), torch.cat([slow_texts, self.texts])
        same = (pictures[:, None] == torch.cat([pictures, self.pictures])[None, :]).float()
        hard = same / same.sum(dim=1, keepdim=True)

        def direction(queries: Tensor, slow_queries: Tensor, keys: Tensor) -> Tensor:
            with torch.no_grad():
                targets = alpha * softmax(scale * slow_queries @ keys.T, dim=1) + (1 - alpha) * hard
            return -(targets * log_softmax(scale * queries @ keys.T, dim=1)).sum(dim=1).mean()

        return (direction(images, slow_images, all_texts) + direction(texts, slow_texts, all_images)) / 2

    def _matching(self, patches: Tensor, ids: Tensor, mask: Tensor, scores: Tensor, pictures: Tensor) -> Tensor:
        other = pictures[:, None] != pictures[None, :]
        rows = other.any(dim=1).nonzero()[:, 0]  # a batch of one picture has no negatives
        text = torch.multinomial((softmax(scores, dim=1) * other)[rows] + 1e-8 * other[rows], 1)[:, 0]
        image = torch.multinomial((softmax(scores.T, dim=1) * other)[rows] + 1e-8 * other[rows], 1)[:, 0]
        logits = self.encoders.match(
            torch.cat([patches, patches[rows], patches[image]]),
            torch.cat([ids, ids[text], ids[rows]]),
            torch.cat([mask, mask[text], mask[rows]]),
        )
        labels = torch.zeros(len(logits), dtype=torch.int64, device=logits.device)
        labels[: len(ids)] = 1
        return cross_entropy(logits, labels)

    @torch.no_grad()
    def _enqueue(self, images: Tensor, texts: Tensor, pictures: Tensor) -> None:
        """Replace the oldest entries of the queue."""
        size = len(self.pictures)
        images, texts, pictures = images[-size:], texts[-size:], pictures[-size:]
        places = (self.place + torch.arange(len(pictures), device=pictures.device)) % size
        self.images[places], self.texts[places], self.pictures[places] = images, texts, pictures
        self.place.copy_((self.place + len(pictures)) % size)
