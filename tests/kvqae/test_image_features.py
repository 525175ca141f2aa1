import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import insightface
import numpy as np
import pytest
import torch
import yaml
from PIL import Image
from pydantic import ValidationError

from stages.kvqae import image_features
from stages.kvqae.image_features import Encoders, ImageFeaturesParameters, encode_images, main
from stages.kvqae.pictures.align import align
from stages.kvqae.pictures.faces import FaceDetector, FaceEncoder
from stages.kvqae.pictures.visual_encoders import load_clip, load_imagenet
from stages.stage import BadInput, execute
from stages.tables import read_matrix, read_table, write_images
from tests.kvqae.tiny_encoders import write_clip, write_imagenet, write_onnx

CPU = torch.device("cpu")
SECTION = {
    "clip": "models/clip",
    "batch_size": 4,
    "max_side": 512,
    "max_pixels": 10_000_000,
    "min_side": 20,
    "min_face": 20,
    "thresholds": [0.6, 0.7, 0.7],
    "factor": 0.709,
}


def encoded(pixels: np.ndarray, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    write_onnx(folder / "arcface" / "model.onnx", np.random.default_rng(0).normal(size=(3, 8)))
    write_imagenet(folder / "imagenet")
    write_clip(folder / "clip")
    return folder


@pytest.fixture(scope="module")
def encoders(base: Path) -> Encoders:
    detector = FaceDetector(min_side=20, min_face=20, thresholds=(0.6, 0.7, 0.7), factor=0.709, device=CPU)
    arcface = FaceEncoder(base / "arcface" / "model.onnx", CPU)
    return Encoders(detector, arcface, load_imagenet(base / "imagenet", CPU), load_clip(base / "clip", CPU))


@pytest.fixture(scope="module")
def images() -> dict[str, bytes]:
    """Ten images: people, landscapes and what Commons has of broken and odd ones."""
    path = Path(insightface.__file__).parent / "data" / "images" / "t1.jpg"
    group = np.asarray(Image.open(path).convert("RGB"))
    woman = encoded(group[240:420, 30:190])
    noise = np.random.default_rng(0).integers(0, 256, (64, 48, 3), dtype=np.uint8)
    return {
        "woman.png": woman,
        "cut.png": woman[: len(woman) // 2],
        "noise.png": encoded(noise),
        "page.html": b"<html>404</html>",
        "one.png": encoded(noise[:1, :1]),
        "strip.png": encoded(np.zeros((40, 20_000), np.uint8)),
        "wall.png": encoded(np.zeros((4_000, 4_000), np.uint8)),
        "two.png": encoded(group[130:410, 260:600]),
        "low.png": encoded(noise[:19]),
        "man.jpg": encoded(group[330:480, 720:870], "JPEG"),
    }


def prepare(folder: Path, base: Path, images: dict[str, bytes], workers: int = 1) -> list[str]:
    """Write the stage's inputs; returns its command line."""
    write_images(folder / "images", images.items(), shard_size=4)
    tree = {"kvqae": {"image_features": SECTION}, "run": {"workers": workers}}
    (folder / "params.yaml").write_text(yaml.safe_dump(tree))
    arguments = {
        "params": folder / "params.yaml",
        "images": folder / "images",
        "arcface": base / "arcface" / "model.onnx",
        "imagenet": base / "imagenet",
        "clip": base / "clip",
        "out": folder / "features",
    }
    return [str(word) for name, value in arguments.items() for word in (f"--{name}", value)]


def run(argv: list[str]) -> dict[str, float]:
    """The stage as `dvc repro` runs it, in this process."""
    image_features.load_encoders.cache_clear()
    return execute(main, "kvqae.image_features", ImageFeaturesParameters, argv)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_stage(scratch: Path, base: Path, images: dict[str, bytes], encoders: Encoders) -> None:
    metrics = run(prepare(scratch, base, images))
    assert metrics == {
        "images": 10,
        "unreadable_not_an_image": 1,
        "unreadable_corrupt": 1,
        "unreadable_too_large": 1,
        "broken_exif": 0,
        "too_small_for_faces": 3,  # 1 × 1, 48 × 19, and 20 000 × 40 reduced to 512 × 1
        "face_detector_failed": 0,
        "with_face": 3,
        "with_several_faces": 1,
    }
    table = read_table(scratch / "features" / "faces.parquet")
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

    matrices = {name: np.asarray(read_matrix(scratch / "features" / f"{name}.npy")) for name in image_features.MATRICES}
    assert {name: (matrix.shape, matrix.dtype.name) for name, matrix in matrices.items()} == {
        "arcface": ((10, 8), "float16"),
        "imagenet": ((10, 512), "float16"),
        "clip": ((10, 16), "float16"),
    }
    lengths = {name: np.linalg.norm(matrix.astype(np.float64), axis=1) for name, matrix in matrices.items()}
    readable = np.array([row["unreadable"] is None for row in table.to_pylist()])
    for name, expected in (("arcface", table["detected"].to_numpy()), ("imagenet", readable), ("clip", readable)):
        assert np.allclose(lengths[name], expected, atol=2e-3)

    picture = Image.open(io.BytesIO(images["woman.png"])).convert("RGB")
    landmarks = np.reshape(rows["woman.png"]["landmarks"], (5, 2))
    crop = align(np.asarray(picture), landmarks)
    assert np.allclose(matrices["arcface"][0], encoders.arcface([crop])[0], atol=1e-3)
    assert np.allclose(matrices["imagenet"][0], encoders.imagenet([picture])[0], atol=1e-3)
    assert np.allclose(matrices["clip"][0], encoders.clip([picture])[0], atol=1e-3)
    assert not list((scratch / ".work").rglob("*.npy"))


def test_broken_exif_blocks_are_counted_and_change_nothing_else(
    scratch: Path, base: Path, images: dict[str, bytes]
) -> None:
    def broken(data: bytes) -> bytes:
        return encoded(np.asarray(Image.open(io.BytesIO(data))), exif=b"Exif\x00\x00" + b"\xff" * 40)

    run(prepare(scratch, base, images))
    whole = contents(scratch / "features")
    metrics = run(prepare(scratch, base, images | {name: broken(images[name]) for name in ("woman.png", "low.png")}))
    assert metrics["broken_exif"] == 2
    assert contents(scratch / "features") == whole


@pytest.mark.parametrize("batch_size", [1, 3])
def test_batches_change_nothing(batch_size: int, encoders: Encoders, images: dict[str, bytes]) -> None:
    def encode(batch: list[tuple[str, bytes]]) -> image_features.Features:
        return encode_images(batch, encoders, max_side=512, max_pixels=10_000_000)

    items = list(images.items())
    whole = encode(items)
    parts = [encode(items[start : start + batch_size]) for start in range(0, len(items), batch_size)]
    for name, matrix in whole.matrices.items():
        assert np.allclose(matrix, np.concatenate([part.matrices[name] for part in parts]), atol=2e-3)
    for column in ("name", "unreadable", "faces", "detected", "width", "height"):
        assert whole.table[column].to_pylist() == [value for part in parts for value in part.table[column].to_pylist()]


def test_each_image_is_decoded_once(
    encoders: Encoders, images: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    image_open = Image.open
    monkeypatch.setattr(Image, "open", lambda file: opened.append(file.getvalue()) or image_open(file))
    encode_images(list(images.items()), encoders, max_side=512, max_pixels=10_000_000)
    assert opened == list(images.values())


def test_goes_on_after_a_kill(
    scratch: Path, base: Path, images: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of three shards breaks off; the next start encodes only that one, and the result is the same."""
    argv = prepare(scratch, base, images)
    encode, seen = image_features.encode_images, []

    def recording(batch: list[tuple[str, bytes]], *args: object, **limits: int) -> image_features.Features:
        seen.append([name for name, _ in batch])
        if len(seen) == 3:
            raise KeyboardInterrupt
        return encode(batch, *args, **limits)

    monkeypatch.setattr(image_features, "encode_images", recording)
    with pytest.raises(KeyboardInterrupt):
        run(argv)
    assert not (scratch / "features").exists()
    run(argv)
    names = list(images)
    assert seen == [names[:4], names[4:8], names[8:], names[8:]]
    interrupted = contents(scratch / "features")
    run(argv)
    assert contents(scratch / "features") == interrupted


@pytest.mark.slow
def test_two_workers_give_the_same(scratch: Path, base: Path, images: dict[str, bytes]) -> None:
    run(prepare(scratch, base, images))
    alone = contents(scratch / "features")
    run(prepare(scratch, base, images, workers=2))
    assert contents(scratch / "features") == alone


def test_light_until_a_worker_loads_the_networks() -> None:
    code = "import sys, stages.kvqae.image_features; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_side": 19}, "min_side 19 must not be less than min_face 20"),
        ({"factor": 1}, "less than 1"),
        ({"thresholds": [0.6, 0.7, 7]}, "less than or equal to 1"),
        ({"thresholds": [0.6, 0.7]}, "thresholds"),
    ],
)
def test_parameters_out_of_range(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ImageFeaturesParameters.model_validate(SECTION | change)


def test_nan_embedding_names_the_image(encoders: Encoders, images: dict[str, bytes]) -> None:
    embeddings = np.ones((7, 16), np.float32)  # of seven readable images, the second is noise.png
    embeddings[1, 3] = np.nan
    broken = Mock(return_value=embeddings, dimension=16, path=Path("clip"))
    with pytest.raises(BadInput, match=r"clip:noise\.png: NaN or infinite embedding"):
        encode_images(
            list(images.items()),
            replace(encoders, clip=broken),
            max_side=512,
            max_pixels=10_000_000,
        )
