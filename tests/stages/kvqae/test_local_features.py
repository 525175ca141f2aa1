import io
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from stages.kvqae.local_features import describe_side
from tests.vision.local_descriptors.test_extractors import write_delg
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import read_table
from trivium.kvqae.rerankers import local_features as local_features_library
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, write_list
from trivium.vision.local_descriptors.folder import FeatureFolder


def jpeg(seed: int, exif: bytes = b"") -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).resize((96, 96), Image.Resampling.NEAREST).save(out, "JPEG", exif=exif)
    return out.getvalue()


IMAGES = {
    "a.jpg": jpeg(1),
    "page.html": b"<html>",
    "b.jpg": jpeg(2),
    "cut.jpg": jpeg(3)[:300],
    "c.jpg": jpeg(1, exif=b"Exif\x00\x00" + b"\xff" * 40),
    "smooth.png": b"",
}


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Six images in three shards; returns the command line."""
    monkeypatch.chdir(tmp_path)
    local_features_library._extractor.cache_clear()
    smooth = io.BytesIO()
    Image.new("RGB", (40, 40), "red").save(smooth, "PNG")
    write_images(Path("images"), (IMAGES | {"smooth.png": smooth.getvalue()}).items(), shard_size=2)
    Path("extractor").mkdir()
    Path("extractor/extractor.json").write_text('{"kind": "sift"}')
    settings(workers=1)
    write_list(Path("compared.txt"), IMAGES)
    files = ["--compared", "compared.txt", "--extractor", "extractor", "--out", "features"]
    return ["--name", "kb", "--images", "images", *files]


def settings(workers: int, local: str = "") -> None:
    section = {"local": local, "most": 5, "max_side": 256, "max_pixels": 10_000_000}
    tree = {"kvqae": {"local_features": section}, "run": {"workers": workers}}
    Path("params.yaml").write_text(yaml.safe_dump(tree))


def run(argv: list[str]) -> dict[str, float]:
    return execute(describe_side, "kvqae.local_features", LocalFeaturesParameters, argv)


def test_stage(stage: list[str]) -> None:
    metrics = run(stage)
    assert metrics == {
        "images": 6,
        "unreadable_not_an_image": 1,
        "unreadable_corrupt": 1,
        "unreadable_too_large": 0,
        "unreadable_no_features": 0,
        "unreadable_stem_shared": 0,
        "without_locals": 1,
        "locals_mean": 15 / 4,
        "broken_exif": 1,
        "truncated": 0,
        "images_missing": 0,
    }
    table = read_table(Path("features/names.parquet")).to_pydict()
    assert table["name"] == list(IMAGES)
    assert table["locals"] == [5, None, 5, None, 5, 0]
    features = FeatureFolder.read(Path("features"))
    assert features.local.shape == (6, 5, 128)
    assert (features.local[0] == features.local[4]).all()
    assert (features.overall[0] == features.overall[4]).all()
    assert not features.overall[[1, 3]].any()
    assert features.overall[5].any()
    assert not features.local[[1, 3, 5]].any()


DELG = Path("mine/delg/kb")  # in the user's folder, for the knowledge base's images


def test_features_that_delgs_tool_extracted(stage: list[str]) -> None:
    DELG.parent.mkdir(parents=True)
    Path("extractor/extractor.json").write_text('{"kind": "delg_files", "global_dimension": 6}')
    rng = np.random.default_rng(0)
    for stem in ("a", "b", "cut"):
        write_delg(DELG, stem, rng.normal(size=6), [(rng.normal(size=128), 1.0, 2.0)])
    settings(workers=1, local="mine")
    metrics = run(stage)
    assert metrics["unreadable_no_features"] == 3
    assert FeatureFolder.read(Path("features")).counts.tolist() == [1, -1, 1, 1, -1, -1]
    assert FeatureFolder.read(Path("features")).scales[0].tolist() == [2, 0, 0, 0, 0]
