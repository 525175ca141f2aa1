"""Questions paired with passages as the reader's tokens, and the positions of answers (kvqae.md §5)."""

from collections.abc import Callable, Iterator, Sequence
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
from trivium.nets.tokens import keep_tokens

R = TypeVar("R")
Pair = tuple[str, int]  # a question's text, a passage's number
_BATCHES = 64  # of a shard
_SPECIAL = 3  # [CLS] question [SEP] passage [SEP]


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


PairsOf = Callable[[Sequence[str], Sequence[int]], Pairs]  # of questions' texts and passages' numbers, side by side


def load_pair_model(
    network: Any, folder: Path, what: str, max_tokens: int, *, new: tuple[str, ...], **options: Any
) -> tuple[Any, BertTokenizer]:
    """A BERT that reads questions with passages, and its tokenizer, from a Hugging Face folder with safetensors.

    It is on the GPU if there is one. For the other arguments see `load_pretrained`.

    Raises:
        BadInput: not such a folder, weights that are missing or do not fit its configuration (the layer is named), or
            too few positions for `max_tokens`.
    """
    expected = "a Hugging Face folder of BERT"
    model, tokenizer = load_pretrained(
        network, folder, what, tokenizer=BertTokenizer, new=new, expected=expected, **options
    )
    positions = model.config.max_position_embeddings
    if max_tokens > positions:
        raise BadInput("more tokens than positions", file=folder, got=max_tokens, expected=f"≤ {positions}")
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


def answer_characters(matcher: AnswerMatcher, passage: tuple[str, str]) -> list[tuple[int, int]]:
    """Answers in `title [SEP] text` as (start, end) characters; none lies across the separator."""
    title, text = passage
    shift = len(title) + len(SEPARATOR)
    return matcher.positions(title) + [(start + shift, end + shift) for start, end in matcher.positions(text)]


def answer_targets(pairs: Pairs, answers: Sequence[Sequence[tuple[int, int]]], most: int) -> tuple[Tensor, Tensor, int]:
    """Start and end targets, (pairs, most): tokens that hold the first and last character of each answer, else −1.

    `answers`: of each pair, characters of its answers; at most the first `most` that are not cut off count.

    Returns:
        Targets for start and end, [CLS] alone in a pair without answer; and how many pairs lost all theirs to the cut.
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


def map_pairs(
    read: Callable[[tuple[Sequence[Pair], PassageTexts]], R],
    pairs: Sequence[Pair],
    texts: PassageTexts,
    batch: int,
    engine: Engine,
    description: str,
) -> Iterator[R]:
    """Apply `read`, on the engine, to shards of whole batches of pairs with the texts of their passages.

    The pairs are given longest first. A pair is read in one batch with the same others on every machine.
    """
    size = _BATCHES * batch
    parts = (pairs[start : start + size] for start in range(0, len(pairs), size))
    shards = ((part, texts.only(passage for _, passage in part)) for part in parts)
    on_gpu = engine.has_gpu(lambda: pick_device().type == "cuda")
    return engine.map(read, shards, description=description, on_gpu=on_gpu, processes=1)


class KeptPairs:
    """`tokenize` of questions' texts and passages' numbers, without a tokenizer: each text is tokenised once.

    Raises:
        BadInput: the tokenizer puts pairs together in another way than BERT's.
    """

    def __init__(
        self,
        folder: Path,
        tokenizer: BertTokenizer,
        examples: Sequence[Example],
        texts: PassageTexts,
        max_tokens: int,
    ) -> None:
        def passage_rows(numbers: Sequence[int]) -> list[NDArray[np.int32]]:
            return _rows(tokenizer, [SEPARATOR.join(texts[number]) for number in numbers])

        self._tokenizer, self._max_tokens = tokenizer, max_tokens
        questions = list(dict.fromkeys(example.question.text for example in examples))
        passages = [ids for example in examples for ids in (example.relevant, example.irrelevant)]
        numbers = np.unique(np.concatenate(passages)).tolist()
        self._question_rows = {question: row for row, question in enumerate(questions)}
        self._passage_rows = {number: row for row, number in enumerate(numbers)}
        self._questions = keep_tokens(folder / "questions", questions, lambda part: _rows(tokenizer, part))
        self._passages = keep_tokens(folder / "passages", numbers, passage_rows)
        # This also leaves the tokenizer, which is saved beside the model, set to cut and pad pairs.
        inline = tokenize(tokenizer, questions[:1], [texts[numbers[0]]], max_tokens)
        own = self(questions[:1], numbers[:1])
        if not (
            torch.equal(own.input_ids, inline.input_ids) and torch.equal(own.token_type_ids, inline.token_type_ids)
        ):
            raise BadInput("pairs are not put together as BERT's", got=tokenizer.decode(inline.input_ids[0]))

    def __call__(self, questions: Sequence[str], passages: Sequence[int]) -> Pairs:
        """The pairs of questions and passages, side by side."""
        pairs = [
            self._cut(self._questions[self._question_rows[question]], self._passages[self._passage_rows[passage]])
            for question, passage in zip(questions, passages, strict=True)
        ]
        shape = len(pairs), _SPECIAL + max(question.shape[1] + passage.shape[1] for question, passage in pairs)
        ids, offsets = np.full(shape, self._tokenizer.pad_token_id), np.zeros((*shape, 2), np.int64)
        mask, types = np.zeros((2, *shape), np.int64)
        for row, (question, passage) in enumerate(pairs):
            begin = question.shape[1] + 2
            end = begin + passage.shape[1]
            ids[row, 0] = self._tokenizer.cls_token_id
            ids[row, [begin - 1, end]] = self._tokenizer.sep_token_id
            for part, (tokens, *characters) in ((slice(1, begin - 1), question), (slice(begin, end), passage)):
                ids[row, part], offsets[row, part] = tokens, np.transpose(characters)
            mask[row, : end + 1] = types[row, begin : end + 1] = 1
        input_ids, attention_mask, token_type_ids = map(torch.from_numpy, (ids, mask, types))
        pieces = answer_pieces(input_ids, token_type_ids, self._tokenizer.sep_token_id)
        return Pairs(input_ids, attention_mask, token_type_ids, pieces, offsets)

    def _cut(
        self, question: NDArray[np.int32], passage: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Ids, starts and ends of both, (3, tokens), as many as fit: the longer one is cut, or both to one half."""
        parts = question.reshape(3, -1), passage.reshape(3, -1)
        first, second = (part.shape[1] for part in parts)
        room = self._max_tokens - _SPECIAL
        if first + second > room:
            shorter = min(first, second, room // 2)
            first, second = (shorter, room - shorter) if first <= second else (room - shorter, shorter)
        return parts[0][:, :first], parts[1][:, :second]


def _rows(tokenizer: BertTokenizer, texts: Sequence[str]) -> list[NDArray[np.int32]]:
    """Of each text its tokens' ids, then where they start in it, then where they end, in characters."""
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        return_token_type_ids=False,
        return_attention_mask=False,
        return_offsets_mapping=True,
        verbose=False,  # a text may be longer than what the model reads
    )
    return [
        np.concatenate([np.asarray(ids, np.int32), *np.asarray(offsets, np.int32).reshape(-1, 2).T])
        for ids, offsets in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
    ]
