import io
import zipfile
from pathlib import Path

import pytest
import yaml

from stages.decorrelation.world import DecorrelationWorldParameters, main
from tests.decorrelation.tiny_corpus import (
    SCENES,
    draw,
    instances_tree,
    karpathy_tree,
    picture_name,
    write_coco,
    write_flickr,
)
from tests.sources.small_hub import pins as pins_of
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.stage import execute
from trivium.core.tables import read_json, write_json
from trivium.formats.picture_corpora import read_corpus
from trivium.sources.brought import sha256_of
from trivium.sources.decorrelation.checks import validate_decorrelation
from trivium.sources.decorrelation.corpora import fetch_coco, take_coco

SIZES = {"train": 40, "validation": 4, "test": 6}
WORLD = {
    "seed": 0, "picture_size": 48, "coco": SIZES, "flickr30k": SIZES, "control": SIZES, "co_occurrence": 0.95,
    "control_co_occurrence": 0.5, "mention": 0.95, "usual_colour": 0.9, "entity_types": ["people", "animals", "vehicles"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _scratch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(dataset, source, local=None, **world):
    """The stage, as the command line runs it."""
    sources = {dataset: source, "local": {dataset: str(local)} if local else {}}
    tree = {"run": {"workers": 1, "mlflow": False}, "world": sources, "decorrelation": {"world": WORLD | world}}
    Path("params.yaml").write_text(yaml.safe_dump(tree))
    arguments = ["--dataset", dataset, "--out", f"raw/{dataset}", "--out-co-occurrence", f"metrics/{dataset}.csv"]
    return execute(main, "decorrelation.world", DecorrelationWorldParameters, arguments)


def files(folder):
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}


def coco_as_published(folder):
    """COCO 2014 as it is downloaded: two files of instances, pictures in two zips."""
    write_json(folder / "karpathy.json", karpathy_tree())
    tree = instances_tree()
    for part in ("train", "val"):
        chosen = {index + 1 for index in range(len(SCENES)) if f"_{part}2014_" in picture_name(index)}
        own = {
            "images": [image for image in tree["images"] if image["id"] in chosen],
            "annotations": [each for each in tree["annotations"] if each["image_id"] in chosen],
            "categories": tree["categories"],
        }
        write_json(folder / f"instances_{part}2014.json", own)
        (folder / "images").mkdir(exist_ok=True)
        with zipfile.ZipFile(folder / "images" / f"{part}2014.zip", "w") as archive:
            for identifier in sorted(chosen):
                archive.writestr(f"{part}2014/{picture_name(identifier - 1)}", draw(identifier - 1))
    return folder


def test_another_data_set_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        run("vg", "sample")
    assert "invalid choice: 'vg' (choose from 'coco', 'flickr30k', 'control')" in capsys.readouterr().err


@pytest.mark.parametrize("dataset", ["coco", "flickr30k", "control"])
def test_sample_is_valid_and_its_splits_share_nothing(dataset):
    metrics = run(dataset, "sample")
    corpus = read_corpus(Path("raw") / dataset)
    assert [metrics[f"pictures_{split}"] for split in SIZES] == list(SIZES.values())
    assert len(Images(Path("raw") / dataset / "images").names) == len(corpus.pictures) == 50
    assert metrics["captions_not_english"] == 0
    assert metrics["captions_train"] == 200
    nothing = ("_in_", "outside", "without_area", "too_short", "another_size", "captions_without", "empty")
    assert {name: number for name, number in metrics.items() if any(part in name for part in nothing) and number} == {}
    if dataset == "flickr30k":
        assert corpus.classes == ("people", "animals", "vehicles")
    rows = Path(f"metrics/{dataset}.csv").read_text().splitlines()
    assert len(rows) == 1 + len(corpus.classes) * (len(corpus.classes) - 1)
    assert metrics["partners"] > 0


def test_local_coco_as_published_becomes_the_raw_folder(tmp_path):
    mine = coco_as_published(tmp_path / "mine")
    metrics = run("coco", "local", mine)
    raw = Path("raw/coco")
    assert files(raw) == {
        "karpathy.json", "instances.json", "corpus.parquet", "images/shard-00000.parquet", "provenance.json",
    }  # fmt: skip
    assert (raw / "karpathy.json").read_bytes() == (mine / "karpathy.json").read_bytes()
    expected = read_corpus(write_coco(tmp_path / "tiny"))
    assert read_corpus(raw) == expected
    assert {name: Images(raw / "images").read(name) for name in Images(raw / "images").names} == {
        picture_name(index): draw(index) for index in range(len(SCENES))
    }
    done = {name: metrics[f"images_{name}"] for name in ("not_wanted", "made_rgb", "turned", "unreadable")}
    assert not any(done.values())
    assert (metrics["images"], metrics["partners"]) == (12, 6)
    assert read_json(raw / "provenance.json")["karpathy.json"] == sha256_of(mine / "karpathy.json")
    # A raw folder is itself one that can be brought.
    again = run("coco", "local", tmp_path / "tiny")
    assert again == metrics


def test_local_flickr30k_becomes_the_raw_folder(tmp_path):
    mine = write_flickr(tmp_path / "mine")
    metrics = run("flickr30k", "local", mine)
    assert read_corpus(Path("raw/flickr30k")).classes == ("people", "animals", "vehicles")
    assert read_json(Path("raw/flickr30k/entity_types.json")) == ["people", "animals", "vehicles"]
    assert metrics["captions_without_annotation"] == 0
    (mine / "entities.zip").unlink()
    with pytest.raises(BadInput, match=r"mine: files are missing; got 'entities\.zip'"):
        run("flickr30k", "local", mine)


@pytest.fixture
def served(hub, tmp_path, monkeypatch):
    """COCO on a loopback hub; returns a way to fetch it."""
    made = coco_as_published(tmp_path / "made")
    annotations, splits = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(annotations, "w") as archive:
        for part in ("train", "val"):
            archive.write(made / f"instances_{part}2014.json", f"annotations/instances_{part}2014.json")
    with zipfile.ZipFile(splits, "w") as archive:
        archive.write(made / "karpathy.json", "dataset_coco.json")
        archive.writestr("dataset_flickr30k.json", "{}")
    hub.files |= {
        f"/zips/{part}2014.zip": (made / "images" / f"{part}2014.zip").read_bytes() for part in ("train", "val")
    }
    hub.files |= {
        "/annotations/annotations_trainval2014.zip": annotations.getvalue(),
        "/people/caption_datasets.zip": splits.getvalue(),
    }
    sources = {
        "coco_train2014": {"url": f"{hub.url}/zips", "files": {"train2014.zip": {}}},
        "coco_val2014": {"url": f"{hub.url}/zips", "files": {"val2014.zip": {}}},
        "coco_annotations": {"url": f"{hub.url}/annotations", "files": {"annotations_trainval2014.zip": {}}},
        "karpathy": {"url": f"{hub.url}/people", "files": {"caption_datasets.zip": {}}},
    }
    (tmp_path / "pins.yaml").write_text(pins_of(sources))
    monkeypatch.setattr("trivium.sources.pins.PINS", tmp_path / "pins.yaml")
    return lambda **pictured: fetch_coco(tmp_path / "out", tmp_path / "work", tmp_path / "downloads", **pictured)


def test_hub_gives_the_same_folder_as_local(served, tmp_path):
    counts = served()
    assert counts == take_coco(tmp_path / "made", tmp_path / "mine", tmp_path / "work")
    assert files(tmp_path / "out") == files(tmp_path / "mine") | {"sources.json"}
    assert read_corpus(tmp_path / "out") == read_corpus(tmp_path / "mine")
    digests = read_json(tmp_path / "out" / "sources.json")["coco_val2014"]["sha256"]
    assert digests["val2014.zip"] == sha256_of(tmp_path / "made" / "images" / "val2014.zip")


def test_test_pictures_alone_leave_the_archive_of_training(served, hub, tmp_path):
    counts = served(pictured=["test"])
    assert hub.asked("/zips/train2014.zip") == []
    take_coco(tmp_path / "made", tmp_path / "mine", tmp_path / "work")
    corpus = read_corpus(tmp_path / "out")
    assert corpus == read_corpus(tmp_path / "mine"), "captions and objects are there of all"
    test = sorted(picture.name for picture in corpus.pictures if picture.split == "test")
    assert sorted(Images(tmp_path / "out" / "images").names) == test
    assert counts["images"] == len(test) == 4
    held = sum("_val2014_" in picture_name(index) for index in range(len(SCENES)))
    assert counts["images_not_wanted"] == held - len(test)
    assert validate_decorrelation(tmp_path / "out", corpus, ["test"])["captions_train"] == 5 * 6
    with pytest.raises(BadInput, match="8 pictures have no image"):
        validate_decorrelation(tmp_path / "out", corpus)
