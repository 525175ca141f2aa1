import pytest

from trivium.formats.pictures import KINDS, is_picture, unread_picture


@pytest.mark.parametrize("name", ["a.jpg", "a.JPEG", "a.jfif", "a.jpe", "folder.txt/a.TIFF", "a.b.webp"])
def test_pictures_are_told_by_their_suffix(name):
    assert is_picture(name)
    assert unread_picture(name) == ""


@pytest.mark.parametrize(
    ("name", "kind"), [("a.HEIC", "HEIC"), ("a.heif", "HEIC"), ("a.avif", "AVIF"), ("IMG.CR3", "RAW"), ("a.dng", "RAW")]
)
def test_pictures_that_are_not_read_are_named_with_the_kinds_that_are(name, kind):
    assert not is_picture(name)
    assert f"{kind}): save it as {KINDS}" in unread_picture(name)


def test_a_photograph_of_a_telephone_named_jpg_is_told_by_its_head():
    assert "HEIC" in unread_picture("a.jpg", b"\0\0\0\x18ftypheic")
    assert "HEIC" in unread_picture("", b"\0\0\0\x18ftypmif1heic")
    assert unread_picture("notes.txt") == unread_picture("x", b"text") == ""
