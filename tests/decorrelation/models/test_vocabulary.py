"""VSE++'s words: counted in training captions only, unknown words have one number."""

import json
import re

import pytest
import torch
from nltk.tokenize import NLTKWordTokenizer

from tests.decorrelation.tiny_models import SETTINGS, write_base
from trivium.decorrelation.models.interface import start
from trivium.decorrelation.models.vse import BEGIN, END, PADDING, SPECIAL, UNKNOWN, Vocabulary, treebank_words, words_of


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


@pytest.mark.parametrize("sentence", [
    "A man's dog doesn't ride, he \"drives\" (a bus)...", "Two dogs -- one red; it's $5 at 10:30!", "They cannot see? Gonna go.",
    "The dogs' bowls, 1,000 of them, they've & we'll", "No. 5 bus"])  # fmt: skip
def test_words_of_the_treebank_are_nltks(sentence):
    """By NLTK's tokenizer of one sentence; a sentence ends here where NLTK's model, which is not installed, ends it."""
    parts = re.split(r"(?<=[.?!])\s+", sentence.lower())
    assert treebank_words(sentence) == [word for part in parts for word in NLTKWordTokenizer().tokenize(part)]


@pytest.mark.parametrize(
    ("step", "trained", "dropout"),
    [(0, False, True), (3, False, True), (4, True, False), (7, True, False), (10, True, True), (11, True, True),
     (12, True, False), (19, True, False)],
)  # fmt: skip
def test_dropout_ends_at_a_validation_and_the_cnn_is_frozen_at_first(tmp_path, step, trained, dropout):
    """Epochs of 10 steps, validations after every 4th step of all: after 4 and 8, 12 and 16; frozen for a fifth of 20."""
    settings = SETTINGS["vse"].model_copy(update={"frozen": 0.2, "dropout_ends": 4})
    model = start("vse", write_base("vse", tmp_path / "vse"), settings, ["a dog"])
    model.module.train()
    model.begin_step(step, 20, 10)
    assert model.module.cnn.features[0].weight.requires_grad == trained
    assert model.module.cnn.classifier[-1].training == dropout
    assert model.module.image.weight.requires_grad


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
