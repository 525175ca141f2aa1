"""Tokenise pairs of question and passage, read each once, and answer from any selection of passages (kvqae.md §5)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import BertForQuestionAnswering, BertTokenizer

from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.core.tables import in_groups
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.inputs import Example
from trivium.measures.answers import AnswerMatcher
from trivium.nets.device import autocast, pad_inputs, pick_device
from trivium.nets.feeding import Pipeline, Transfer, feeders
from trivium.nets.pretrained import export_trained, load_pretrained
from trivium.nets.reader import answer_pieces, best_spans

R = TypeVar("R")
Sampled = Sequence[tuple[Example, NDArray[np.int64]]]  # examples, each with the sampled passages
Pair = tuple[str, int]  # a question's text, a passage's number
_BATCHES = 64  # batches in a shard


class Pairs(NamedTuple):
    """Tokenised (question, passage) pairs; tensors are (pairs, tokens), padded at the end.

    Attributes:
        input_ids, attention_mask, token_type_ids: BERT's input.
        pieces: where answers may be, see `answer_pieces`.
        offsets: (pairs, tokens, 2) characters of each token in `title [SEP] text`, or in the question.
    """

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor
    pieces: Tensor
    offsets: NDArray[np.int64]

    def part(self, pairs: slice) -> "Pairs":
        """Return some of the pairs, padded to the longest of them, as `tokenize` would return them."""
        longest = int(self.attention_mask[pairs].sum(dim=1).max())
        return Pairs(*(column[pairs, :longest] for column in self))  # type: ignore[arg-type]


def load_pair_model(
    network: Any, folder: Path, what: str, max_tokens: int, *, new: tuple[str, ...], **options: Any
) -> tuple[Any, BertTokenizer]:
    """Load a BERT that reads `max_tokens` of question and passage, and its tokenizer, from a folder with safetensors.

    It is on the GPU if there is one. For the other arguments see `load_pretrained`. `BadInput`: not such a folder,
    weights that are missing or do not fit its configuration (the layer is named), or too few positions for
    `max_tokens`.
    """
    expected = "a Hugging Face folder of BERT"
    model, tokenizer = load_pretrained(
        network, folder, what, tokenizer=BertTokenizer, new=new, expected=expected, **options
    )
    positions = model.config.max_position_embeddings
    if max_tokens > positions:
        raise BadInput("more tokens than positions", file=folder, got=max_tokens, expected=f"≤ {positions}")
    tokenizer.padding_side = tokenizer.truncation_side = "right"  # whatever the folder says, see `Pairs`
    return model.to(pick_device()), tokenizer


def tokenize(
    tokenizer: BertTokenizer, questions: Sequence[str], passages: Sequence[tuple[str, str]], max_tokens: int
) -> Pairs:
    """Encode `question [SEP] title [SEP] text`, cut to `max_tokens`: the passage first, as it is the longer one."""
    encoded = tokenizer(
        list(questions),
        [SEPARATOR.join(passage) for passage in passages],
        truncation="longest_first",
        max_length=max_tokens,
        padding=True,
        return_token_type_ids=True,
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    input_ids, token_type_ids = encoded["input_ids"], encoded["token_type_ids"]
    return Pairs(
        input_ids=input_ids,
        attention_mask=encoded["attention_mask"],
        token_type_ids=token_type_ids,
        pieces=answer_pieces(input_ids, token_type_ids, tokenizer.sep_token_id),
        offsets=encoded["offset_mapping"].numpy(),
    )


def tokenize_sampled(tokenizer: BertTokenizer, sampled: Sampled, texts: PassageTexts, max_tokens: int) -> Pairs:
    """Tokenise each example's question with each of its passages, in their order."""
    questions = [example.question.text for example, ids in sampled for _ in ids]
    passages = [texts[passage] for _, ids in sampled for passage in ids.tolist()]
    return tokenize(tokenizer, questions, passages, max_tokens)


def answer_characters(matcher: AnswerMatcher, passage: tuple[str, str]) -> list[tuple[int, int]]:
    """Find answers in `title [SEP] text` as (start, end) characters; none crosses the separator."""
    title, text = passage
    shift = len(title) + len(SEPARATOR)
    return matcher.positions(title) + [(start + shift, end + shift) for start, end in matcher.positions(text)]


def answer_targets(pairs: Pairs, answers: Sequence[Sequence[tuple[int, int]]], most: int) -> tuple[Tensor, Tensor, int]:
    """Make start and end targets, (pairs, most): tokens of the first and last character of each answer, else −1.

    `answers` are the characters of each pair's answers; at most the first `most` that are not cut off count. Returns
    targets for start and end, only [CLS] in a pair without answer; and how many pairs lost all answers to the cut.
    """
    starts, ends = torch.full((2, len(pairs.input_ids), most), -1).unbind()
    cut = 0
    for row, spans in enumerate(answers):
        tokens = np.flatnonzero(pairs.pieces[row].numpy())
        first, last = pairs.offsets[row, tokens].T
        placed = 0
        for start, end in spans:
            # The first token that ends after the answer's start; the first that ends at or after the answer's end.
            begin, finish = np.searchsorted(last, start, side="right"), np.searchsorted(last, end, side="left")
            if placed < most and finish < len(tokens) and first[begin] < end:
                starts[row, placed], ends[row, placed] = int(tokens[begin]), int(tokens[finish])
                placed += 1
        if not placed:
            starts[row, 0] = ends[row, 0] = 0
            cut += bool(spans)
    return starts, ends, cut


def longest_first(pairs: Iterable[Pair], texts: PassageTexts) -> list[Pair]:
    """Sort distinct pairs by the length of their texts, longest first: batches then have similar lengths."""
    lengths = {pair: len(pair[0]) + sum(map(len, texts[pair[1]])) for pair in pairs}
    return sorted(lengths, key=lambda pair: (-lengths[pair], pair))


def map_pairs(
    read: Callable[[tuple[Sequence[Pair], PassageTexts]], Iterable[R]],
    pairs: Iterable[Pair],
    texts: PassageTexts,
    batch: int,
    engine: Engine,
    description: str,
) -> dict[Pair, R]:
    """Apply `read`, which returns a result for each pair, to all distinct pairs, in shards on the engine.

    A shard has whole batches of pairs, longest first, and the texts of their passages. On every machine, a pair is in a
    batch with the same other pairs.
    """
    ordered = longest_first(pairs, texts)
    shards = ((part, texts.only(passage for _, passage in part)) for part in in_groups(ordered, _BATCHES * batch))
    on_gpu = engine.has_gpu(lambda: pick_device().type == "cuda")
    results = engine.map(read, shards, description=description, on_gpu=on_gpu, processes=1)
    return dict(zip(ordered, chain.from_iterable(results), strict=True))


def load_reader(
    folder: Path, max_tokens: int, *, new_heads: bool = False
) -> tuple[BertForQuestionAnswering, BertTokenizer]:
    """Load a reader of so many tokens and its tokenizer; see `load_pair_model`.

    With `new_heads` the folder is a plain encoder, and the two heads are drawn from torch's generator.
    """
    new = ("qa_outputs.",) if new_heads else ()
    return load_pair_model(BertForQuestionAnswering, folder, "a reader", max_tokens, new=new)


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

    Pairs are cut to `max_tokens` and encoded in batches by length (halved when GPU memory runs out); answers have at
    most `longest` tokens. The model is left in evaluation mode.
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
        readings = []
        for (_, passage), start, end, (score, *masses) in zip(part, first, last, scores.tolist(), strict=True):
            if score == -np.inf:
                start = end = 0
            readings.append(Reading(SEPARATOR.join(texts[passage])[start:end], start, end, score, *masses))
        return readings

    ordered = longest_first(pairs, texts)
    pipeline = Pipeline(ordered, batch, make=make, launch=launch, collect=collect, workers=feeders())
    return dict(zip(ordered, chain.from_iterable(pipeline.with_progress("reading", "pair")), strict=True))


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
