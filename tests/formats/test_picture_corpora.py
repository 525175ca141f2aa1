import pytest

from tests.decorrelation.tiny_corpus import (
    SCENES,
    entities_members,
    karpathy_tree,
    picture_name,
    write_coco,
    write_flickr,
    write_zip,
)
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.formats.picture_corpora import read_corpus, read_karpathy
from trivium.formats.pictures import Caption, Object


def test_coco(tmp_path):
    corpus = read_corpus(write_coco(tmp_path))
    assert [picture.id for picture in corpus.pictures] == list(range(len(SCENES)))
    for picture, (_, objects) in zip(corpus.pictures, SCENES, strict=True):
        assert picture.name == picture_name(picture.id)
        assert (picture.width, picture.height) == (64, 48)
        assert {thing.class_name for thing in picture.objects} == {name for name, _ in objects}
        assert len(picture.captions) == 5
    assert [picture.split for picture in corpus.pictures] == ["train"] * 6 + ["validation"] * 2 + ["test"] * 4
    assert corpus.pictures[4].classes == ("car", "person")
    assert corpus.classes == ("person", "bicycle", "car", "cat", "dog", "frisbee", "hot dog")
    assert not any(corpus.counts.values())


def test_flickr30k(tmp_path):
    corpus = read_corpus(write_flickr(tmp_path))
    assert corpus.classes == ("people", "animals", "vehicles", "instruments")
    picture = corpus.pictures[9]  # a dog, a frisbee (of another type), a person
    assert picture.objects == (Object("animals", (36.0, 10.0, 20.0, 20.0)), Object("people", (16.0, 4.0, 12.0, 40.0)))
    caption = picture.captions[3]
    named = [(caption.text[phrase.start : phrase.end], phrase.classes) for phrase in caption.phrases]
    assert named == [("A frisbee", ()), ("a person", ("people",)), ("a dog", ("animals",))]
    assert all(len(each.phrases) == len(SCENES[p.id][1]) for p in corpus.pictures for each in p.captions)
    assert not any(corpus.counts.values())


def test_flickr30ks_classes_are_what_the_folder_says(tmp_path):
    folder = write_flickr(tmp_path)
    write_json(folder / "entity_types.json", ["other", "animals"])
    corpus = read_corpus(folder)
    assert corpus.classes == ("other", "animals")
    assert corpus.pictures[9].classes == ("animals", "other")
    assert [phrase.classes for phrase in corpus.pictures[9].captions[3].phrases] == [("other",), (), ("animals",)]
    write_json(folder / "entity_types.json", [])
    with pytest.raises(BadInput, match=r"entity_types\.json: field 'types': no types; got \[\]"):
        read_corpus(folder)


def test_caption_that_entities_does_not_have_is_counted(tmp_path):
    folder, members = write_flickr(tmp_path), entities_members()
    members["Sentences/1.txt"] = members["Sentences/1.txt"].replace("next to", "beside")
    write_zip(folder / "entities.zip", members)
    corpus = read_corpus(folder)
    assert corpus.counts["captions_without_annotation"] == 1
    assert [len(caption.phrases) for caption in corpus.pictures[0].captions] == [0, 2, 2, 2, 2]


def test_many_boxes_outside_are_refused(tmp_path):
    folder, members = write_flickr(tmp_path), entities_members()
    members["Annotations/1.xml"] = members["Annotations/1.xml"].replace("<width>64", "<width>16")
    write_zip(folder / "entities.zip", members)
    with pytest.raises(BadInput, match=r"entities\.zip: too many boxes lie outside.*; got '1 of 1\d'"):
        read_corpus(folder)
    members["Annotations/3.xml"] = members["Annotations/3.xml"].replace("<xmax>50", "<xmax>30")
    write_zip(folder / "entities.zip", members)
    with pytest.raises(BadInput, match=r"lie outside their picture or have no area; got '2 of 1\d'"):
        read_corpus(folder)


def test_pictures_only_in_the_annotations_are_counted(tmp_path):
    folder = write_coco(tmp_path)
    tree = karpathy_tree()
    del tree["images"][3]
    write_json(folder / "karpathy.json", tree)
    corpus = read_corpus(folder)
    assert len(corpus.pictures) == len(SCENES) - 1
    assert corpus.counts["annotated_pictures_not_in_split_file"] == 1


def test_pictures_without_annotations_are_refused(tmp_path):
    folder = write_coco(tmp_path)
    tree = read_json(folder / "instances.json")
    del tree["images"][11]
    tree["annotations"] = [annotation for annotation in tree["annotations"] if annotation["image_id"] != 12]
    write_json(folder / "instances.json", tree)
    with pytest.raises(
        BadInput, match=r"karpathy\.json:COCO_val.*12\.jpg: field 'cocoid': no such picture in instances"
    ):
        read_corpus(folder)
    tree = karpathy_tree()
    del tree["images"][2]["cocoid"]
    write_json(folder / "karpathy.json", tree)
    with pytest.raises(BadInput, match=r"COCO_train2014_000000000003\.jpg: field 'cocoid': missing"):
        read_corpus(folder)
    folder = write_flickr(tmp_path / "flickr")
    members = entities_members()
    del members["Annotations/5.xml"]
    write_zip(folder / "entities.zip", members)
    with pytest.raises(BadInput, match=r"no such member; got 'Annotations/5\.xml'"):
        read_corpus(folder)


@pytest.mark.real
def test_real_coco(real, tmp_path):
    """26 pictures of COCO; they come without Karpathy's file, so one is written from their captions."""
    source = real("coco_mini") / "annotations"
    instances = read_json(source / "instances_train2017.json")
    captions = read_json(source / "captions_train2017.json")["annotations"]
    images = [
        {
            "filename": image["file_name"], "imgid": index, "cocoid": image["id"], "split": "train",
            "sentences": [
                {"raw": each["caption"], "sentid": each["id"]} for each in captions if each["image_id"] == image["id"]
            ],
        }
        for index, image in enumerate(instances["images"])
    ]  # fmt: skip
    write_json(tmp_path / "karpathy.json", {"images": images})
    (tmp_path / "instances.json").symlink_to((source / "instances_train2017.json").resolve())
    corpus = read_corpus(tmp_path)
    assert len(corpus.pictures) == 26
    assert len(corpus.classes) == 80
    assert sum(len(picture.captions) for picture in corpus.pictures) == 130
    objects = [thing for picture in corpus.pictures for thing in picture.objects]
    assert len(objects) == len(instances["annotations"]) == 333
    assert sum(thing.crowd for thing in objects) == sum(each["iscrowd"] for each in instances["annotations"]) == 5
    by_id = {category["id"]: category["name"] for category in instances["categories"]}
    for picture, image in zip(corpus.pictures, instances["images"], strict=True):
        own = [each for each in instances["annotations"] if each["image_id"] == image["id"]]
        assert picture.classes == tuple(sorted({by_id[each["category_id"]] for each in own}))
    assert not any(corpus.counts.values())


@pytest.fixture
def read(tmp_path):
    """Reads the tiny split file after a change to it."""

    def run(change=lambda images: None):
        tree = karpathy_tree()
        change(tree["images"])
        write_json(tmp_path / "karpathy.json", tree)
        return read_karpathy(tmp_path / "karpathy.json")

    return run


def test_pictures_with_their_splits_and_captions(read):
    pictures, counts = read()
    expected = {"train": "train", "restval": "train", "val": "validation", "test": "test"}
    assert [picture.split for picture in pictures] == [expected[split] for split, _ in SCENES]
    assert [(picture.id, picture.coco_id) for picture in pictures] == [(i, i + 1) for i in range(len(SCENES))]
    assert pictures[0].captions[0] == Caption(0, "A dog next to a frisbee.")
    assert pictures[5].name == "COCO_val2014_000000000006.jpg"
    assert counts == {"captions_empty": 0, "pictures_without_caption": 0}


def test_empty_captions_and_pictures_left_without_any_are_counted(read):
    def empty(images):
        images[0]["sentences"][1]["raw"] = ""
        images[0]["sentences"][2]["raw"] = " \n"
        images[1]["sentences"] = []
        images[2]["sentences"][0]["raw"] = " A dog.\n"

    pictures, counts = read(empty)
    assert [caption.id for caption in pictures[0].captions] == [0, 3, 4]
    assert [picture.id for picture in pictures][:2] == [0, 2]
    assert pictures[1].captions[0].text == "A dog."
    assert counts == {"captions_empty": 2, "pictures_without_caption": 1}
