"""CLIP's 80 templates about one class and several."""

import pytest

from trivium.decorrelation.captions.pairs import fill, plural_name, prompt, templates


def test_there_are_eighty_templates():
    assert len(templates()) == 80


@pytest.mark.parametrize(
    ("template", "classes", "expected"),
    [
        ("a photo of a {}.", ["dog"], "a photo of a dog."),
        ("a photo of a {}.", ["airplane", "dog"], "a photo of an airplane and a dog."),
        ("a photo of the {}.", ["dog", "cat", "bus"], "a photo of the dog, the cat and the bus."),
        ("a photo of many {}.", ["person", "hot dog"], "a photo of many people and hot dogs."),
        ("a photo of one {}.", ["dog", "cat"], "a photo of one dog and one cat."),
        ("a photo of a large {}.", ["dog", "apple"], "a photo of a large dog and an apple."),
        ("a photo of my {}.", ["dog", "cat"], "a photo of my dog and my cat."),
        ("a {} in a video game.", ["scissors", "dog"], "a pair of scissors and a dog in a video game."),
    ],
)
def test_the_word_before_the_slot_leads_in_every_class(template, classes, expected):
    assert fill(template.format, classes) == expected


def test_every_template_takes_several_classes():
    for template in templates():
        text = fill(template, ["apple", "dog"])
        assert " and " in text
        assert " a apple" not in text
        assert "apple" in text
        assert "dog" in text


def test_the_template_is_drawn_by_its_key():
    drawn = {prompt(["dog"], str(key)) for key in range(200)}
    assert prompt(["dog"], "7") == "a dark photo of a dog.", "the same in every process"
    assert len(drawn) > 50


@pytest.mark.parametrize(
    ("name", "many"), [("knife", "knives"), ("hot dog", "hot dogs"), ("skis", "skis"), ("bus", "buses")]
)
def test_plurals_of_class_names(name, many):
    assert plural_name(name) == many
