from pathlib import Path

from tests.decorrelation.tiny_corpus import write_coco
from trivium.formats.corpus_table import load_corpus, write_corpus
from trivium.formats.pictures import Caption, Corpus, Object, Phrase, Picture


def test_every_field_comes_back_as_it_was(tmp_path: Path) -> None:
    rle = {"size": [3, 4], "counts": "0c1"}
    objects = (
        Object("hot dog", (0.1, 0.2, 3.7, 2.5), [[0.25, 1.5, 3.0, 1.5, 3.0, 2.0]]),
        Object("person", (0.0, 0.0, 4.0, 3.0), rle, crowd=True),
        Object("dog", (1.0, 1.0, 1.0, 1.0)),
    )
    captions = (Caption(7, "Ein Hund, é", (Phrase(0, 8, ("dog", "person")), Phrase(10, 11, ()))), Caption(8, "B"))
    pictures = (
        Picture(3, "a.jpg", "train", 4, 3, objects, captions, ((0.5, 0.0, 1.0, 2.0),)),
        Picture(1, "b.jpg", "test", 40_000, 30, (), ()),
    )
    corpus = Corpus(pictures, ("person", "dog", "hot dog"), {"objects_box_outside": 2})
    write_corpus(tmp_path, corpus)
    assert load_corpus(tmp_path) == corpus
    assert load_corpus(tmp_path).pictures[0].objects[1].segmentation == rle


def test_captions_alone_are_the_corpus_without_objects(tmp_path: Path) -> None:
    whole, captions = load_corpus(write_coco(tmp_path)), load_corpus(tmp_path, objects=False)
    assert [picture.captions for picture in captions.pictures] == [picture.captions for picture in whole.pictures]
    assert [(each.id, each.name, each.split) for each in captions.pictures] == [
        (each.id, each.name, each.split) for each in whole.pictures
    ]
    assert captions.classes == whole.classes
    assert not any(picture.objects for picture in captions.pictures)
    assert any(picture.objects for picture in whole.pictures)
