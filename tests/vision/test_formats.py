"""What is opened at all."""

import io
from collections import Counter

import pytest
from PIL import EpsImagePlugin, Image, UnidentifiedImageError

from trivium.sources.decorrelation.images import fit_images
from trivium.vision.decoding import FORMATS, opened

SIZE = (40, 30)


def encoded(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise(SIZE, 50).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", FORMATS)
def test_named_formats_are_as_pillow_has_them(kind: str) -> None:
    data = encoded(kind)
    assert opened(data).format == kind
    assert opened(data).convert("RGB").tobytes() == Image.open(io.BytesIO(data)).convert("RGB").tobytes()


@pytest.mark.parametrize("kind", ["EPS", "PPM", "PDF"])
def test_others_are_not_looked_at(kind: str) -> None:
    with pytest.raises(UnidentifiedImageError):
        opened(encoded(kind))


def test_ghostscript_is_not_asked_for_an_eps_of_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *given, **_: asked.append(given))
    counts, unreadable = Counter(), []
    assert list(fit_images(iter([("x.jpg", encoded("EPS"))]), {"x.jpg": SIZE}, counts, unreadable, "images")) == []
    assert (asked, counts["images_unreadable"], unreadable) == ([], 1, ["x.jpg"])
