import csv

import pytest

from tests.decorrelation.tiny_corpus import write_coco
from trivium.decorrelation.co_occurrence import count_co_occurrence, partners, write_co_occurrence
from trivium.formats.picture_corpora import read_corpus
from trivium.formats.pictures import Corpus, Object, Picture


def corpus_of(*pictures, classes=("dog", "frisbee", "cat", "car"), split="train"):
    made = tuple(
        Picture(index, f"{index}.jpg", split, 9, 9, tuple(Object(name, (0, 0, 1, 1)) for name in names), ())
        for index, names in enumerate(pictures)
    )
    return Corpus(made, classes, {})


def test_counts_probability_and_lift_on_paper():
    corpus = corpus_of(["dog", "frisbee"], ["dog", "dog", "frisbee"], ["dog", "cat"], ["cat"], [])
    found = count_co_occurrence(corpus)
    assert found.pictures == 5
    assert found.together.tolist() == [[3, 2, 1, 0], [2, 2, 0, 0], [1, 0, 2, 0], [0, 0, 0, 0]]
    probability, lift = found.probability(), found.lift()
    assert probability[0].tolist() == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert lift[0].tolist() == pytest.approx([1 / (3 / 5), (2 / 3) / (2 / 5), (1 / 3) / (2 / 5), 0])
    assert lift[1, 0] == pytest.approx(lift[0, 1])
    assert not probability[3].any()
    assert not lift[3].any()


def test_only_training_pictures_count(tmp_path):
    corpus = read_corpus(write_coco(tmp_path))
    found = count_co_occurrence(corpus)
    dog, frisbee = found.classes.index("dog"), found.classes.index("frisbee")
    assert (found.pictures, found.together[dog, dog], found.together[dog, frisbee]) == (6, 3, 3)
    car, person = found.classes.index("car"), found.classes.index("person")
    assert found.together[car, person] == 1


def test_partner_is_the_most_probable_other_class_if_its_lift_is_above_one():
    corpus = corpus_of(["dog", "frisbee"], ["dog", "frisbee"], ["dog", "cat"], ["cat", "car"])
    # frisbee: dog always. dog: frisbee 2/3. cat: dog and car 1/2 each, with lifts 2/3 and 2.
    assert partners(corpus) == {"dog": "frisbee", "frisbee": "dog", "cat": "car", "car": "cat"}


def test_frequent_class_is_no_partner_without_lift():
    # cat: dog 2/3, but dog is in 6/7 of the pictures; car only 1/3.
    corpus = corpus_of(["cat", "dog"], ["cat", "dog"], ["cat", "car"], ["dog"], ["dog"], ["dog"], ["dog"])
    assert partners(corpus) == {"car": "cat"}


def test_independent_classes_have_no_partner():
    assert partners(corpus_of(["dog", "cat"], ["dog"], ["cat"], [])) == {}
    assert partners(corpus_of(["dog", "cat"], ["dog"])) == {}, "a class that is everywhere explains nothing"
    assert partners(corpus_of(["dog", "cat"], split="test")) == {}


def test_order_of_pictures_does_not_matter():
    pictures = [["dog", "frisbee"], ["dog", "cat"], ["dog", "cat", "car"], ["cat"]]
    assert partners(corpus_of(*pictures)) == partners(corpus_of(*reversed(pictures)))


def test_csv_leaves_empty_what_is_undefined(tmp_path):
    path = tmp_path / "metrics" / "co_occurrence.csv"
    write_co_occurrence(
        path, count_co_occurrence(corpus_of(["dog", "hot dog"], ["dog"], classes=("dog", "hot dog", "cat")))
    )
    with path.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["class"], row["other"]) for row in rows] == [
        ("dog", "hot dog"), ("dog", "cat"), ("hot dog", "dog"), ("hot dog", "cat"), ("cat", "dog"), ("cat", "hot dog"),
    ]  # fmt: skip
    assert list(rows[0].values()) == ["dog", "hot dog", "2", "1", "0.500000", "1.000000"]
    assert list(rows[1].values()) == ["dog", "cat", "2", "0", "0.000000", ""]
    assert list(rows[4].values()) == ["cat", "dog", "0", "0", "", ""]
