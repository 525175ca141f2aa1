"""Entries for a picture, by hand and against plain loops; several faces."""

import insightface
import numpy as np
import pytest
from PIL import Image

from tests.kvqae.asking.own_folder import open_asker, settings
from tests.kvqae.asking.test_building import make, no_foreign
from tests.kvqae.tiny_encoders import write_onnx
from trivium.core.errors import BadInput
from trivium.kvqae.asking.recognition import Calibration, Pictured, calibrate, find_entries, rank


def pictured(name, vectors, owners):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return Pictured(name, unit.astype(np.float32), np.arange(len(owners)), np.array(owners))


def test_scores_are_means_of_z_of_the_best_picture():
    left = pictured("left", np.array([[1.0, 0], [0, 1], [1, 1]]), [0, 1, 0])
    right = pictured("right", np.array([[0, 1.0], [1, 0], [1, 0]]), [0, 1, 0])
    systems, calibration = [left, right], Calibration({"left": (0.5, 0.25), "right": (0.0, 0.5)})
    asked = {"left": np.array([0, 1], np.float32), "right": np.array([0, 1], np.float32)}
    found = find_entries(systems, asked)
    entries, scores = rank(found, calibration)
    # Entry 1: left 1, right 0. Entry 0: left √½ (its second picture), right 1.
    expected = {1: (1 - 0.5) / 0.25 / 2 + 0, 0: (np.sqrt(0.5) - 0.5) / 0.25 / 2 + 1 / 0.5 / 2}
    assert entries.tolist() == [0, 1]
    assert scores == pytest.approx([expected[0], expected[1]], abs=1e-6)
    assert found["right"] == pytest.approx({0: 1.0, 1: 0.0})
    without = find_entries(systems, asked, stays=np.array([True, True, False]))
    entries, scores = rank(without, calibration)
    assert scores[entries == 0] == pytest.approx([(0 - 0.5) / 0.25 / 2 + 1 / 0.5 / 2], abs=1e-6)
    assert rank({}, calibration)[0].tolist() == []


def test_calibration_asks_each_picture_without_its_entry():
    """Against plain loops over all pictures."""
    draw = np.random.default_rng(0)
    centres = draw.normal(size=(15, 6))
    vectors, owners = np.repeat(centres, 2, axis=0) + 0.3 * draw.normal(size=(30, 6)), np.repeat(np.arange(15), 2)
    system = pictured("clip", vectors, owners)
    eligible = np.ones(30, bool)
    eligible[4] = False
    made = calibrate([system], owners, eligible, lambda pictures: pytest.fail("28 pictures have a twin"))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    others = cosines[owners[:, None] != owners[None]]
    assert made.scales["clip"] == pytest.approx((others.mean(), others.std()), abs=1e-5)
    best = [cosines[row][owners != owners[row]].max() for row in range(30) if eligible[row]]
    assert made.impostors == pytest.approx(sorted((np.array(best) - others.mean()) / others.std()), abs=1e-4)
    assert made.temperature is not None


def test_one_of_several_faces(tmp_path):
    group = Image.open(f"{next(iter(insightface.__path__))}/data/images/t1.jpg").convert("RGB")
    boxes = [(100, 80), (300, 80), (500, 80), (700, 80), (900, 80)]
    museum = tmp_path / "museum"
    museum.mkdir()
    for number, (left, top) in enumerate(boxes):
        group.crop((left, top, left + 300, top + 300)).save(museum / f"guest_{number}.png")
        (museum / f"guest_{number}.txt").write_text("A guest of the party.", "utf-8")
    group.save(tmp_path / "group.png")
    write_onnx(tmp_path / "arcface" / "model.onnx")
    told = settings(tmp_path, museum)
    told = told.model_copy(update={"image_encoders": {"arcface": str(tmp_path / "arcface"), **told.image_encoders}})
    assert make(tmp_path, told)["pictures_with_vector"]["arcface"] >= 3
    asked = (tmp_path / "group.png").read_bytes()
    with open_asker(tmp_path / "base", no_foreign) as asker:
        best = asker.ask("Who is this?", asked)
        assert len(best.faces) == 6
        middles = [face.box[0] + face.box[2] for face in best.faces]
        assert middles == sorted(middles)
        assert best.face.probability == max(face.probability for face in best.faces)
        number = best.faces.index(best.face) + 1
        assert any(note.startswith(f"6 faces were found; number {number} from the left") for note in best.notes)
        third = asker.ask("Who is this?", asked, face=3)
        assert third.face == third.faces[2]
        assert {name for support in third.supports for name in support.contributions} == {"arcface"} | {
            name for support in third.supports for name in support.contributions if name == "bm25"
        }
        whole = asker.ask("Who is this?", asked, face=0)
        assert whole.face is None
        assert "clip" in whole.supports[0].contributions
        with pytest.raises(BadInput, match="no such face; got 7; expected 0, the whole picture, or 1 to 6"):
            asker.ask("Who is this?", asked, face=7)
