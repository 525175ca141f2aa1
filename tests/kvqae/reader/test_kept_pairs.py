"""Pairs that are put together of kept tokens are the tokenizer's own, to the bit, and need it no more."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from tokenizers.processors import TemplateProcessing
from transformers import BertTokenizer

from tests.kvqae.tiny_reader import NAMES, WORDS, write_bert
from tests.kvqae.tiny_training import inline_pairs
from trivium.core.errors import BadInput
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.inputs import Example
from trivium.kvqae.reader.pairs import KeptPairs
from trivium.measures.answers import AnswerMatcher

LENGTHS = (0, 1, 2, 5, 6, 7, 13, 14, 30)
UNUSUAL = ["Évora", "naïveté", "日本", "[SEP]", "[MASK]", "İzmir", "zebra"]


@pytest.fixture
def tokenizer(tmp_path):
    return BertTokenizer.from_pretrained(write_bert(tmp_path / "bert"))


@pytest.fixture
def texts():
    """Passages 1, 4, 7, …, of every length in `LENGTHS`."""
    rng = np.random.default_rng(0)
    found = [" ".join(rng.choice([*WORDS, *NAMES, *UNUSUAL], length)) for length in LENGTHS]
    titles = [f"{NAMES[row]} {UNUSUAL[row % 7]}" for row in range(len(found))]
    return PassageTexts(np.arange(len(found)) * 3 + 1, pa.array(titles), pa.array(found))


@pytest.fixture
def examples(texts):
    rng = np.random.default_rng(1)
    questions = [" ".join(rng.choice([*WORDS, *UNUSUAL], length)) for length in LENGTHS]
    matcher = AnswerMatcher(["home"])
    return [
        Example(Question("q", text, ("home",), "home"), matcher, texts.ids[:1], texts.ids[1:]) for text in questions
    ]


def assert_same(found, expected):
    for each, other in zip(found, expected, strict=True):
        assert each.dtype == other.dtype
        np.testing.assert_array_equal(each, other)


@pytest.mark.parametrize("max_tokens", [8, 9, 16, 31, 64])
def test_as_the_tokenizer_puts_pairs_together(tokenizer, texts, examples, tmp_path, max_tokens):
    """Whichever of both is longer, wherever the cut falls."""
    kept = KeptPairs(tmp_path / "tokens", tokenizer, examples, texts, max_tokens)
    inline = inline_pairs(tokenizer, texts, max_tokens)
    pairs = list(product([example.question.text for example in examples], texts.ids.tolist()))
    assert_same(kept(*zip(*pairs, strict=True)), inline(*zip(*pairs, strict=True)))
    for question, passage in pairs:  # each padded to itself alone
        assert_same(kept([question], [passage]), inline([question], [passage]))


def test_a_tokenizer_that_puts_pairs_together_in_another_way(tokenizer, texts, examples, tmp_path):
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")],
    )
    with pytest.raises(BadInput, match="pairs are not put together as BERT's"):
        KeptPairs(tmp_path / "tokens", tokenizer, examples, texts, 16)
