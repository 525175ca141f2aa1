"""Which questions ViQuAE's were made from, by their words."""

import pytest

from tests.sources.small_hub import triviaqa, viquae
from trivium.core.tables import write_json_lines
from trivium.kvqae.source_questions import check_no_leak, normalize_question, source_questions

OUTPUT = {"output": {"original_answer": "Paris", "answer": ["Paris"]}}


@pytest.fixture
def folder(tmp_path):
    for split, original in (("train", "When was Ada born?"), ("validation", None), ("test", "Who led the Who?")):
        write_json_lines(tmp_path / f"{split}.jsonl", [viquae(split, "Q1") | {"original_question": original}])
    return tmp_path


@pytest.mark.parametrize(
    "text", ["When was Ada born?", "when was Ada born", " When  was the ADA born ?!", "Who led Who?"]
)
def test_the_same_words_in_any_split_are_the_same_question(folder, text):
    assert normalize_question(text) in source_questions(folder)[0]


@pytest.mark.parametrize("text", ["When was Bob born?", "When was Ada born in Rome?", "?"])
def test_others_are_not(folder, text):
    assert normalize_question(text) not in source_questions(folder)[0]


def test_questions_that_do_not_say_cannot_be_checked_and_are_counted(folder):
    write_json_lines(folder / "triviaqa" / "train.jsonl", [record | OUTPUT for record in triviaqa("train")])
    assert check_no_leak(folder, folder / "triviaqa") == 1
