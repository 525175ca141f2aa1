from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from PIL import Image

from tests.kvqae.odd_pictures import load_base, odd_pictures, write_base
from trivium.core.errors import BadInput
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoding import Features, LoadedEncoder, embed_prepared, prepare_images


def encode_images(images: list[tuple[str, bytes]], encoder: LoadedEncoder) -> Features:
    return embed_prepared(prepare_images(images, encoder, max_side=512, max_pixels=10_000_000), encoder)


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedEncoder]:
    return load_base(write_base(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def images() -> dict[str, bytes]:
    return odd_pictures()


@pytest.mark.parametrize("name", ENCODERS)
def test_batches_change_nothing(name: str, encoders: dict[str, LoadedEncoder], images: dict[str, bytes]) -> None:
    def encode(batch: list[tuple[str, bytes]]) -> Features:
        return encode_images(batch, encoders[name])

    items = list(images.items())
    whole = encode(items)
    parts = [encode(items[start : start + 3]) for start in range(0, len(items), 3)]
    assert np.allclose(whole.matrix, np.concatenate([part.matrix for part in parts]), atol=2e-3)
    for column in set(whole.table.column_names) & {"name", "unreadable", "faces", "detected", "width", "height"}:
        assert whole.table[column].to_pylist() == [value for part in parts for value in part.table[column].to_pylist()]


@pytest.mark.parametrize("name", ENCODERS)
def test_each_image_is_decoded_once(
    name: str, encoders: dict[str, LoadedEncoder], images: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    image_open = Image.open
    monkeypatch.setattr(
        Image, "open", lambda file, **options: opened.append(file.getvalue()) or image_open(file, **options)
    )
    encode_images(list(images.items()), encoders[name])
    assert opened == list(images.values())


def test_nan_embedding_names_the_image(encoders: dict[str, LoadedEncoder], images: dict[str, bytes]) -> None:
    embeddings = np.ones((7, 16), np.float32)  # of seven readable images, the second is noise.png
    embeddings[1, 3] = np.nan
    broken = Mock(embed=Mock(return_value=embeddings), dimension=16, path=Path("clip"))
    with pytest.raises(BadInput, match=r"clip:noise\.png: NaN or infinite embedding"):
        encode_images(list(images.items()), replace(encoders["clip"], embed=broken))
