"""Records are values: once read, nobody changes one that others hold too."""

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from trivium.formats import (
    answer_files,
    coco_instances,
    conllu,
    flickr_entities,
    frame_corpora,
    framed_texts,
    front_door,
    given_runs,
    json_fields,
    karpathy,
    kilt_articles,
    pictures,
    predictions,
    question_sets,
    questions,
    squad,
    triviaqa,
    visual_questions,
    wikidata,
)

MODULES = (
    *(answer_files, coco_instances, conllu, flickr_entities, frame_corpora, framed_texts, front_door, given_runs),
    *(json_fields, karpathy, kilt_articles, pictures, predictions, question_sets, questions, squad, triviaqa),
    *(visual_questions, wikidata),
)
RECORDS = [
    record
    for module in MODULES
    for record in vars(module).values()
    if is_dataclass(record) and record.__module__ == module.__name__
]


def test_each_of_these_modules_has_records():
    assert {record.__module__ for record in RECORDS} == {module.__name__ for module in MODULES}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__qualname__)
def test_a_record_does_not_change(record):
    one = object.__new__(record)
    for field in fields(record):
        with pytest.raises(FrozenInstanceError):
            setattr(one, field.name, None)
