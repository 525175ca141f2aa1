"""Karpathy's two split files and Flickr30k Entities as their publishers have them, small, written by hand.

Fields of `dataset_coco.json` and `dataset_flickr30k.json`: https://cs.stanford.edu/people/karpathy/deepimagesent,
as read by data.py of https://github.com/fartashf/vsepp. Entities:
README.md and flickr30k_entities_utils.py of https://github.com/BryanPlummer/flickr30k_entities. Nothing here is made by
code of ours, and no file of theirs is copied.
"""

import pytest

from tests.decorrelation.tiny_corpus import write_zip
from trivium.formats.picture_corpora import ENTITY_TYPES, EntitiesArchive, read_karpathy
from trivium.formats.pictures import Caption, Object

COCO = """{"images": [
 {"filepath": "val2014", "sentids": [770337, 771687], "filename": "COCO_val2014_000000391895.jpg", "imgid": 0, "split": "test",
  "sentences": [
   {"tokens": ["a", "rider", "on", "a", "small", "bike"], "raw": "A rider on a small bike. ", "imgid": 0, "sentid": 770337},
   {"tokens": ["two", "bikes"], "raw": "Two bikes\\n", "imgid": 0, "sentid": 771687}],
  "cocoid": 391895},
 {"filepath": "train2014", "sentids": [787980], "filename": "COCO_train2014_000000057870.jpg", "imgid": 40504,
  "split": "train", "sentences": [{"tokens": ["tables"], "raw": "Tables.", "imgid": 40504, "sentid": 787980}],
  "cocoid": 57870},
 {"filepath": "val2014", "sentids": [9], "filename": "COCO_val2014_000000522418.jpg", "imgid": 1, "split": "restval",
  "sentences": [{"tokens": ["a", "cake"], "raw": "A cake.", "imgid": 1, "sentid": 9}], "cocoid": 522418}],
 "dataset": "coco"}"""
FLICKR30K = """{"images": [{"sentids": [0, 1], "imgid": 0, "sentences": [
  {"tokens": ["two", "men"], "raw": "Two men outside.", "imgid": 0, "sentid": 0},
  {"tokens": ["they"], "raw": "They wave \\u2013 twice .", "imgid": 0, "sentid": 1}],
 "split": "val", "filename": "1000092795.jpg"}], "dataset": "flickr30k"}"""
SENTENCES = """[/EN#1/people Two men] wave from [/EN#2/other a ladder] under [/EN#0/notvisual it] .
[/EN#3/people/bodyparts A man 's arm] hides [/EN#4/animals a dog] in [/EN#5/scene the yard] .
"""
ANNOTATIONS = """<annotation>
  <filename>1000092795.jpg</filename>
  <size> <width>333</width> <height>500</height> <depth>3</depth> </size>
  <object><name>5</name><scene>1</scene><nobndbox>0</nobndbox></object>
  <object><name>4</name><scene>0</scene><nobndbox>1</nobndbox></object>
  <object><name>1</name><bndbox><xmin>1</xmin><ymin>21</ymin><xmax>100</xmax><ymax>500</ymax></bndbox></object>
  <object><name>1</name><name>3</name><bndbox><xmin>201</xmin><ymin>1</ymin><xmax>333</xmax><ymax>50</ymax></bndbox></object>
  <object><name>2</name><bndbox><xmin>5</xmin><ymin>5</ymin><xmax>5</xmax><ymax>9</ymax></bndbox></object>
</annotation>"""


def test_cocos_split_file(tmp_path):
    (tmp_path / "dataset_coco.json").write_text(COCO, encoding="utf-8")
    pictures, counts = read_karpathy(tmp_path / "dataset_coco.json")
    assert [(each.id, each.coco_id, each.split) for each in pictures] == [
        (0, 391895, "test"), (40504, 57870, "train"), (1, 522418, "train")]  # fmt: skip
    assert pictures[0].captions == (Caption(770337, "A rider on a small bike."), Caption(771687, "Two bikes"))
    assert pictures[1].name == "COCO_train2014_000000057870.jpg"
    assert counts == {"captions_empty": 0, "pictures_without_caption": 0}


def test_flickr30ks_split_file_has_no_coco_ids(tmp_path):
    (tmp_path / "dataset_flickr30k.json").write_text(FLICKR30K, encoding="utf-8")
    [picture], _ = read_karpathy(tmp_path / "dataset_flickr30k.json")
    assert (picture.id, picture.coco_id, picture.split, picture.name) == (0, None, "validation", "1000092795.jpg")
    assert [caption.text for caption in picture.captions] == ["Two men outside.", "They wave – twice ."]


@pytest.mark.parametrize("folder", ["", "Flickr30kEntities/"])
def test_a_picture_of_entities(tmp_path, folder):
    members = {f"{folder}Sentences/1000092795.txt": SENTENCES, f"{folder}Annotations/1000092795.xml": ANNOTATIONS}
    write_zip(tmp_path / "annotations.zip", members)
    with EntitiesArchive(tmp_path / "annotations.zip", ENTITY_TYPES) as archive:
        annotated = archive.read("1000092795")
        counts = archive.counts
    assert annotated.size == (333, 500)
    # Corners count from 1 and belong to the box: 1..100 are 100 pixels from 0.
    assert annotated.objects == (
        Object("people", (0.0, 20.0, 100.0, 480.0)), Object("people", (200.0, 0.0, 133.0, 50.0)))  # fmt: skip
    assert annotated.others == ((4.0, 4.0, 1.0, 5.0),)
    assert counts["objects_without_box"] == 1  # the dog is hidden; a scene is no object
    first, second = annotated.sentences
    assert first.text == "Two men wave from a ladder under it ."
    assert first.entities == ("1", "2", "0")
    assert second.phrases[0].classes == ("people", "bodyparts")
    assert second.text[second.phrases[1].start : second.phrases[1].end] == "a dog"
