import pytest

from tests.decorrelation.tiny_corpus import SCENES, karpathy_tree
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.karpathy import read_karpathy
from trivium.formats.pictures import Caption


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


def put(field, value, index=3, sentence=None):
    def change(images):
        record = images[index] if sentence is None else images[index]["sentences"][sentence]
        record[field] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("split", "dev"), r"images\[3\]\.split': unknown; got 'dev'.*train, restval, val, test"),
        (put("imgid", 0), r"images\[3\]\.imgid': stands twice; got 0"),
        (put("filename", ""), r"images\[3\]\.filename': empty; got ''"),
        (put("sentences", None), r"images\[3\]\.sentences': missing"),
        (put("sentid", 0, sentence=2), r"images\[3\]\.sentences\[2\]\.sentid': stands twice; got 0"),
    ],
)
def test_errors_name_file_record_and_field(read, change, message):
    with pytest.raises(BadInput, match=r"karpathy\.json:\d+: field '" + message):
        read(change)


@pytest.mark.parametrize("tree", [[], {"images": []}, {"annotations": []}])
def test_another_format_is_refused(tmp_path, tree):
    write_json(tmp_path / "karpathy.json", tree)
    with pytest.raises(BadInput, match="field 'images': no pictures; expected Karpathy's format"):
        read_karpathy(tmp_path / "karpathy.json")
