"""A preview's name leads back to its file's."""

import pytest

from trivium.kvqae.construction.commons import commons_file_name


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("512px-Ada_Lark_(1900).JPG", "Ada Lark (1900).JPG"),
        ("512px-Flag_of_X.svg.png", "Flag of X.svg"),
        ("lossy-page1-512px-Map_of_Dor.tif.jpg", "Map of Dor.tif"),
        ("page1-512px-Charter.pdf.jpg", "Charter.pdf"),
        ("page12-512px-Book.djvu.jpg", "Book.djvu"),
        ("512px--Speech.ogv.jpg", "Speech.ogv"),
        ("512px-ada.jpg", "Ada.jpg"),
        # No previews: files are called so.
        ("Ada.jpg", "Ada.jpg"),
        ("Logo.svg.png", "Logo.svg.png"),
        ("512px-Ada.jpg.png", "Ada.jpg.png"),
        ("512px-", "512px-"),
        ("Icon 512px-wide.png", "Icon 512px-wide.png"),
    ],
)
def test_the_file_of_a_preview(name, file):
    assert commons_file_name(name) == file
    assert commons_file_name(file) == file
