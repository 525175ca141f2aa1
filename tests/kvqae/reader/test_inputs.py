import numpy as np
import pytest
from transformers import BertTokenizer

from tests.kvqae.tiny_reader import question, rewrite, write_bert, write_world
from trivium.errors import BadInput
from trivium.formats.questions import Question, read_questions
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR
from trivium.kvqae.reader.inputs import (
    Example,
    answer_characters,
    answer_targets,
    is_relevant,
    retrieved,
    sample_passages,
    split_by_relevance,
    texts_of,
    tokenize,
)
from trivium.measures.answers import AnswerMatcher, normalize_answer
from trivium.measures.runs import Run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


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


def test_at_most_so_many_positions(tokenizer):
    answers, _ = found(tokenizer, ["hull"], "bob", "hull " * 12, most=10)
    assert answers == ["hull"] * 10


def test_no_answer_points_at_cls(tokenizer):
    pairs = tokenize(tokenizer, ["where ?"], [("bob", "he lived at home")], 64)
    starts, ends, cut = answer_targets(pairs, [[]], 10)
    assert starts.tolist() == ends.tolist() == [[0] + [-1] * 9]
    assert cut == 0


def test_an_answer_beyond_the_cut_is_counted_and_points_at_cls(tokenizer):
    pairs = tokenize(tokenizer, ["where ?"], [("bob", "he lived at home in hull")], 9)
    spans = answer_characters(AnswerMatcher(["hull"]), ("bob", "he lived at home in hull"))
    starts, ends, cut = answer_targets(pairs, [spans], 10)
    assert starts.tolist() == ends.tolist() == [[0] + [-1] * 9]
    assert cut == 1


def test_an_answer_half_beyond_the_cut_is_no_target(tokenizer):
    text = "he lived in hull home"
    whole = tokenize(tokenizer, ["where ?"], [("bob", text)], 64)
    pairs = tokenize(tokenizer, ["where ?"], [("bob", text)], whole.input_ids.shape[1] - 1)  # loses "home"
    spans = answer_characters(AnswerMatcher(["hull home"]), ("bob", text))
    assert answer_targets(pairs, [spans], 10)[2] == 1


def test_no_answer_across_title_and_text():
    assert answer_characters(AnswerMatcher(["hull home", "sep"]), ("hull", "home")) == []
    assert not is_relevant(AnswerMatcher(["hull home"]), ("hull", "home"))


def test_an_answer_in_the_question_is_no_target(tokenizer):
    pairs = tokenize(tokenizer, ["where is hull ?"], [("bob", "in hull")], 64)
    starts, _, _ = answer_targets(pairs, [answer_characters(AnswerMatcher(["hull"]), ("bob", "in hull"))], 10)
    assert pairs.token_type_ids[0, starts[starts >= 0]].tolist() == [1]


def test_a_long_question_leaves_half_to_the_passage(tokenizer):
    pairs = tokenize(tokenizer, ["where " * 60], [("bob", "he lived at home " * 20)], 32)
    assert pairs.input_ids.shape == (1, 32)
    assert int(pairs.token_type_ids.sum()) >= 14


def test_samples_are_of_the_asked_ratio_and_nothing_fills_them_up():
    matcher, asked = AnswerMatcher(["x"]), Question("q", "?", ("x",), "x")
    many = Example(asked, matcher, np.arange(10), np.arange(100, 150))
    few = Example(asked, matcher, np.arange(1), np.arange(100, 150))
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        sample = sample_passages(many, 2, 4, rng)
        assert (len(set(sample)), (sample < 100).sum()) == (6, 2)
        seen.update(sample.tolist())
        sample = sample_passages(few, 2, 4, rng)
        assert (len(set(sample)), (sample < 100).sum()) == (5, 1)  # no more than 4 irrelevant ones
    assert len(seen) == 60  # everything is drawn sooner or later
    assert len(sample_passages(Example(asked, matcher, np.arange(1), np.arange(100, 102)), 2, 4, rng)) == 3


def test_split_drops_and_counts_questions_without_relevant_passage(world):
    questions = read_questions(world.viquae / "train.jsonl")[:3]
    run = Run.from_dict({"v0": {0: 2.0, 1: 1.0}, "v1": {7: 1.0}, "v2": {}})
    examples, counts = split_by_relevance(questions, run, texts_of(world.passages, world.articles, run.documents))
    assert [(each.question.id, each.relevant.tolist(), each.irrelevant.tolist()) for each in examples] == [
        ("v0", [0], [1])
    ]
    assert counts == {"questions": 3, "questions_without_relevant": 2, "answers_normalised_to_nothing": 3}


def test_own_article_stands_in_where_nothing_relevant_was_retrieved(world):
    questions = read_questions(world.viquae / "train.jsonl")[:4]
    run = Run.from_dict({"v0": {0: 2.0, 1: 1.0}, "v1": {7: 2.0, 1: 1.0}, "v2": {}, "v3": {9: 1.0}})
    own = [np.array([1, 0]), np.array([2, 3]), np.array([5, 4]), np.array([7])]  # 7 does not hold the answer of v3
    texts = texts_of(world.passages, world.articles, run.documents, *own)
    examples, counts = split_by_relevance(questions, run, texts, own)
    assert [(each.question.id, each.relevant.tolist(), each.irrelevant.tolist()) for each in examples] == [
        ("v0", [0], [1]),  # what was retrieved suffices
        ("v1", [2], [7, 1]),
        ("v2", [4], []),
    ]
    assert (counts["questions_without_relevant"], counts["questions_with_relevant_from_own_article"]) == (1, 2)


def test_an_alias_that_normalises_to_nothing_never_matches(world, tmp_path):
    rewrite(tmp_path / "q.jsonl", [question(0, "v", output={"original_answer": "The", "answer": []})])
    run = Run.from_dict({"v0": {0: 2.0, 1: 1.0}})
    examples, counts = split_by_relevance(
        read_questions(tmp_path / "q.jsonl"), run, texts_of(world.passages, world.articles, run.documents)
    )
    assert examples == []
    assert counts["answers_normalised_to_nothing"] == 1


def test_a_passage_out_of_range(world):
    with pytest.raises(BadInput, match="no such passage; got 24"):
        texts_of(world.passages, world.articles, np.array([[3, 24, -1]]))


def test_runs_that_do_not_fit(world, tmp_path):
    questions = read_questions(world.viquae / "train.jsonl")
    (tmp_path / "empty.trec").touch()
    with pytest.raises(BadInput, match="empty run"):
        retrieved(tmp_path / "empty.trec", questions, 5)
    with pytest.raises(BadInput, match="not about these questions"):
        retrieved(world.runs / "bm25_triviaqa" / "train.trec", questions, 5)
    assert retrieved(world.runs / "fused" / "train.trec", questions, 2).documents.shape == (12, 2)
