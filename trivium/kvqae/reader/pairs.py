"""What the reader sees: questions paired with passages, tokens, answer positions (kvqae.md §5)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import BertTokenizer

from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR
from trivium.measures.answers import AnswerMatcher
from trivium.nets.reader import answer_pieces


class Pairs(NamedTuple):
    """Tokenised (question, passage) pairs; tensors are (pairs, tokens), padded at the end.

    Attributes:
        input_ids, attention_mask, token_type_ids: BERT's input.
        pieces: where answers may lie, see `answer_pieces`.
        offsets: (pairs, tokens, 2) characters of each token in `title [SEP] text` (in the question for its tokens).
    """

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor
    pieces: Tensor
    offsets: NDArray[np.int64]


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


def answer_characters(matcher: AnswerMatcher, passage: tuple[str, str]) -> list[tuple[int, int]]:
    """Answers in `title [SEP] text` as (start, end) characters; none lies across the separator."""
    title, text = passage
    shift = len(title) + len(SEPARATOR)
    return matcher.positions(title) + [(start + shift, end + shift) for start, end in matcher.positions(text)]


def answer_targets(pairs: Pairs, answers: Sequence[Sequence[tuple[int, int]]], most: int) -> tuple[Tensor, Tensor, int]:
    """Start and end targets, (pairs, most): tokens that hold the first and last character of each answer, else −1.

    Args:
        pairs: as tokenised.
        answers: of each pair, characters of its answers; at most the first `most` that are not cut off count.
        most: answer positions a passage.

    Returns:
        Targets for start and end, [CLS] alone in a pair without answer; and how many pairs lost all theirs to the cut.
    """
    starts, ends = torch.full((2, len(pairs.input_ids), most), -1).unbind()
    cut = 0
    for row, spans in enumerate(answers):
        tokens = np.flatnonzero(pairs.pieces[row].numpy())
        first, last = pairs.offsets[row, tokens].T
        found = 0
        for start, end in spans:
            # The first token that ends after the answer's start; the first that ends at or after the answer's end.
            begin, finish = np.searchsorted(last, start, side="right"), np.searchsorted(last, end, side="left")
            if found < most and finish < len(tokens) and first[begin] < end:
                starts[row, found], ends[row, found] = int(tokens[begin]), int(tokens[finish])
                found += 1
        if not found:
            starts[row, 0] = ends[row, 0] = 0
            cut += bool(spans)
    return starts, ends, cut
