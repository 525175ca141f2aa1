from pathlib import Path

import pytest

from trivium.core.errors import BadInput
from trivium.formats.wikidata import parse_entity
from trivium.sources.kvqae.kilt import to_article, to_entity, to_question

FILE = Path("file.jsonl")


@pytest.mark.parametrize(
    "output",
    [
        {"original_answer": "Paris", "answer": ["Paris", "Lutetia"], "provenance": []},  # ViQuAE
        [{"answer": "Paris", "provenance": [{"wikipedia_id": "12", "title": "Bridge"}]}, {"answer": "Lutetia"}],  # KILT
        {"answer": ["Paris", None, "Lutetia", "Paris"]},  # a structure of lists
    ],
)
def test_answers_come_out_alike(output):
    question = to_question({"id": 7, "input": "Where?", "output": output, "image": None}, FILE, 1)
    assert question["output"] == {"original_answer": "Paris", "answer": ["Paris", "Lutetia"]}
    assert question["id"] == "7"
    assert "image" not in question


@pytest.mark.parametrize("output", [None, [], {}, {"answer": []}, [{"answer": ""}]])
def test_question_without_answer(output):
    with pytest.raises(BadInput, match=r"file.jsonl:3: field 'output.answer': no answer"):
        to_question({"id": "1", "input": "Where?", "output": output}, FILE, 3)


@pytest.mark.parametrize("wrap", [lambda key, values: values, lambda key, values: {key: values}])
def test_text_and_aliases_in_both_shapes(wrap):
    record = {"wikipedia_id": 12, "wikipedia_title": "Bridge", "text": wrap("paragraph", ["Bridge", "It is long."]),
              "wikidata_info": {"wikidata_id": "Q3", "aliases": wrap("alias", ["The bridge"])}}  # fmt: skip
    article = to_article(record, FILE, 1)
    assert article["text"] == ["Bridge", "It is long."]
    assert article["wikidata_info"]["aliases"] == ["The bridge"]
    assert article["wikipedia_id"] == "12"
    assert parse_entity(to_entity(record, False, FILE, 1)).aliases == ("The bridge",)


def test_article_may_lack_its_entity_but_not_its_title():
    assert to_article({"wikipedia_id": "1", "wikipedia_title": "T"}, FILE, 1)["wikidata_info"]["wikidata_id"] is None
    with pytest.raises(BadInput, match="file.jsonl:2: field 'wikipedia_title': missing"):
        to_article({"wikipedia_id": "1"}, FILE, 2)
