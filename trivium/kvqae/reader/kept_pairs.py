"""Pairs of a training as `tokenize` gives them, put together of texts that are tokenised once each (kvqae.md §4–5).

Which passages a step pairs with a question is drawn in that step, and there are too many pairs to make them all ahead;
what the tokenizer makes of a text does not depend on what the text is paired with.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertTokenizer

from trivium.core.errors import BadInput
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.inputs import Example
from trivium.kvqae.reader.pairs import Pairs, tokenize
from trivium.nets.kept_tokens import keep_tokens
from trivium.nets.reader import answer_pieces

PairsOf = Callable[[Sequence[str], Sequence[int]], Pairs]  # of questions' texts and passages' numbers, side by side
_SPECIAL = 3  # [CLS] question [SEP] passage [SEP]


class KeptPairs:
    """`tokenize` of questions' texts and passages' numbers, without a tokenizer.

    Args:
        folder: of the training's own.
        tokenizer: BERT's.
        examples: of the training.
        texts: of their passages.
        max_tokens: a pair is cut to these.

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
        found = [ids for example in examples for ids in (example.relevant, example.irrelevant)]
        numbers = np.unique(np.concatenate(found)).tolist()
        self._question_rows, self._passage_rows = (
            {each: row for row, each in enumerate(asked)} for asked in (questions, numbers)
        )
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
