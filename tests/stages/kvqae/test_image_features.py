import io
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from stages.kvqae.image_features import encode_folder
from tests.kvqae.odd_pictures import entry_of, load_base, odd_pictures, write_base
from trivium.core.image_shards import write_images
from trivium.core.matrices import read_matrix
from trivium.core.stage import execute
from trivium.core.tables import read_table
from trivium.kvqae.retrieval import image_features
from trivium.kvqae.retrieval.image_features import ImageFeaturesParameters
from trivium.vision.align import align
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoding import LoadedEncoder

SECTION = {"batch_size": 4, "max_side": 512, "max_pixels": 10_000_000}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def encoders(base: Path) -> dict[str, LoadedEncoder]:
    return load_base(base)


@pytest.fixture(scope="module")
def images() -> dict[str, bytes]:
    return odd_pictures()


def prepare(
    folder: Path, base: Path, images: dict[str, bytes], workers: int = 1, encoder: str = "arcface"
) -> list[str]:
    """Write the stage's inputs; returns its command line."""
    write_images(folder / "images", images.items(), shard_size=4)
    entries = {name: entry_of(base, name) for name in ENCODERS}
    tree = {"kvqae": {"image_features": SECTION, "image_encoders": entries}, "run": {"workers": workers}}
    (folder / "params.yaml").write_text(yaml.safe_dump(tree))
    arguments = {
        "params": folder / "params.yaml",
        "encoder": encoder,
        "images": folder / "images",
        "out": folder / "features",
    }
    return [str(word) for name, value in arguments.items() for word in (f"--{name}", value)]


def run(argv: list[str]) -> dict[str, float]:
    """The stage as `dvc repro` runs it, in this process."""
    image_features.load_encoder.cache_clear()
    return execute(encode_folder, "kvqae.image_features", ImageFeaturesParameters, argv)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_stage(scratch: Path, base: Path, images: dict[str, bytes], encoders: dict[str, LoadedEncoder]) -> None:
    metrics = run(prepare(scratch, base, images))
    assert metrics == {
        "images": 10,
        "unreadable_not_an_image": 1,
        "unreadable_corrupt": 1,
        "unreadable_too_large": 1,
        "broken_exif": 0,
        "truncated": 0,
        "too_small_for_faces": 3,  # 1 × 1, 48 × 19, and 20 000 × 40 reduced to 512 × 1
        "face_detector_failed": 0,
        "with_face": 3,
        "with_several_faces": 1,
    }
    table = read_table(scratch / "features" / "pictures.parquet")
    assert table["name"].to_pylist() == list(images)
    rows = {row["name"]: row for row in table.to_pylist()}
    assert {name for name, row in rows.items() if row["detected"]} == {"woman.png", "two.png", "man.jpg"}
    assert {name: row["unreadable"] for name, row in rows.items() if row["unreadable"]} == {
        "cut.png": "corrupt",
        "page.html": "not_an_image",
        "wall.png": "too_large",
    }
    assert (rows["strip.png"]["width"], rows["strip.png"]["height"]) == (512, 1)
    assert rows["two.png"]["faces"] == 2
    assert rows["noise.png"]["faces"] == 0
    assert rows["noise.png"]["box"] is rows["noise.png"]["landmarks"] is rows["one.png"]["faces"] is None

    vectors = {"arcface": np.asarray(read_matrix(scratch / "features" / "vectors.npy"))}
    for name in ("imagenet", "clip"):
        counted = run(prepare(scratch, base, images, encoder=name))
        assert counted == {key: metrics[key] for key in list(metrics)[:6]}
        rest = read_table(scratch / "features" / "pictures.parquet")
        assert rest.equals(table.select(["name", "width", "height", "unreadable"]))
        vectors[name] = np.asarray(read_matrix(scratch / "features" / "vectors.npy"))
    assert {name: (matrix.shape, matrix.dtype.name) for name, matrix in vectors.items()} == {
        "arcface": ((10, 8), "float16"),
        "imagenet": ((10, 512), "float16"),
        "clip": ((10, 16), "float16"),
    }
    lengths = {name: np.linalg.norm(matrix.astype(np.float64), axis=1) for name, matrix in vectors.items()}
    readable = np.array([row["unreadable"] is None for row in table.to_pylist()])
    for name, expected in (("arcface", table["detected"].to_numpy()), ("imagenet", readable), ("clip", readable)):
        assert np.allclose(lengths[name], expected, atol=2e-3)

    picture = Image.open(io.BytesIO(images["woman.png"])).convert("RGB")
    landmarks = np.reshape(rows["woman.png"]["landmarks"], (5, 2))
    crop = align(np.asarray(picture), landmarks)
    assert np.allclose(vectors["arcface"][0], encoders["arcface"].embed([crop])[0], atol=1e-3)
    assert np.allclose(vectors["imagenet"][0], encoders["imagenet"].embed([picture])[0], atol=1e-3)
    assert np.allclose(vectors["clip"][0], encoders["clip"].embed([picture])[0], atol=1e-3)
    assert not list((scratch / ".work").rglob("*.npy"))
