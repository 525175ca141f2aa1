"""The re-ranker of passages on disk and at work: load, save, score (kvqae.md §4)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm
from transformers import BertForSequenceClassification, BertTokenizer

from trivium.errors import BadInput
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.inputs import tokenize
from trivium.measures.reorder import reorder
from trivium.measures.runs import PADDING, Run
from trivium.nets.cross_encoder import relevance_scores
from trivium.nets.device import halving_batches
from trivium.nets.pretrained import export_trained, load_pretrained

PERCEPTRON = ("bert.pooler.dense.", "classifier.")


def load_cross_encoder(
    folder: Path, *, new_perceptron: bool = False
) -> tuple[BertForSequenceClassification, BertTokenizer]:
    """A cross-encoder and its tokenizer.

    Args:
        folder: Hugging Face folder with safetensors.
        new_perceptron: start from a plain encoder: what it lacks of the perceptron is drawn from torch's generator.

    Raises:
        BadInput: not such a folder, or weights that are missing or do not fit its configuration and one output (the
            layer is named).
    """
    return load_pretrained(
        BertForSequenceClassification,
        folder,
        "a cross-encoder",
        tokenizer=BertTokenizer,
        new=PERCEPTRON if new_perceptron else (),
        expected="a Hugging Face folder of BERT",
        num_labels=1,
    )


save_cross_encoder = partial(  # what `load_cross_encoder` reads
    export_trained,
    title="Cross-encoder of questions and passages",
    description=(
        "Scores how relevant a passage is to a question, read together; trained with a softmax over one relevant "
        "passage and others that were retrieved with it (Lerner et al., TAL 2022, section 6.2)."
    ),
)


def check_positions(model: BertForSequenceClassification, max_tokens: int) -> None:
    """Refuse more tokens than the encoder has positions."""
    positions = model.config.max_position_embeddings
    if max_tokens > positions:
        raise BadInput("more tokens than the cross-encoder has positions", got=max_tokens, expected=f"≤ {positions}")


def score_pairs(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    pairs: Sequence[tuple[str, int]],
    texts: PassageTexts,
    *,
    max_tokens: int,
    batch: int,
) -> NDArray[np.float64]:
    """Relevance of each (question text, passage id), (pairs,): any real number, higher is better.

    Pairs are batched by length; their order plays no role, nor does the batch beyond rounding.

    Args:
        model, tokenizer: the cross-encoder; it is left in evaluation mode.
        pairs: each scored once, however often it occurs.
        texts: of the passages.
        max_tokens: a pair is cut to these.
        batch: pairs scored together (halved when GPU memory runs out).

    Raises:
        BadInput: more tokens than positions.
    """
    check_positions(model, max_tokens)
    model.eval()

    def score(part: Sequence[tuple[str, int]]) -> list[float]:
        questions, passages = zip(*part, strict=True)
        encoded = tokenize(tokenizer, questions, [texts[passage] for passage in passages], max_tokens)
        with torch.inference_mode():
            return relevance_scores(model, encoded.input_ids, encoded.attention_mask, encoded.token_type_ids).tolist()

    lengths = {pair: len(pair[0]) + sum(map(len, texts[pair[1]])) for pair in pairs}
    ordered = sorted(lengths, key=lambda pair: (-lengths[pair], pair))  # similar lengths together, longest first
    scores: list[float] = []
    short = len(ordered) <= batch
    with tqdm(total=len(ordered), desc="scoring", unit="pair", mininterval=5, leave=False, disable=short) as progress:
        for part in halving_batches(ordered, batch, score):
            scores += part
            progress.update(len(part))
    found = dict(zip(ordered, scores, strict=True))
    return np.array([found[pair] for pair in pairs], dtype=np.float64)


def rerank_run(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    questions: Sequence[Question],
    run: Run,
    texts: PassageTexts,
    *,
    max_tokens: int,
    batch: int,
) -> Run:
    """The run's lists in the order of the cross-encoder's scores; equal scores keep the run's order.

    Args:
        model, tokenizer, texts, max_tokens, batch: as in `score_pairs`.
        questions: one a row of the run.
        run: lists to re-rank, whole.
    """
    rows, columns = np.nonzero(run.documents != PADDING)
    pairs = [
        (questions[row].text, passage)
        for row, passage in zip(rows.tolist(), run.documents[rows, columns].tolist(), strict=True)
    ]
    scores = np.full(run.documents.shape, np.nan)
    scores[rows, columns] = score_pairs(model, tokenizer, pairs, texts, max_tokens=max_tokens, batch=batch)
    return reorder(run, scores)
