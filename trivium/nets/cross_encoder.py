"""BERT cross-encoder: the relevance of a passage to a question, read together (kvqae.md §4; Nogueira and Cho 2019).

The network is transformers' `BertForSequenceClassification` with one output: [CLS] of `[CLS] question [SEP] title [SEP]
text [SEP]`, through a perceptron with one hidden layer (BERT's pooler and a linear unit). One of a question's passages
is relevant in training: the scores' softmax over them is a distribution.
"""

import torch
from torch import Tensor
from transformers import BertForSequenceClassification

from trivium.nets.device import autocast


def relevance_scores(
    model: BertForSequenceClassification, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
) -> Tensor:
    """Score of each pair, (pairs,) float32; the inputs are (pairs, tokens), on any device.

    The last unit is computed in full precision: in bf16, with 8 bits, many passages of a question would tie.
    """
    device = model.device
    with autocast(device):
        pooled = model.bert(
            input_ids=input_ids.to(device, non_blocking=True),
            attention_mask=attention_mask.to(device, non_blocking=True),
            token_type_ids=token_type_ids.to(device, non_blocking=True),
        ).pooler_output
    return model.classifier(model.dropout(pooled.float()))[:, 0]


def one_relevant_loss(scores: Tensor) -> Tensor:
    """`−log softmax(scores)_0` of each question, (questions,).

    Args:
        scores: (questions, passages); the first passage is the relevant one.
    """
    return torch.logsumexp(scores, dim=1) - scores[:, 0]
