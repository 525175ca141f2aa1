import pytest

from tests.decorrelation.tiny_corpus import SCENES, scene_captions
from trivium.core.tables import read_json
from trivium.language.english.sentences import looks_english


@pytest.mark.parametrize(
    "text",
    [
        "A dog plays with a frisbee in the park.",
        "Dogs running",
        "two young girls eating ice cream outside a café",
        "Men die hard in a no man's land",
        "A sign reads Rue de la Paix on a street in Paris",
        "Busy street",
    ],
)
def test_english(text):
    assert looks_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ein Mann in einem roten Hemd steht auf einer Leiter.",
        "Un homme tient un parapluie dans la rue",
        "Dos perros comparten un disco en el parque",
        "Dwa psy bawią się na trawie obok starego domu",
        "Un cane gioca con il frisbee nel parco",
        "Um cachorro com uma bola na praia",
        "Een man met een hond op het strand",
        "两只狗在公园里抢飞盘",
        "Собака играет с тарелкой",
        "12 34 !",
    ],
)
def test_not_english(text):
    assert not looks_english(text)


def test_the_tiny_corpus_is_english():
    assert all(looks_english(text) for index in range(len(SCENES)) for text in scene_captions(index))


@pytest.mark.real
def test_all_real_captions_are_english(real):
    captions = read_json(real("coco_mini") / "annotations" / "captions_train2017.json")["annotations"]
    assert [each["caption"] for each in captions if not looks_english(each["caption"])] == []
