import numpy as np
import pytest

from tests.kvqae.tiny_reader import write_world
from trivium.formats.questions import Question, read_questions
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.reader.inputs import Example, sample_passages, split_by_relevance
from trivium.measures.answers import AnswerMatcher
from trivium.measures.runs import Run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


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
    examples, counts = split_by_relevance(questions, run, read_passage_texts(world.kb, run.documents))
    assert [(each.question.id, each.relevant.tolist(), each.irrelevant.tolist()) for each in examples] == [
        ("v0", [0], [1])
    ]
    assert counts == {"questions": 3, "questions_without_relevant": 2, "answers_normalised_to_nothing": 3}


def test_own_article_stands_in_where_nothing_relevant_was_retrieved(world):
    questions = read_questions(world.viquae / "train.jsonl")[:4]
    run = Run.from_dict({"v0": {0: 2.0, 1: 1.0}, "v1": {7: 2.0, 1: 1.0}, "v2": {}, "v3": {9: 1.0}})
    own = [np.array([1, 0]), np.array([2, 3]), np.array([5, 4]), np.array([7])]  # 7 does not hold the answer of v3
    texts = read_passage_texts(world.kb, run.documents, *own)
    examples, counts = split_by_relevance(questions, run, texts, own)
    assert [(each.question.id, each.relevant.tolist(), each.irrelevant.tolist()) for each in examples] == [
        ("v0", [0], [1]),  # what was retrieved suffices
        ("v1", [2], [7, 1]),
        ("v2", [4], []),
    ]
    assert (counts["questions_without_relevant"], counts["questions_with_relevant_from_own_article"]) == (1, 2)
