"""What is read of a folder and of a table, and what is listed."""

import json

import pytest

from tests.kvqae.asking.own_folder import close, write_entry, write_folder, write_picture
from trivium.core.errors import BadInput
from trivium.kvqae.asking.entries import parse_text, read_source


def kinds(source):
    return sorted((problem.kind, problem.place) for problem in source.problems)


def test_pictures_of_the_same_name_of_a_number_and_of_a_folder(tmp_path):
    for name in ("Old_mill.txt", "Ada.txt"):
        (tmp_path / name).write_text("It stands here.", "utf-8")
    names = ["Old_mill.jpg", "Old_mill-2.jpg", "Old_mill (3).png", "Ada/first.jpg", "Ada/second.jpg", "Old_miller.jpg"]
    for seed, name in enumerate(names):
        write_picture(tmp_path / name, seed)
    source = read_source(tmp_path)
    found = {entry.title: [path.name for path in entry.pictures] for entry in source.entries}
    assert found == {
        "Ada": ["first.jpg", "second.jpg"],
        "Old mill": ["Old_mill (3).png", "Old_mill-2.jpg", "Old_mill.jpg"],
    }
    assert kinds(source) == [("picture_without_text", "Old_miller.jpg")]


def test_a_number_that_belongs_to_the_name(tmp_path):
    write_entry(tmp_path, "Apollo 11", 0)
    write_entry(tmp_path, "Apollo 12", 1)
    assert [[path.name for path in entry.pictures] for entry in read_source(tmp_path).entries] == [
        ["Apollo 11.png"],
        ["Apollo 12.png"],
    ]


def test_what_is_wrong_is_listed_and_the_rest_is_taken(tmp_path):
    write_entry(tmp_path, "good", 0)
    (tmp_path / "empty.txt").write_text(" \n\n", "utf-8")
    (tmp_path / "latin.txt").write_bytes("Bâle".encode("latin-1"))
    (tmp_path / "alone.md").write_text("# Alone\n\nNobody drew it.", "utf-8")
    (tmp_path / "alone.txt").write_text("Again.", "utf-8")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "alone.md").write_text("# Alone\n\nNobody drew it.", "utf-8")
    source = read_source(tmp_path)
    assert [entry.title for entry in source.entries] == ["Alone", "good"]
    assert kinds(source) == [
        ("duplicate", "alone.txt"),
        ("duplicate", "copy/alone.md"),
        ("empty_text", "empty.txt"),
        ("no_picture", "alone.md"),
        ("unreadable_text", "latin.txt"),
    ]


def test_markdown_and_plain_text():
    text = "# The mill #\n\nOne\ntwo\n\n## Later\nThree.\n"
    assert parse_text(text, markdown=True) == ("The mill", ("One two", "Three."))
    assert parse_text(text, markdown=False)[0] == ""


def test_a_table_with_several_pictures_an_entry(tmp_path):
    write_picture(tmp_path / "a.png", 0)
    write_picture(tmp_path / "b.png", 1)
    (tmp_path / "museum.csv").write_text(
        "Title,text,image,year\nMill,It stands.,a.png,1\nMill,,b.png,2\nMill,Another mill.,nowhere.png,3\nInn,,a.png,4\n",
        "utf-8",
    )
    source = read_source(tmp_path / "museum.csv")
    assert [(entry.title, entry.paragraphs, [path.name for path in entry.pictures]) for entry in source.entries] == [
        ("Mill", ("It stands.",), ["a.png", "b.png"]),
        ("Mill", ("Another mill.",), []),
    ]
    assert kinds(source) == [
        ("empty_text", "museum.csv:5"),
        ("missing_picture", "museum.csv:4"),
        ("no_picture", "museum.csv:4"),
    ]


SQUIRREL, DECOMPOSED = "\u00c9cureuil l\u2019a vu", "E\u0301cureuil l'a vu"  # one look, two spellings


def test_names_that_look_alike_belong_together(tmp_path):
    folder = tmp_path / "museum"
    (folder / DECOMPOSED).mkdir(parents=True)
    for seed, name in enumerate((f"{DECOMPOSED}.jpg", f"{SQUIRREL} (2).png", f"{DECOMPOSED}/inside.jfif")):
        write_picture(tmp_path / "a.png", seed).rename(folder / name)
    (folder / f"{SQUIRREL}.txt").write_text("It climbs.", "utf-8")
    source = read_source(folder)
    assert [(entry.title, len(entry.pictures)) for entry in source.entries] == [(SQUIRREL, 3)]
    assert source.problems == []
    table = tmp_path / "m.csv"
    table.write_text(f"title,text,image\n{SQUIRREL},It climbs.,museum/{SQUIRREL}.jpg\n{DECOMPOSED},,museum/{SQUIRREL}/inside.jfif\n",
                     "utf-8")  # fmt: skip
    source = read_source(table)
    assert [(entry.title, len(entry.pictures)) for entry in source.entries] == [(SQUIRREL, 2)]
    assert source.problems == []


def test_a_picture_of_a_kind_that_is_not_read_is_listed_with_those_that_are(tmp_path):
    names = ("Badger.HEIC", "Badger.cr2", "notes.pdf")
    for name in names:
        (tmp_path / name).write_bytes(b"\0\0\0\x18ftypheic")
    (tmp_path / "Badger.txt").write_text("It digs.", "utf-8")
    (tmp_path / "m.csv").write_text("title,text,image\nBadger,It digs.,Badger.HEIC\n", "utf-8")
    for path, places in ((tmp_path, ["Badger.HEIC", "Badger.cr2"]), (tmp_path / "m.csv", ["m.csv:2"])):
        told = [problem for problem in read_source(path).problems if problem.kind == "picture_of_another_kind"]
        assert [problem.place for problem in told] == places
        assert all("save it as JPEG, PNG, WebP, GIF, BMP or TIFF" in problem.detail for problem in told)


@pytest.mark.parametrize(
    ("cell", "found", "missing"),
    [
        ("Photos\\A.PNG", ["a.png"], []),
        (".\\photos\\..\\photos\\a.png", ["a.png"], []),
        ("photos/a.png; photos\\b.png", ["a.png", "b.png"], []),
        ("photos/a.png, photos/none.png", ["a.png"], ["photos/none.png"]),
        ("photos/a;b,c.png", ["a;b,c.png"], []),
    ],
)
def test_backslashes_and_several_pictures_in_a_cell(tmp_path, cell, found, missing):
    for seed, name in enumerate(("a.png", "b.png", "a;b,c.png")):
        write_picture(tmp_path / "photos" / name, seed)
    (tmp_path / "m.csv").write_text(f'title,text,image\nOtter,It swims.,"{cell}"\n', "utf-8")
    (tmp_path / "m.jsonl").write_text(json.dumps({"title": "Otter", "text": "It swims.", "image": cell}), "utf-8")
    for table in ("m.csv", "m.jsonl"):
        source = read_source(tmp_path / table)
        assert [path.name for entry in source.entries for path in entry.pictures] == found
        assert [problem.detail for problem in source.problems if problem.kind == "missing_picture"] == missing


def test_json_lines(tmp_path):
    write_picture(tmp_path / "a.png", 0)
    rows = [{"title": "Mill", "text": "It stands.\n\nIt turns.", "image": ["a.png"]}, {"title": "Inn", "text": "Beer."}]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    entries = read_source(tmp_path / "m.jsonl").entries
    assert [(entry.title, len(entry.paragraphs), len(entry.pictures)) for entry in entries] == [
        ("Mill", 2, 1),
        ("Inn", 1, 0),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", "title,text\na,b\n", "missing columns: image; got \\['title', 'text'\\]"),
        ("m.csv", "title,text,image\n", "no entry; got 'nothing'"),
        ("m.jsonl", '{"title": "a"}', "m.jsonl:1: field 'text': missing"),
        ("m.jsonl", '{"title": "a", "text": "b", "image": 3}', "field 'image'"),
        ("m.pdf", "x", "no such folder or table; expected a folder, .csv or .jsonl"),
    ],
)
def test_a_table_that_cannot_be_read(tmp_path, name, content, message):
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(BadInput, match=message):
        read_source(tmp_path / name)


def test_no_such_folder_and_an_empty_one(tmp_path):
    with pytest.raises(BadInput, match="no such folder or table"):
        read_source(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no entry"):
        read_source(tmp_path)


def test_a_folder_that_may_not_be_read(tmp_path, monkeypatch):
    write_folder(tmp_path / "museum" / "inside", 1)
    write_folder(tmp_path / "museum", 1)
    close(tmp_path / "museum" / "inside", monkeypatch)
    with pytest.raises(BadInput, match=r"inside: a folder cannot be read: Permission denied"):
        read_source(tmp_path / "museum")
