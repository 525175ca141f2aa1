"""BERTs that compare texts: dual encoder and cross-encoder, with their losses.

- Dual encoder (kvqae.md §3, Karpukhin et al. 2020): two BERTs that share nothing, one vector a text, inner product.
- Cross-encoder (kvqae.md §4; Nogueira and Cho 2019): transformers' `BertForSequenceClassification` with one output:
  [CLS] of `[CLS] question [SEP] title [SEP] text [SEP]`, through a perceptron with one hidden layer (BERT's pooler and
  a linear unit). One of a question's passages is relevant in training: the scores' softmax over them is a distribution.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import BertForSequenceClassification, PreTrainedModel

from trivium.nets.device import autocast, linear, pad_inputs


def cls_vectors(encoder: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """Compute the last layer's states at [CLS], (texts, width) float32, not normalised; bf16 inside on a GPU.

    Segment ids are 0 throughout, also after the [SEP] between title and text, as in the published DPR weights.
    """
    # Not around the loss: gradient caching runs encoders again from a backward hook, in another thread.
    ids, mask = pad_inputs(encoder, input_ids, attention_mask)
    with autocast(input_ids.device):
        states: Tensor = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    return states[:, 0].float()


def relevance_scores(
    model: BertForSequenceClassification, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
) -> Tensor:
    """Score pairs, (pairs,) float32; the inputs are (pairs, tokens), on any device.

    The last layer is computed in full precision: in bf16, with 8 bits, many passages of a question would tie.
    """
    device = model.device
    inputs = (tensor.to(device, non_blocking=True) for tensor in (input_ids, attention_mask, token_type_ids))
    ids, mask, types = pad_inputs(model, *inputs)
    with autocast(device):
        states = model.bert(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        assert model.bert.pooler is not None  # it belongs to the architecture
        pooled = torch.tanh(linear(model.bert.pooler.dense, states[:, 0]))
    return linear(model.classifier, model.dropout(pooled.float()))[:, 0]


def one_relevant_loss(scores: Tensor) -> Tensor:
    """Compute `−log softmax(scores)_0`, (questions,), of scores (questions, passages), the relevant passage first."""
    return torch.logsumexp(scores, dim=1) - scores[:, 0]


TOWERS = ("question", "passage")


class DualEncoder(nn.ModuleList):
    """The two towers, in the order of `TOWERS`, callable as sentence-transformers' losses call a model."""

    def __init__(self, question: PreTrainedModel, passage: PreTrainedModel) -> None:
        super().__init__([question, passage])

    @property
    def question(self) -> PreTrainedModel:
        """The encoder of questions."""
        return cast(PreTrainedModel, self[0])

    @property
    def passage(self) -> PreTrainedModel:
        """The encoder of passages."""
        return cast(PreTrainedModel, self[1])

    def forward(self, features: dict[str, Any]) -> dict[str, Tensor]:
        """Encode a batch with `tower` (one of `TOWERS`), `input_ids` and `attention_mask`, both (texts, tokens).

        Returns `sentence_embedding` (texts, width).
        """
        encoder = self.question if features["tower"] == "question" else self.passage
        return {"sentence_embedding": cls_vectors(encoder, features["input_ids"], features["attention_mask"])}


def inner_product(questions: Tensor, passages: Tensor) -> Tensor:
    """Compute inner products, (questions, passages) float32."""
    return questions @ passages.T


def in_batch_loss(model: DualEncoder, mini_batch_size: int, batch_size: int) -> nn.Module:
    """Make the cross-entropy of each question's positive among all positives and hard negatives of a batch.

    `-log exp(q_i·p_i) / Σ_j (exp(q_i·p_j) + exp(q_i·n_j))`, mean over questions i. The returned module takes the
    features of questions, positives and negatives, and labels, which it ignores.

    Args:
        model: the dual encoder.
        mini_batch_size: texts that a tower holds activations of. If it is smaller than the batch, gradients are cached
            (Gao et al. 2021): the same value and gradient with one more forward pass, in constant memory.
        batch_size: questions a batch.
    """
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )

    anything: Any = model  # annotated as a SentenceTransformer, but only called
    if mini_batch_size >= batch_size:
        return MultipleNegativesRankingLoss(anything, scale=1.0, similarity_fct=inner_product)
    return CachedMultipleNegativesRankingLoss(
        anything, scale=1.0, similarity_fct=inner_product, mini_batch_size=mini_batch_size
    )
