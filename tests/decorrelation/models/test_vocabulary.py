"""VSE++'s words: counted in training captions only, unknown words have one number."""

import json

import pytest
import torch

from tests.decorrelation.tiny_models import SETTINGS, write_base
from trivium.core.errors import BadInput
from trivium.decorrelation.models.interface import start
from trivium.decorrelation.models.vse import BEGIN, END, PADDING, SPECIAL, UNKNOWN, Vocabulary, words_of


def test_words_are_lower_case_without_punctuation():
    assert words_of("A Dog's frisbee—“red”, isn’t it?  2 cafés") == [
        "a",
        "dog's",
        "frisbee",
        "red",
        "isn’t",
        "it",
        "2",
        "cafés",
    ]


def test_words_that_are_frequent_enough_in_alphabetical_order():
    vocabulary = Vocabulary.of(["The dog", "a dog", "the dog.", "dog the THE"], minimum_count=4)
    assert vocabulary.words == (*SPECIAL, "dog", "the")


def test_no_frequent_word_is_refused():
    with pytest.raises(BadInput, match=r"no word is frequent enough.*got 4"):
        Vocabulary.of(["a dog"], minimum_count=4)


def test_numbers_marks_and_padding():
    tokens = Vocabulary([*SPECIAL, "dog", "the"]).encode(["The zebra, the dog", ""])
    assert tokens["ids"].tolist() == [[BEGIN, 5, UNKNOWN, 5, 4, END], [BEGIN, END] + 4 * [PADDING]]
    assert tokens["lengths"].tolist() == [6, 2]
    assert Vocabulary(SPECIAL).encode([])["ids"].shape == (0, 0)


def test_the_model_knows_the_training_captions_words_only(tmp_path):
    base = write_base("vse", tmp_path / "vse")
    settings = SETTINGS["vse"].model_copy(update={"minimum_count": 2})
    model = start("vse", base, settings, iter(["a dog", "a dog", "a cat"]))
    model.save(tmp_path / "saved")
    assert json.loads((tmp_path / "saved" / "vocabulary.json").read_text()) == [*SPECIAL, "a", "dog"]
    encoded = model.encode_texts(model.tokenize(["a cat", "a zebra", "a dog"]))
    assert torch.equal(encoded[0], encoded[1])
    assert not torch.allclose(encoded[0], encoded[2])
