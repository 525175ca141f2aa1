import numpy as np
import pytest
from transformers import BertTokenizer

from tests.kvqae.tiny_reader import write_bert
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR
from trivium.kvqae.reader.reading import answer_characters, answer_targets, tokenize
from trivium.measures.answers import AnswerMatcher, normalize_answer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return BertTokenizer.from_pretrained(write_bert(tmp_path_factory.mktemp("bert") / "base"))


def found(tokenizer, answers, title, text, *, most=10, max_tokens=64):
    """The answers that the targets point at, as they stand in the passage, and the number of cut passages."""
    pairs = tokenize(tokenizer, ["where ?"], [(title, text)], max_tokens)
    spans = answer_characters(AnswerMatcher(answers), (title, text))
    starts, ends, cut = answer_targets(pairs, [spans], most)
    characters = title + SEPARATOR + text
    begin = [pairs.offsets[0, token, 0] for token in starts[0] if token >= 0]
    finish = [pairs.offsets[0, token, 1] for token in ends[0] if token >= 0]
    return [characters[first:last] for first, last in zip(begin, finish, strict=True)], cut


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("new york", "he lived in New York, at home."),
        ("New-York", "born in NewYork ."),
        ("the beatles", "he is a Beatles man"),
        ("U.S.A.", "in the USA, he"),
        ("Évora", "born in Évora."),
        ("o'hara", "was O’Hara O'Hara at home"),
        ('"hull"', "he lived in 'Hull' at home"),
        ("man home", "is man, the home ."),
        ("30", "in 30 or 300"),
    ],
)
def test_targets_hold_the_answer_and_nothing_else(tokenizer, answer, text):
    (only,), cut = found(tokenizer, [answer], "bob", text)
    assert normalize_answer(only) == normalize_answer(answer)
    assert cut == 0


def test_every_occurrence_of_every_alias_counts_in_title_and_text(tokenizer):
    answers, _ = found(tokenizer, ["cork", "hull"], "Cork", "Hull, cork city. he lived in cork")
    assert answers == ["Cork", "Hull", "cork", "cork"]


def test_starts_and_ends_of_overlapping_aliases(tokenizer):
    text = "cork city."
    pairs = tokenize(tokenizer, ["where ?"], [("bob", text)], 64)
    spans = answer_characters(AnswerMatcher(["cork", "cork city"]), ("bob", text))
    starts, ends, _ = answer_targets(pairs, [spans], 10)
    shift = len("bob" + SEPARATOR)
    assert (starts[0, 2:] == -1).all()
    assert (pairs.offsets[0, starts[0, :2], 0] - shift).tolist() == [0, 0]
    assert (pairs.offsets[0, ends[0, :2], 1] - shift).tolist() == [4, 9]


def test_an_answer_beyond_the_cut_is_counted_and_points_at_cls(tokenizer):
    pairs = tokenize(tokenizer, ["where ?"], [("bob", "he lived at home in hull")], 9)
    spans = answer_characters(AnswerMatcher(["hull"]), ("bob", "he lived at home in hull"))
    starts, ends, cut = answer_targets(pairs, [spans], 10)
    assert starts.tolist() == ends.tolist() == [[0] + [-1] * 9]
    assert cut == 1


def test_no_answer_across_title_and_text():
    assert answer_characters(AnswerMatcher(["hull home", "sep"]), ("hull", "home")) == []


@pytest.mark.parametrize("max_tokens", [8, 16, 64])
def test_some_of_the_pairs_are_as_if_they_were_tokenised_by_themselves(tokenizer, max_tokens):
    questions = ["where ?", "who is he , a man ?", "where ?", "who ?"]
    passages = [("Évora", "he is " * length) for length in (3, 40, 0, 7)]
    whole = tokenize(tokenizer, questions, passages, max_tokens)
    for part in (slice(0, 4), slice(0, 1), slice(2, 4), slice(1, 2)):
        for own, alone in zip(
            whole.part(part), tokenize(tokenizer, questions[part], passages[part], max_tokens), strict=True
        ):
            np.testing.assert_array_equal(own, alone)
