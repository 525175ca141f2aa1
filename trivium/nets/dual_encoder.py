"""Dual encoder: two BERTs that share nothing, one vector a text, inner product (kvqae.md §3, Karpukhin et al. 2020)."""

from typing import Any, cast

from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    MultipleNegativesRankingLoss,
)
from torch import Tensor, nn
from transformers import PreTrainedModel

from trivium.nets.bert import cls_vectors

TOWERS = ("question", "passage")


class DualEncoder(nn.ModuleList):
    """The two towers, callable as sentence-transformers' losses call a model.

    Args:
        question, passage: encoders, in the order of `TOWERS`.
    """

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
        """Encode one batch.

        Args:
            features: `tower` (one of `TOWERS`), `input_ids` and `attention_mask`, both (texts, tokens).

        Returns:
            `sentence_embedding` (texts, width).
        """
        encoder = self.question if features["tower"] == "question" else self.passage
        return {"sentence_embedding": cls_vectors(encoder, features["input_ids"], features["attention_mask"])}


def inner_product(questions: Tensor, passages: Tensor) -> Tensor:
    """(questions, passages) float32 scores."""
    return questions @ passages.T


def in_batch_loss(model: DualEncoder, mini_batch_size: int, batch_size: int) -> nn.Module:
    """Cross-entropy of each question's positive among all positives and hard negatives of the batch.

    `-log exp(q_i·p_i) / Σ_j (exp(q_i·p_j) + exp(q_i·n_j))`, mean over questions i. Called with the features of
    questions, positives and negatives, and labels that it ignores.

    Args:
        model: to be trained.
        mini_batch_size: texts that a tower holds activations of. Where it is smaller than the batch, gradients are
            cached (Gao et al. 2021): the same value and gradient for one more forward pass, in constant memory.
        batch_size: questions a batch.
    """
    anything: Any = model  # the losses are annotated for a SentenceTransformer, and only call it
    if mini_batch_size >= batch_size:
        return MultipleNegativesRankingLoss(anything, scale=1.0, similarity_fct=inner_product)
    return CachedMultipleNegativesRankingLoss(
        anything, scale=1.0, similarity_fct=inner_product, mini_batch_size=mini_batch_size
    )
