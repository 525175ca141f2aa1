"""The file of removals is read back as it was written."""

from dataclasses import replace

from trivium.core.tables import read_table
from trivium.decorrelation.regions.removal_table import read_removals, write_removals
from trivium.formats.pictures import Removal

FIRST = Removal(
    id="7_hot_dog",
    picture=7,
    name="seven.jpg",
    split="train",
    class_name="hot dog",
    removed=("fork", "hot dog"),
    remaining=("dog",),
    mask="04",
    height=2,
    width=2,
    share=0.25,
    drawn=True,
)
EMPTY = replace(FIRST, id="8_empty", picture=8, split="test", class_name="", removed=(), drawn=True)


def test_what_is_written_is_read_again(tmp_path):
    file = tmp_path / "removals.parquet"
    write_removals(file, iter([FIRST, EMPTY]))
    assert read_removals(file) == [FIRST, EMPTY]
    assert read_table(file)["class"].to_pylist() == ["hot dog", ""]


def test_more_rows_than_fit_one_batch_keep_their_order(tmp_path):
    many = [replace(FIRST, id=str(number), picture=number) for number in range(5000)]
    write_removals(tmp_path / "removals.parquet", many)
    assert read_removals(tmp_path / "removals.parquet") == many
