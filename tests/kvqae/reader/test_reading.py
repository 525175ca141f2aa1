import json
import math
import shutil

import numpy as np
import pytest
import torch
from transformers import BertTokenizer

from tests.kvqae.tiny_reader import write_bert, write_world
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, read_passage_texts
from trivium.kvqae.reader.reading import (
    Reading,
    answer,
    answer_characters,
    answer_targets,
    load_reader,
    passage_weights,
    read_pairs,
    tokenize,
)
from trivium.measures.answers import AnswerMatcher, normalize_answer
from trivium.nets.reader import shared_log_softmax

QUESTION = "where was this man born ?"
PASSAGES = [0, 5, 8, 3, 12]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def reader(world):
    torch.manual_seed(3)
    model, tokenizer = load_reader(world.base, 32, new_heads=True)
    model.cpu()  # in full precision
    with torch.no_grad():
        model.qa_outputs.weight.mul_(100)  # random heads with opinions
    return model, tokenizer, read_passage_texts(world.kb, np.arange(24))


def read(reader, pairs, batch=16, longest=3):
    model, tokenizer, texts = reader
    return read_pairs(model, tokenizer, pairs, texts, max_tokens=32, longest=longest, batch=batch)


def test_a_folder_that_pads_and_cuts_on_the_left_is_read_as_any_other(reader, world, tmp_path):
    shutil.copytree(world.base, tmp_path / "left")
    file = tmp_path / "left" / "tokenizer_config.json"
    settings = json.loads(file.read_text()) | {"padding_side": "left", "truncation_side": "left"}
    file.write_text(json.dumps(settings))
    passages = [("w1", "w2 w3"), ("w4", "w5 " * 40)]
    expected, found = (
        tokenize(tokenizer, [QUESTION] * 2, passages, 24)
        for tokenizer in (reader[1], load_reader(tmp_path / "left", 32, new_heads=True)[1])
    )
    assert found.input_ids.tolist() == expected.input_ids.tolist()


def jointly(reader, passages, weights, longest=3):
    """All passages in one batch, every span under one softmax: what `answer` must agree with."""
    model, tokenizer, texts = reader
    pairs = tokenize(tokenizer, [QUESTION] * len(passages), [texts[passage] for passage in passages], 32)
    with torch.inference_mode():
        output = model.eval()(
            input_ids=pairs.input_ids, attention_mask=pairs.attention_mask, token_type_ids=pairs.token_type_ids
        )
    mask = pairs.attention_mask.bool()
    start, end = (shared_log_softmax(each, mask).exp() for each in (output.start_logits, output.end_logits))
    best = (0.0, None)
    for row, passage in enumerate(passages):
        for first in range(pairs.pieces.shape[1]):
            for last in range(first, min(first + longest, pairs.pieces.shape[1])):
                if len(set(pairs.pieces[row, first : last + 1].tolist())) == 1 and pairs.pieces[row, first] > 0:
                    value = (start[row, first] * end[row, last]).item() * weights[row]
                    place = (passage, pairs.offsets[row, first, 0], pairs.offsets[row, last, 1])
                    best = max(best, (value, place), key=lambda found: found[0])
    return best


@pytest.mark.parametrize("passages", [PASSAGES[:1], PASSAGES[:3], PASSAGES])
@pytest.mark.parametrize("weights", [None, [1.0, 3.0, 0.5, 40.0, 2.0]])
def test_reading_one_by_one_equals_one_joint_softmax(reader, passages, weights):
    readings = read(reader, [(QUESTION, passage) for passage in PASSAGES])
    weights = None if weights is None else np.array(weights[: len(passages)])
    found = answer(QUESTION, passages, readings, weights)
    value, place = jointly(reader, passages, np.ones(len(passages)) if weights is None else weights)
    assert (found.passage, found.start, found.end) == place
    assert found.score == pytest.approx(value, rel=1e-4)
    title, text = reader[2][found.passage]
    assert found.prediction == f"{title} [SEP] {text}"[found.start : found.end]


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_readings_do_not_depend_on_batch_or_order(reader, batch):
    pairs = [(QUESTION, passage) for passage in range(24)] + [("where ?", passage) for passage in range(24)]
    whole = read(reader, pairs)
    other = read(reader, pairs[::-1], batch=batch)
    assert whole.keys() == other.keys()
    for pair, reading in whole.items():
        assert (other[pair].answer, other[pair].start, other[pair].end) == (reading.answer, reading.start, reading.end)
        assert other[pair].score == pytest.approx(reading.score, rel=1e-4)
        assert other[pair].start_mass == pytest.approx(reading.start_mass, rel=1e-4)


def test_score_is_the_product_of_start_and_end_over_the_passages():
    # P(start) = 2 / (4 + 6), P(end) = 3 / (5 + 10) in passage 7; 1 / 10 and 9 / 15 in passage 8.
    readings = {
        ("q", 7): Reading("a", 0, 1, math.log(2 * 3), math.log(4), math.log(5)),
        ("q", 8): Reading("b", 0, 1, math.log(1 * 9), math.log(6), math.log(10)),
    }
    best = answer("q", [7, 8], readings)
    assert (best.prediction, best.passage) == ("b", 8)
    assert best.score == pytest.approx(1 / 10 * 9 / 15)
    weighted = answer("q", [7, 8], readings, np.array([2.0, 1.0]))
    assert (weighted.prediction, weighted.score) == ("a", pytest.approx(2 * 2 / 10 * 3 / 15))


def test_ties_go_to_the_higher_ranked_passage():
    reading = Reading("a", 0, 1, 0.0, 0.0, 0.0)
    assert answer("q", [9, 4], {("q", 9): reading, ("q", 4): reading}).passage == 9


def test_weights_are_shifted_within_the_question():
    assert passage_weights(np.array([2.0, 0.5, -1.0])).tolist() == [4.0, 2.5, 1.0]  # + 1 − (−1)
    assert passage_weights(np.array([30.0, 20.0])).tolist() == [30.0, 20.0]


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
