"""What a set is asked, that its file is all that is needed, and what a half-built project or a damaged file says."""

import hashlib
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset

from tests.decorrelation.benchmark.benchmark_project import release, write_project
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import read_table, write_table
from trivium.decorrelation.benchmark.benchmark_set import find_set, open_set

DATA = "data/decorrelation"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def project(built, tmp_path):
    return shutil.copytree(built, tmp_path / "project")


@pytest.fixture(scope="module")
def released(built):
    return built / DATA / "sets/coco_cv2.parquet"


def test_the_test_split_alone_is_asked_and_every_caption_may_answer(released):
    asked = open_set(released=released)
    assert (asked.dataset, asked.filling, asked.invented) == ("coco", "cv2", True)
    assert len(asked.pictures.names) == 4
    assert len(asked.captions.ids) == 60
    assert asked.captions.test.sum() == 20
    assert len(asked.queries.ids) == 9  # one a class of each test picture
    assert asked.queries.ids == asked.painted.queries
    assert asked.queries.removed.sum(axis=1).tolist() == [1] * 9
    assert asked.shares.tolist() == [0.1] * 9
    assert asked.tests_something().all()


def test_a_pair_is_a_caption_that_names_what_is_gone_and_the_same_without_it(released):
    asked = open_set(released=released)
    assert asked.pairs.queries.tolist() == list(range(9))
    first = [asked.captions.texts[row] for row in asked.pairs.captions]
    for query, caption, text in zip(asked.queries.class_names, first, asked.pairs.texts, strict=True):
        assert query in caption.lower()
        assert query not in text.lower()
    assert (first[0], asked.pairs.texts[0]) == ("A dog next to a frisbee.", "A frisbee.")
    assert (asked.captions.pictures[asked.pairs.captions] == asked.queries.pictures).all()


def test_partners_are_those_of_training_pictures(released):
    asked = open_set(released=released)
    of = dict(zip(asked.queries.class_names, asked.partners, strict=True))
    assert (of["dog"], of["frisbee"]) == ("frisbee", "dog")
    beside = zip(asked.queries.class_names, asked.queries.partner_remains.tolist(), strict=True)
    assert {remains for name, remains in beside if name in ("dog", "frisbee")} == {True}


def test_a_project_and_its_file_are_one_set(project, released):
    """The fingerprint is the file's; nothing else of the project is read."""
    shutil.rmtree(project / DATA / "raw")
    first, second = open_set(project), open_set("nowhere", released)
    assert first.fingerprint == second.fingerprint == hashlib.sha256(released.read_bytes()).hexdigest()
    np.testing.assert_array_equal(first.gallery.names, second.gallery.names)


@pytest.mark.parametrize(
    ("source", "licence"), [("sample", "apache-2.0"), ("local", "not stated: the user's own files")]
)
def test_invented_pictures_are_this_projects_own_and_others_are_who_knows_whose(tmp_path, source, licence):
    project = write_project(tmp_path)
    parameters = project / "params.yaml"
    parameters.write_text(parameters.read_text().replace("coco: sample", f"coco: {source}"))
    assert open_set(release(project)).licences == (licence,)


def test_a_folder_or_one_of_several_sets_will_do(released, tmp_path):
    assert find_set(released.parent) == released
    for name in ("coco_cv2", "flickr30k_cv2"):
        shutil.copy(released, tmp_path / f"{name}.parquet")
    assert find_set(tmp_path, "flickr30k").name == "flickr30k_cv2.parquet"
    with pytest.raises(BadInput, match=r"or several; got 2; .*\(choices: coco_cv2.parquet, flickr30k_cv2.parquet\)"):
        find_set(tmp_path)


def test_datasets_shows_the_pictures(released, tmp_path):
    table = load_dataset("parquet", data_files=str(released), cache_dir=str(tmp_path), split="train")
    first = table[0]
    assert first["kind"] == "query"
    assert first["image"].size == (64, 48)
    assert first["removed"] == [first["class"]]


@pytest.mark.parametrize("part", ["cut", "turned"])
def test_a_file_that_was_cut_or_damaged_is_named(released, part, tmp_path):
    data = bytearray(released.read_bytes())
    if part == "cut":
        data = data[: len(data) // 2]
    else:
        start = pq.ParquetFile(released).metadata.row_group(0).column(3).data_page_offset
        data[start + 200] ^= 0xFF
    file = tmp_path / "set.parquet"
    file.write_bytes(data)
    with pytest.raises(BadInput, match=r"set\.parquet: not a readable Parquet file"):
        open_set(released=file)


def test_another_table_is_no_set(tmp_path):
    write_table(tmp_path / "x.parquet", pa.table({"a": [1]}))
    with pytest.raises(BadInput, match="not a set; expected what `trivium odmap --export` writes"):
        open_set(released=tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda head, table: (head | {"format": 2}, table), "a set of another version; got 2; expected 1"),
        (lambda head, table: (head | {"classes": head["classes"][1:]}, table), "not a set as --export writes it"),
        (lambda head, table: ([], table), "not a set as --export writes it"),
        (lambda head, table: (head, table.slice(9)), "too few painted pictures; got 0; expected at least 1"),
        (lambda head, table: (head, table.slice(0, 20)), "too few captions; got 7; expected at least 10"),
        (lambda head, table: (head, table.slice(0, 30)), "not a set as --export writes it: KeyError"),
    ],
)
def test_a_set_that_somebody_has_changed_is_refused_in_one_line(released, edit, message, tmp_path):
    table = read_table(released)
    head, table = edit(json.loads(table.schema.metadata[b"odmap"]), table)
    write_table(tmp_path / "x.parquet", table.replace_schema_metadata({"odmap": json.dumps(head)}))
    with pytest.raises(BadInput, match=message):
        open_set(released=tmp_path / "x.parquet")


def rewrite(folder, edit):
    images = edit(list(Images(folder).stream()))
    shutil.rmtree(folder)
    write_images(folder, images, shard_size=3)


@pytest.mark.parametrize("part", ["raw/coco/images", "painted/coco/cv2/test"])
def test_one_other_byte_of_a_picture_is_another_set(released, project, part):
    assert open_set(release(project)).fingerprint == open_set(released=released).fingerprint
    rewrite(project / DATA / part, lambda images: [*images[:-1], (images[-1][0], images[-1][1] + b"\0")])
    assert open_set(release(project)).fingerprint != open_set(released=released).fingerprint


@pytest.mark.parametrize(
    "absent", ["raw/coco", "phrases/coco.parquet", "removals/coco/removals.parquet", "painted/coco/cv2/test"]
)
def test_what_is_not_built_is_named(project, absent):
    place = project / DATA / absent
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    with pytest.raises(BadInput, match=re.escape(absent)):
        release(project)
    with pytest.raises(BadInput, match=r"decorrelation/sets: no set; expected a built project \(make repro P="):
        open_set(project)


def test_a_data_set_that_the_project_lacks_comes_with_the_choices(project):
    with pytest.raises(BadInput, match=r"no set, or several; got 0; .*\(choices: coco_cv2.parquet\)"):
        open_set(project, dataset="flickr30k")


def test_public_pictures_are_not_invented(project):
    parameters = yaml.safe_load((project / "params.yaml").read_text())
    parameters["world"]["coco"] = "hub"
    (project / "params.yaml").write_text(yaml.safe_dump(parameters))
    asked = open_set(release(project))
    assert not asked.invented
    head = json.loads(read_table(project / DATA / "sets/coco_cv2.parquet").schema.metadata[b"odmap"])
    assert "invented" not in head["card"]
    assert read_table(project / DATA / "phrases/coco.parquet").num_rows == len(asked.captions.ids)
