"""TriviaQA's training questions in any world's raw files: ViQuAE was made from none of them."""

import json

import pytest

from tests.sources.small_hub import ENTITIES, lines, triviaqa, viquae
from trivium.core.errors import BadInput
from trivium.kvqae.source_questions import check_no_leak
from trivium.sources.kvqae.raw import leave_out_sources


@pytest.fixture
def raw(tmp_path):
    """A question a split of ViQuAE, three of TriviaQA to train on."""
    for split, qid in zip(("train", "validation", "test"), ENTITIES, strict=True):
        (tmp_path / "viquae").mkdir(exist_ok=True)
        (tmp_path / "viquae" / f"{split}.jsonl").write_bytes(lines([viquae(split, qid)]))
    questions = [record | {"output": {"original_answer": "Paris", "answer": ["Paris"]}} for record in triviaqa("train")]
    (tmp_path / "triviaqa").mkdir()
    (tmp_path / "triviaqa" / "train.jsonl").write_bytes(lines(questions))
    return tmp_path


def ask(raw, *texts):
    """Put other words in the first training questions."""
    train = raw / "triviaqa" / "train.jsonl"
    records = [json.loads(line) for line in train.read_text().splitlines()]
    for record, text in zip(records, texts, strict=False):
        record["input"] = text
    train.write_bytes(lines(records))
    return train


@pytest.mark.parametrize("title", ["Ada", "Bob", "Bridge"])  # of the training, validation and test question
def test_what_bm25_search_would_refuse_is_left_out(raw, title):
    ask(raw, "Question 7?", f"when WAS {title} born")
    with pytest.raises(BadInput, match=r"train\.jsonl:2: field 'input': training question that a ViQuAE question"):
        check_no_leak(raw / "viquae", raw / "triviaqa")
    assert leave_out_sources(raw / "triviaqa", raw / "viquae") == {
        "triviaqa_train": 2,
        "triviaqa_train_seen_in_viquae": 1,
    }
    assert check_no_leak(raw / "viquae", raw / "triviaqa") == 0
    left = [json.loads(line) for line in (raw / "triviaqa" / "train.jsonl").read_text().splitlines()]
    assert [record["input"] for record in left] == ["Question 7?", "Question 2?"]


def test_the_users_own_file_stays_as_it_is(raw, tmp_path):
    train = ask(raw, "When was Ada born?")
    own = tmp_path / "own.jsonl"
    own.hardlink_to(train)
    leave_out_sources(raw / "triviaqa", raw / "viquae")
    assert (len(train.read_text().splitlines()), len(own.read_text().splitlines())) == (2, 3)
