"""Losses and decoding of multi-passage BERT: one softmax over all passages of a question (kvqae.md §5).

The network is transformers' `BertForQuestionAnswering`: an encoder and two linear heads, start and end, on `[CLS]
question [SEP] title [SEP] text [SEP]`. This module has what makes it multi-passage (Wang et al. 2019): the shared
softmax, the loss and the decoding. The softmax runs over every token that is not padding, [CLS] and the question
included, as in the paper; only spans within a title or a text can be decoded.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

PassageReduction = Literal["mean", "max"]


def shared_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Compute `log P(t)`, normalised over all tokens of all passages of one question.

    Args:
        logits: (passages, tokens).
        mask: (passages, tokens) bool, False on padding, which gets −∞.
    """
    masked = logits.float().masked_fill(~mask, -torch.inf)
    return masked.flatten().log_softmax(dim=0).view_as(logits)


def marginal_losses(log_probabilities: Tensor, targets: Tensor) -> Tensor:
    """Compute `−log Σ_{t ∈ T_m} P(t)` of each passage m, (passages,).

    Args:
        log_probabilities: (passages, tokens), from `shared_log_softmax`.
        targets: (passages, tokens) bool, T_m: the answer positions, or [CLS] alone. None is empty.
    """
    return -log_probabilities.masked_fill(~targets, -torch.inf).logsumexp(dim=1)


def as_targets(places: Tensor, tokens: int) -> Tensor:
    """Convert places (passages, slots), −1 for none, to masks (passages, tokens) bool."""
    targets = places.new_zeros(len(places), tokens + 1, dtype=torch.bool)
    return targets.scatter(1, places.masked_fill(places < 0, tokens), True)[:, :tokens]


def question_loss(
    start_logits: Tensor,
    end_logits: Tensor,
    mask: Tensor,
    starts: Tensor,
    ends: Tensor,
    reduction: PassageReduction = "mean",
) -> Tensor:
    """Compute the loss of one question.

    `mean`: start plus end, each the mean of its passages' marginal losses. Each passage has its own term, since in one
    sum over the targets of all passages the many [CLS] would dominate.

    `max`, as in the authors' first code: `−log Σ_k min_m P(start_mk)·P(end_mk)` over the k-th answers of the passages m
    that have so many: of each k only the worst passage counts.

    Args:
        start_logits, end_logits, mask: (passages, tokens).
        starts, ends: (passages, slots) first and last token of each answer, −1 where there are fewer.
        reduction: how the passages are combined.
    """
    log_starts, log_ends = shared_log_softmax(start_logits, mask), shared_log_softmax(end_logits, mask)
    if reduction == "mean":
        tokens = mask.shape[1]
        of_starts = marginal_losses(log_starts, as_targets(starts, tokens))
        return of_starts.mean() + marginal_losses(log_ends, as_targets(ends, tokens)).mean()
    spans = log_starts.gather(1, starts.clamp(min=0)) + log_ends.gather(1, ends.clamp(min=0))
    absent = starts < 0
    worst = spans.masked_fill(absent, torch.inf).amin(dim=0)
    return -worst[~absent.all(dim=0)].logsumexp(dim=0)


def answer_pieces(input_ids: Tensor, token_type_ids: Tensor, separator: int) -> Tensor:
    """Mark where answers may be, (passages, tokens): 0 nowhere, 1 title, 2 text (3… if a text contains [SEP]).

    Args:
        input_ids, token_type_ids: (passages, tokens); type 1 from the title on, and 0 on padding.
        separator: the id of [SEP].
    """
    passage = token_type_ids == 1
    separators = passage & (input_ids == separator)
    return (1 + separators.cumsum(dim=1)) * (passage & ~separators)


@dataclass(frozen=True)
class PassageSpans:
    """The best span of each passage, and values to compute its probability; all (passages,).

    Attributes:
        scores: start logit + end logit; −∞ where the passage has no candidate.
        starts, ends: first and last token.
        start_mass, end_mass: log Σ exp(logit) over the passage's tokens: the passage's part of the shared softmax.
    """

    scores: Tensor
    starts: Tensor
    ends: Tensor
    start_mass: Tensor
    end_mass: Tensor


def best_spans(start_logits: Tensor, end_logits: Tensor, mask: Tensor, pieces: Tensor, longest: int) -> PassageSpans:
    """Find the span of at most `longest` tokens with the highest P(start)·P(end) in each passage.

    The softmax's normaliser is the same for all spans of a question, so the best span of any set of its passages is the
    best of their best spans: a passage is read once, whatever passages it is ranked with. Its probability among
    passages m is `exp(score − logsumexp_m start_mass − logsumexp_m end_mass)`. Ties: first start, then shortest.
    """
    start_logits, end_logits = start_logits.float(), end_logits.float()
    # Row t holds the end logits of tokens t … t + longest − 1.
    ends = functional.pad(end_logits, (0, longest - 1)).unfold(1, longest, 1)
    end_pieces = functional.pad(pieces, (0, longest - 1)).unfold(1, longest, 1)
    valid = (pieces[..., None] > 0) & (pieces[..., None] == end_pieces)
    scores = torch.where(valid, start_logits[..., None] + ends, -torch.inf).flatten(1)
    best = scores.argmax(dim=1)
    starts = best // longest
    return PassageSpans(
        scores=scores.gather(1, best[:, None])[:, 0],
        starts=starts,
        ends=starts + best % longest,
        start_mass=_mass(start_logits, mask),
        end_mass=_mass(end_logits, mask),
    )


def _mass(logits: Tensor, mask: Tensor) -> Tensor:
    """Compute log Σ exp(logit) over the mask in float64, so that padding does not change it.

    Args:
        logits, mask: (passages, tokens).
    """
    return logits.double().masked_fill(~mask, -torch.inf).logsumexp(dim=1).float()
