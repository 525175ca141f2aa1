"""What a set is asked, that its fingerprints see every change and no order, and what a half-built project says."""

import re
import shutil

import pytest
import yaml

from tests.decorrelation.benchmark.benchmark_project import write_project
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import read_table, write_table
from trivium.decorrelation.benchmark.benchmark_set import read_benchmark

DATA = "data/decorrelation"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def project(built, tmp_path):
    return shutil.copytree(built, tmp_path / "project")


def test_the_test_split_alone_is_asked_and_every_caption_may_answer(built):
    asked = read_benchmark(built)
    assert (asked.dataset, asked.filling, asked.invented) == ("coco", "cv2", True)
    assert len(asked.pictures.names) == 4
    assert len(asked.captions.ids) == 60
    assert asked.captions.test.sum() == 20
    assert len(asked.queries.ids) == 9  # one a class of each test picture
    assert asked.queries.ids == asked.painted.queries
    assert asked.queries.removed.sum(axis=1).tolist() == [1] * 9


def rewrite(folder, edit):
    images = edit(list(Images(folder).stream()))
    shutil.rmtree(folder)
    write_images(folder, images, shard_size=3)


def test_no_order_on_disk_changes_a_fingerprint(built, project):
    for part in ("raw/coco/images", "painted/coco/cv2/test"):
        rewrite(project / DATA / part, lambda images: images[::-1])
    for part in ("phrases/coco.parquet", "removals/coco/removals.parquet"):
        table = read_table(project / DATA / part)
        write_table(project / DATA / part, table.take(list(range(len(table)))[::-1]))
    first, second = read_benchmark(built), read_benchmark(project)
    assert (first.split, first.asked) == (second.split, second.asked)
    assert first.queries.ids != second.queries.ids


@pytest.mark.parametrize(
    ("part", "changed"), [("raw/coco/images", "split"), ("painted/coco/cv2/test", "asked")], ids=["pictures", "queries"]
)
def test_one_other_byte_of_a_picture_changes_one_fingerprint(built, project, part, changed):
    rewrite(project / DATA / part, lambda images: [*images[:-1], (images[-1][0], images[-1][1] + b"\0")])
    first, second = read_benchmark(built), read_benchmark(project)
    same = {"split", "asked"} - {changed}
    assert getattr(first, changed) != getattr(second, changed)
    assert all(getattr(first, name) == getattr(second, name) for name in same)


def test_what_captions_name_is_part_of_the_queries(built, project):
    file = project / DATA / "phrases/coco.parquet"
    rows = read_table(file).to_pylist()
    rows[0]["classes"] = []
    write_table(file, read_table(file).from_pylist(rows, schema=read_table(file).schema))
    assert read_benchmark(built).asked != read_benchmark(project).asked


@pytest.mark.parametrize(
    ("absent", "message"),
    [
        ("raw/coco", "raw/coco: not built yet"),
        ("phrases/coco.parquet", "coco.parquet: not built yet"),
        ("removals/coco", "removals/coco: not built yet"),
        ("painted/coco/cv2", "no painted test pictures; got 'cv2'; expected a built project: dvc repro"),
    ],
)
def test_what_is_not_built_is_named(project, absent, message):
    place = project / DATA / absent
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    with pytest.raises(BadInput, match=re.escape(message)):
        read_benchmark(project)


def test_names_that_the_project_lacks_come_with_the_choices(project):
    with pytest.raises(BadInput, match=r"field 'dataset': .*; got 'flickr30k' \(choices: coco\)"):
        read_benchmark(project, "flickr30k")
    with pytest.raises(BadInput, match=r"field 'filling': .*; got 'lama'.*\(choices: cv2\)"):
        read_benchmark(project, "coco", "lama")


def test_public_pictures_are_not_invented(project):
    parameters = yaml.safe_load((project / "params.yaml").read_text())
    parameters["world"]["coco"] = "hub"
    (project / "params.yaml").write_text(yaml.safe_dump(parameters))
    assert not read_benchmark(project).invented
