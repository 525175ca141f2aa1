"""The figures by which ViQuAE is described (kvqae.md §2; section 3.3 of the paper)."""

import string
from collections import Counter
from collections.abc import Container, Mapping, Sequence

from trivium.formats.questions import SPLITS, Question

_MARKS = string.punctuation + "“”‘’«»…–—"


def words(text: str) -> list[str]:
    """Words in lower case, without punctuation around them."""
    return [word for word in (each.strip(_MARKS).lower() for each in text.split()) if word]


def dataset_statistics(splits: Mapping[str, Sequence[Question]], persons: Container[str]) -> dict[str, float]:
    """Describe a data set in ViQuAE's format.

    Args:
        splits: train, validation and test, none of them empty.
        persons: Wikidata ids of entities that are persons.

    Returns:
        Over all questions: questions, and by split; images, entities (distinct ones); words_mean, vocabulary;
        most_frequent_answer_share, persons_share. Of the test questions: test_answers_in_train and
        test_entities_in_train, the shares whose original answer, or entity, is one of a training question.
    """
    questions = [question for split in SPLITS for question in splits[split]]
    texts = [words(question.text) for question in questions]
    answers = Counter(question.original_answer for question in questions)
    train, test = splits["train"], splits["test"]
    answers_seen = {question.original_answer for question in train}
    entities_seen = {question.wikidata_id for question in train}
    return {
        "questions": float(len(questions)),
        **{f"questions_{split}": float(len(splits[split])) for split in SPLITS},
        "images": float(len({question.image for question in questions})),
        "entities": float(len({question.wikidata_id for question in questions})),
        "words_mean": sum(map(len, texts)) / len(questions),
        "vocabulary": float(len({word for text in texts for word in text})),
        "most_frequent_answer_share": max(answers.values()) / len(questions),
        "persons_share": sum(question.wikidata_id in persons for question in questions) / len(questions),
        "test_answers_in_train": sum(question.original_answer in answers_seen for question in test) / len(test),
        "test_entities_in_train": sum(question.wikidata_id in entities_seen for question in test) / len(test),
    }
