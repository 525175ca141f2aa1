import base64
import io

from PIL import Image

from stages.report.gallery import NO_PICTURE, highlight, pictures_missing, thumbnail


def encoded(image):
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def test_thumbnail_is_a_square_jpeg():
    address = thumbnail(encoded(Image.new("LA", (300, 100))), 64)
    assert address.startswith("data:image/jpeg;base64,")
    with Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))) as image:
        assert (image.size, image.mode) == ((64, 64), "RGB")


def test_unreadable_image_has_no_thumbnail():
    assert thumbnail(b"not an image", 64) is None
    assert thumbnail(encoded(Image.new("RGB", (50, 50)))[:60], 64) is None
    noise = encoded(Image.effect_noise((400, 400), 100))
    first, second, *rest = noise.split(b"IDAT")  # pixels come in chunks of 64 KiB
    assert thumbnail(b"IDAT".join([first, second + b"\x06_\xf2\x00" + b"".join(rest)]), 64) is None


def test_images_of_one_pixel_and_of_twenty_thousand():
    assert thumbnail(encoded(Image.new("RGB", (1, 1))), 64).startswith("data:image/jpeg")
    assert thumbnail(encoded(Image.new("L", (20_000, 40))), 64).startswith("data:image/jpeg")
    assert thumbnail(encoded(Image.new("1", (20_000, 20_000))), 64) is None  # Pillow takes it for a bomb


def test_answers_are_marked_longest_first_whole_words_and_everything_is_escaped():
    marked = highlight("<b>New York</b>, new York City, Yorkshire", ["York", "New York", "the", "New York City"])
    assert marked == ("&lt;b&gt;<mark>New York</mark>&lt;/b&gt;, <mark>new York City</mark>, Yorkshire")
    assert highlight("a & b", ["the"]) == "a &amp; b"


def test_pictures_that_cannot_be_shown_are_counted():
    whole = {"image": "data:image/jpeg;base64,AA", "passages": [{"image": "data:image/jpeg;base64,AA"}]}
    broken = {"image": NO_PICTURE, "passages": [{"image": None}, {"image": "data:image/jpeg;base64,AA"}]}
    assert pictures_missing([whole]) == 0
    assert pictures_missing([whole, broken]) == 1 + 1
