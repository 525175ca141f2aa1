"""Tokenise pairs of question and passage, and find the positions of answers (kvqae.md §5)."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import BertTokenizer

from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.inputs import Example
from trivium.measures.answers import AnswerMatcher
from trivium.nets.device import pick_device
from trivium.nets.pretrained import load_pretrained
from trivium.nets.reader import answer_pieces

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
    ordered, size = longest_first(pairs, texts), _BATCHES * batch
    parts = (ordered[start : start + size] for start in range(0, len(ordered), size))
    shards = ((part, texts.only(passage for _, passage in part)) for part in parts)
    on_gpu = engine.has_gpu(lambda: pick_device().type == "cuda")
    results = engine.map(read, shards, description=description, on_gpu=on_gpu, processes=1)
    return dict(zip(ordered, chain.from_iterable(results), strict=True))
