from pathlib import Path

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from PIL import Image

from trivium.core.errors import BadInput
from trivium.vision.local_descriptors.delg_files import NO_FILES, SHARED, DelgFiles, shared_names
from trivium.vision.local_descriptors.extractors import SiftExtractor
from trivium.vision.local_descriptors.folder import Description


def picture(seed: int = 0) -> Image.Image:
    """Squares of random colours."""
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)).resize((144, 144), Image.Resampling.NEAREST)


def messages() -> tuple[type, type]:
    """DELG's messages, built by the protobuf library from their published definition."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="delg.proto", package="delg", syntax="proto2")

    def message(name: str, *fields: tuple[str, int, int, int, str]) -> None:
        added = file.message_type.add(name=name)
        for label, number, kind, repeated, of in fields:
            new = added.field.add(name=label, number=number, type=kind, label=repeated, type_name=of or None)
            if repeated == field.LABEL_REPEATED and kind != field.TYPE_MESSAGE:
                new.options.packed = True

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    message("Shape", ("dim", 1, field.TYPE_INT64, many, ""))
    message("Floats", ("value", 1, field.TYPE_FLOAT, many, ""))
    message(
        "Datum",
        ("shape", 1, field.TYPE_MESSAGE, one, ".delg.Shape"),
        ("float_list", 2, field.TYPE_MESSAGE, one, ".delg.Floats"),
    )
    names = ("x", "y", "scale", "orientation", "strength")
    message(
        "Feature",
        ("descriptor", 1, field.TYPE_MESSAGE, one, ".delg.Datum"),
        *((name, number, field.TYPE_FLOAT, one, "") for number, name in enumerate(names, 2)),
    )
    message("Features", ("feature", 1, field.TYPE_MESSAGE, many, ".delg.Feature"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return tuple(
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"delg.{n}")) for n in ("Datum", "Features")
    )


DATUM, FEATURES = messages()


def datum(values: np.ndarray) -> object:
    made = DATUM()
    made.shape.dim.append(len(values))
    made.float_list.value.extend(values.tolist())
    return made


def write_delg(folder: Path, stem: str, overall: np.ndarray, local: list[tuple[np.ndarray, float, float]]) -> None:
    """Both files of an image; local descriptors with scale and strength."""
    folder.mkdir(exist_ok=True)
    (folder / f"{stem}.delg_global").write_bytes(datum(overall).SerializeToString())
    made = FEATURES()
    for values, scale, strength in local:
        made.feature.add(descriptor=datum(values), x=1, y=2, scale=scale, orientation=0, strength=strength)
    (folder / f"{stem}.delg_local").write_bytes(made.SerializeToString())


def test_sift_describes_in_delgs_format() -> None:
    extractor = SiftExtractor(10)
    first, again = extractor(picture()), extractor(picture())
    assert first.overall.shape == (extractor.global_dimension,)
    assert first.local.shape == (10, 128)
    assert np.allclose(np.linalg.norm(first.local, axis=1), 1, atol=1e-5)
    assert np.isclose(np.linalg.norm(first.overall), 1, atol=1e-5)
    assert ((first.scales >= 0) & (first.scales <= 6)).all()
    assert all((getattr(first, name) == getattr(again, name)).all() for name in ("overall", "local", "scales"))


def test_sift_finds_the_same_patches_in_a_darker_shifted_photograph() -> None:
    scene = np.asarray(picture(1))
    moved = Image.fromarray((np.roll(scene, (6, -4), axis=(0, 1)) * 0.9).astype(np.uint8))
    extractor = SiftExtractor(32)
    own, same, other = map(extractor, (picture(1), moved, picture(2)))
    matches = [(own.local @ each.local.T).max(axis=1).mean() for each in (same, other)]
    assert matches[0] > matches[1] + 0.1


def test_sift_tells_colours_apart() -> None:
    red = picture(3)
    blue = Image.fromarray(np.asarray(red)[:, :, ::-1].copy())
    one, two = map(SiftExtractor(8), (red, blue))
    assert one.overall @ two.overall < 0.95


def test_a_smooth_image_has_no_local_descriptor() -> None:
    found = SiftExtractor(10)(Image.new("RGB", (40, 30), "navy"))
    assert found.local.shape == (0, 128)
    assert np.isclose(np.linalg.norm(found.overall), 1, atol=1e-5)


def test_reads_what_delgs_tool_writes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    overall, local = rng.normal(size=6), rng.normal(size=(3, 128))
    write_delg(tmp_path, "Tower.of", overall, [(local[0], 0.5, 1.0), (local[1], 0.70710677, 3.0), (local[2], 4.0, 2.0)])
    found = DelgFiles(tmp_path, 2, 6)("Tower.of.jpg")
    assert isinstance(found, Description)
    assert np.allclose(found.overall, overall / np.linalg.norm(overall), atol=1e-6)
    assert np.allclose(found.local, (local / np.linalg.norm(local, axis=1, keepdims=True))[[1, 2]], atol=1e-6)
    assert found.scales.tolist() == [1, 6]


def test_no_image_gets_another_ones_delg_files(tmp_path: Path) -> None:
    """One stem, three images: a file without ending is nobody's, one with the ending is that image's."""
    images = ("a.jpg", "a.JPG", "a.png", "a.png.jpg", "b.jpg", "c.jpg")
    shared = shared_names(images)
    assert shared == {"a", "a.png"}
    for number, name in enumerate(("a", "a.JPG", "a.png", "b", "b.jpg", "c")):
        write_delg(tmp_path, name, np.eye(6)[number], [])
    read = DelgFiles(tmp_path, 5, 6, shared)
    found = {image: read(image) for image in images}
    axes = {image: each if isinstance(each, str) else int(each.overall.argmax()) for image, each in found.items()}
    assert axes == {"a.jpg": SHARED, "a.JPG": 1, "a.png": SHARED, "a.png.jpg": SHARED, "b.jpg": 4, "c.jpg": 5}
    assert read("d.jpg") == NO_FILES
    (tmp_path / "b.jpg.delg_local").unlink()
    with pytest.raises(BadInput, match=r"one of an image's two files is missing; got 'b.jpg.delg_global'"):
        read("b.jpg")
