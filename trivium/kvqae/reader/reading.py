"""Read every (question, passage) pair once, then answer from any selection of passages (kvqae.md §5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertForQuestionAnswering, BertTokenizer

from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.pairs import Pair, Pairs, load_pair_model, longest_first, tokenize
from trivium.nets.device import autocast, pad_inputs
from trivium.nets.feeding import Pipeline, Transfer, feeders
from trivium.nets.pretrained import export_trained
from trivium.nets.reader import best_spans

HEADS = ("qa_outputs.",)


def load_reader(
    folder: Path, max_tokens: int, *, new_heads: bool = False
) -> tuple[BertForQuestionAnswering, BertTokenizer]:
    """Load a reader of so many tokens and its tokenizer; see `load_pair_model`.

    With `new_heads` the folder is a plain encoder, and the two heads are drawn from torch's generator.
    """
    return load_pair_model(BertForQuestionAnswering, folder, "a reader", max_tokens, new=HEADS if new_heads else ())


save_reader = partial(  # writes what `load_reader` reads
    export_trained,
    title="Multi-passage BERT reader",
    description=(
        "Extracts a short answer from several passages of one question: start and end heads whose softmax is shared "
        "over the passages (Lerner et al., TAL 2022, section 7)."
    ),
)


@dataclass(frozen=True)
class Reading:
    """The best span of one passage.

    Attributes:
        answer: text of the best span; empty if the passage has no candidate.
        start, end: its characters in `title [SEP] text`.
        score: start logit + end logit.
        start_mass, end_mass: log Σ exp(logit) over the passage.
    """

    answer: str
    start: int
    end: int
    score: float
    start_mass: float
    end_mass: float


@dataclass(frozen=True)
class Answer:
    """A question's answer; without passages it is empty, with passage −1 and score 0.

    Attributes:
        prediction: text of the answer.
        score: P(start)·P(end), times the passage's weight if there are weights.
        passage: passage that contains it.
        start, end: its characters in `title [SEP] text`.
        spans: characters of the best span of every passage read, in their order: the answer from that passage alone.
    """

    prediction: str = ""
    score: float = 0.0
    passage: int = -1
    start: int = 0
    end: int = 0
    spans: tuple[tuple[int, int], ...] = ()


def read_pairs(
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    pairs: Sequence[Pair],
    texts: PassageTexts,
    *,
    max_tokens: int,
    longest: int,
    batch: int,
) -> dict[Pair, Reading]:
    """Find the best span of each distinct pair (question text, passage id), in `title [SEP] text`.

    Pairs are cut to `max_tokens` and encoded in batches by length (halved when GPU memory runs out); results do not
    depend on their order. The model is left in evaluation mode.

    Args:
        longest: most tokens in an answer.
    """
    model.eval()
    device = model.device

    def make(part: Sequence[Pair]) -> tuple[Sequence[Pair], Pairs]:
        passages = [texts[passage] for _, passage in part]
        return part, tokenize(tokenizer, [question for question, _ in part], passages, max_tokens)

    def launch(tokenised: tuple[Sequence[Pair], Pairs]) -> Transfer:
        *tensors, _ = tokenised[1]
        with torch.inference_mode(), autocast(device):
            ids, mask, types, pieces = pad_inputs(model, *(part.to(device, non_blocking=True) for part in tensors))
            output = model(input_ids=ids, attention_mask=mask, token_type_ids=types)
            spans = best_spans(output.start_logits, output.end_logits, mask.bool(), pieces, longest)
            scores = torch.stack([spans.scores, spans.start_mass, spans.end_mass], dim=1)
            return Transfer(spans.starts, spans.ends, scores)

    def collect(tokenised: tuple[Sequence[Pair], Pairs], transfer: Transfer) -> list[Reading]:
        part, tokens = tokenised
        starts, ends, scores = transfer.wait()
        rows = np.arange(len(part))
        first = tokens.offsets[rows, starts.numpy(), 0].tolist()
        last = tokens.offsets[rows, ends.numpy(), 1].tolist()
        passages = (SEPARATOR.join(texts[passage]) for _, passage in part)
        return [_reading(*parts) for parts in zip(passages, first, last, scores.tolist(), strict=True)]

    ordered = longest_first(pairs, texts)
    pipeline = Pipeline(ordered, batch, make=make, launch=launch, collect=collect, workers=feeders())
    return dict(zip(ordered, chain.from_iterable(pipeline.with_progress("reading", "pair")), strict=True))


def _reading(passage: str, start: int, end: int, scores: Sequence[float]) -> Reading:
    score, start_mass, end_mass = scores
    if score == -np.inf:
        start = end = 0
    return Reading(passage[start:end], start, end, score, start_mass, end_mass)


def passage_weights(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert the scores of one question's passages to weights ≥ 1: shifted up by `max(0, 1 − lowest)`.

    The lowest score is that of this question, so an answer does not depend on the other questions of a batch.
    """
    return scores + max(0.0, 1.0 - scores.min())


def answer(
    question: str,
    passages: Sequence[int],
    readings: dict[Pair, Reading],
    weights: NDArray[np.float64] | None = None,
) -> Answer:
    """Find the best span of these passages: `argmax w_m · P(start) · P(end)`, with one softmax over all of them.

    The score is `a = exp(score − log Σ_m exp(start_mass_m) − log Σ_m exp(end_mass_m))`, then `a ← a·w_m`. Ties go to
    the higher-ranked passage. `weights` are (passages,) > 0; None for 1.
    """
    read = [readings[question, passage] for passage in passages]
    spans = tuple((reading.start, reading.end) for reading in read)
    scores = np.array([reading.score for reading in read])
    if not np.isfinite(scores).any():
        return Answer(spans=spans)
    normaliser = sum(
        np.logaddexp.reduce([getattr(reading, mass) for reading in read]) for mass in ("start_mass", "end_mass")
    )
    log_probabilities = scores - normaliser
    if weights is not None:
        log_probabilities += np.log(weights)
    best = int(log_probabilities.argmax())
    reading, probability = read[best], float(np.exp(log_probabilities[best]))
    return Answer(reading.answer, probability, int(passages[best]), reading.start, reading.end, spans)
