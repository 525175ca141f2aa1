"""A base is made once, and then only what is new: it equals a fresh one."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from tests.kvqae.asking.own_folder import open_asker, settings, write_entry, write_folder, write_picture
from tests.kvqae.tiny_encoders import write_onnx
from trivium.core.errors import BadInput
from trivium.core.tables import read_csv, read_json
from trivium.kvqae.asking import own_base
from trivium.kvqae.asking.building import DESCRIBED, LISTED, build, hash_of
from trivium.kvqae.asking.encoding import VERSION, Shown, models_of
from trivium.kvqae.asking.entries import read_source
from trivium.kvqae.asking.own_base import OwnBase


def no_foreign(name, model):
    raise AssertionError(f"{name} is registered")


def make(root, told, name="base"):
    return build(told, read_source(told.source), root / name, root / "vectors", *models_of(told, no_foreign))


def files(base):
    """Every matrix and table of a base, but Lucene's."""
    return {path.relative_to(base).as_posix(): path for path in sorted(base.rglob("*")) if path.is_file()
            and "bm25" not in path.parts and path.name != DESCRIBED}  # fmt: skip


def test_ten_new_entries_encode_ten_and_the_result_is_that_of_a_fresh_base(tmp_path):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 30))
    assert make(tmp_path, told)["encoded_now"] == {"clip": 30}
    assert make(tmp_path, told)["encoded_now"] == {"clip": 0}
    for number in range(30, 40):
        write_entry(tmp_path / "museum", f"tower_{number}", number)
    for kind in ("txt", "png"):
        (tmp_path / "museum" / f"tower_03.{kind}").unlink()
    write_picture(tmp_path / "museum" / "tower_05.png", 1005)
    (tmp_path / "museum" / "tower_06.txt").write_text("It was moved to Basel.", "utf-8")
    described = make(tmp_path, told)
    assert described["encoded_now"] == {"clip": 11}
    assert described["entries"] == 39
    (tmp_path / "fresh").mkdir()
    fresh = make(tmp_path / "fresh", told)
    assert fresh["encoded_now"] == {"clip": 39}
    ours, theirs = files(tmp_path / "base"), files(tmp_path / "fresh" / "base")
    assert list(ours) == list(theirs)
    for name, path in ours.items():
        if name.endswith(".npy"):
            np.testing.assert_allclose(np.load(path), np.load(theirs[name]), atol=1e-6, rtol=0)
        elif name.endswith(".json"):
            left, right = (read_json(file)["whole"] for file in (path, theirs[name]))
            np.testing.assert_allclose(left.pop("impostors"), right.pop("impostors"), atol=1e-4)
            assert left.pop("temperature") == pytest.approx(right.pop("temperature"), rel=1e-2)
            assert left["scales"]["clip"] == pytest.approx(right["scales"]["clip"], abs=1e-6)
        else:
            assert path.read_bytes() == theirs[name].read_bytes()


def test_broken_pictures_are_listed_and_never_fatal(tmp_path):
    folder = write_folder(tmp_path / "museum", 20)
    (folder / "tower_01.png").write_bytes(b"")
    cut = (folder / "tower_02.png").read_bytes()
    (folder / "tower_02.png").write_bytes(cut[: len(cut) // 2])
    (folder / "tower_03.png").write_bytes((folder / "tower_04.png").read_bytes())
    described = make(tmp_path, settings(tmp_path, folder))
    assert described["counts"] == {"broken_picture": 2, "shared_picture": 1}
    assert described["pictures_with_vector"] == {"clip": 18}
    rows = [row for _, row in read_csv(tmp_path / "base" / LISTED)]
    assert [row[0] for row in rows] == ["kind", "shared_picture", "broken_picture", "broken_picture"]
    assert "not_an_image" in rows[2][2]


def test_pictures_that_are_read_in_spite_of_a_flaw_are_listed_as_long_as_they_are_there(tmp_path):
    folder = write_folder(tmp_path / "museum", 20)
    whole, broken = io.BytesIO(), io.BytesIO()
    picture = Image.effect_noise((200, 200), 60).convert("RGB")
    picture.save(whole, "JPEG")
    picture.rotate(90).save(broken, "JPEG", exif=b"Exif\0\0no block")
    (folder / "tower_01-2.jpg").write_bytes(whole.getvalue()[:-40])
    (folder / "tower_02-2.jpg").write_bytes(broken.getvalue())
    told = settings(tmp_path, folder)
    for _ in range(2):  # the second time nothing is decoded
        assert make(tmp_path, told)["counts"] == {"truncated": 1, "broken_exif": 1}
        rows = [row for _, row in read_csv(tmp_path / "base" / LISTED)]
        assert [(row[0], row[1][-14:]) for row in rows[1:]] == [
            ("truncated", "tower_01-2.jpg"),
            ("broken_exif", "tower_02-2.jpg"),
        ]
    (folder / "tower_01-2.jpg").unlink()
    assert make(tmp_path, told)["counts"] == {"broken_exif": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 3\n", "a pointer of Git LFS"),
        (b"<!DOCTYPE html><html>404</html>", "a page of HTML"),
    ],
)
def test_what_stands_in_the_place_of_a_picture_is_named(tmp_path, content, said):
    folder = write_folder(tmp_path / "museum", 2)
    (folder / "tower_01.png").write_bytes(content)
    make(tmp_path, settings(tmp_path, folder))
    (_, problem) = [row for _, row in read_csv(tmp_path / "base" / LISTED)]
    assert problem[0] == "unreadable_picture"
    assert said in problem[2]


def test_a_base_without_any_face(tmp_path):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 20))
    write_onnx(tmp_path / "arcface" / "model.onnx")
    told = told.model_copy(update={"image_encoders": {"arcface": str(tmp_path / "arcface"), **told.image_encoders}})
    assert make(tmp_path, told)["pictures_with_vector"] == {"arcface": 0, "clip": 20}
    with open_asker(tmp_path / "base", no_foreign) as asker:
        answer = asker.ask("Where does it stand?", (tmp_path / "museum" / "tower_07.png").read_bytes())
    assert answer.entries[0].title == "tower 07"
    assert answer.supports[0].title == "tower 07"
    assert answer.supports[0].picture == (tmp_path / "museum" / "tower_07.png").read_bytes()
    assert answer.faces == []
    assert any(note.startswith("Nobody reads") for note in answer.notes)


@pytest.mark.parametrize("without", [{}, {"image_encoders": {}}])
def test_a_base_without_any_picture(tmp_path, without):
    folder = tmp_path / "museum"
    folder.mkdir()
    for name in ("mill", "inn"):
        (folder / f"{name}.txt").write_text(f"The {name} stands in Bern.", "utf-8")
    described = make(tmp_path, settings(tmp_path, folder).model_copy(update=without))
    assert described["counts"] == {"no_picture": 2}
    with open_asker(tmp_path / "base", no_foreign) as asker:
        answer = asker.ask("Where is the inn?", write_picture(tmp_path / "a.png", 0).read_bytes())
    assert answer.supports[0].title == "inn"
    assert (answer.entries, answer.score) == ((), None)
    assert "The base has no picture to compare with: the answer comes from the texts alone." in answer.notes


def test_a_picture_that_changes_meanwhile_is_not_taken_for_another(tmp_path):
    path = write_picture(tmp_path / "tower.png", 1)
    shown = Shown(hash_of(path), path)
    write_picture(path, 77)
    with pytest.raises(BadInput, match=r"tower.png: the picture has changed since it was listed"):
        shown.open()


def test_what_cannot_be_asked(tmp_path):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 20))
    make(tmp_path, told)
    with open_asker(tmp_path / "base", no_foreign) as asker:
        with pytest.raises(BadInput, match="the question is empty"):
            asker.ask(" ", None)
        with pytest.raises(BadInput, match="not an image"):
            asker.ask("what?", b"nothing")
        with pytest.raises(BadInput, match="field '--face': no such face; got 1; expected 0, the whole picture"):
            asker.ask("what?", (tmp_path / "museum" / "tower_07.png").read_bytes(), face=1)
        assert asker.ask("Who lives in tower 09?", None).supports[0].title == "tower 09"
        strange = io.BytesIO()
        Image.new("RGB", (30, 30), "white").save(strange, "PNG")
        assert not asker.ask("what?", strange.getvalue()).entries[0].sure


def test_a_base_that_is_made_anew_while_it_is_asked_is_said(tmp_path):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 5))
    make(tmp_path, told)
    with open_asker(tmp_path / "base", no_foreign) as asker:
        write_entry(tmp_path / "museum", "abbey", 99)  # the first of all: the numbers of the others change
        make(tmp_path, told)
        with pytest.raises(BadInput, match=r"base: was made anew .* start it again, when `trivium kb` has ended"):
            asker.ask("Who lives in tower 03?", None)


def test_a_base_that_is_made_anew_while_it_is_loaded_is_said(tmp_path, monkeypatch):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 5))
    make(tmp_path, told)
    monkeypatch.setattr(own_base, "Searcher", lambda *given, **options: make(tmp_path, told))  # what is loaded last
    with open_asker(tmp_path / "base", no_foreign) as asker, pytest.raises(BadInput, match="was made anew"):
        asker.ask("Who lives in tower 03?", None)


def test_the_pictures_beside_passages_are_those_of_the_base_that_was_loaded(tmp_path):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 5))
    make(tmp_path, told)
    base = OwnBase(tmp_path / "base", no_foreign)
    write_entry(tmp_path / "museum", "abbey", 99)
    make(tmp_path, told)
    assert base.picture_of(3) == (tmp_path / "museum" / "tower_03.png").read_bytes()


def test_another_model_and_another_version_are_refused(tmp_path):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 5))
    make(tmp_path, told)
    config = tmp_path / "clip" / "open_clip_config.json"
    config.write_text(config.read_text("utf-8").replace("0.25", "0.5"), "utf-8")
    with pytest.raises(BadInput, match="field 'clip': the model differs"):
        open_asker(tmp_path / "base", no_foreign)
    described = read_json(tmp_path / "base" / DESCRIBED)
    described["settings"]["version"] = VERSION + 1
    (tmp_path / "base" / DESCRIBED).write_text(json.dumps(described), "utf-8")
    with pytest.raises(BadInput, match="another version"):
        open_asker(tmp_path / "base", no_foreign)
    with pytest.raises(BadInput, match="no base"):
        open_asker(tmp_path, no_foreign)


def test_a_failed_build_leaves_the_base_and_the_vectors(tmp_path, monkeypatch):
    told = settings(tmp_path, write_folder(tmp_path / "museum", 5))
    make(tmp_path, told)
    before = {name: path.read_bytes() for name, path in files(tmp_path / "base").items()}
    write_entry(tmp_path / "museum", "tower_99", 99)

    def full(*arguments, **options):
        raise OSError("full")

    monkeypatch.setattr("trivium.kvqae.asking.building.build_index", full)
    with pytest.raises(OSError, match="full"):
        make(tmp_path, told)
    monkeypatch.undo()
    assert {name: path.read_bytes() for name, path in files(tmp_path / "base").items()} == before
    assert make(tmp_path, told)["encoded_now"] == {"clip": 0}
