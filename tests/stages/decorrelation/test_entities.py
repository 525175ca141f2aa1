"""Entities searched with several image encoders: who is searched, ranks by hand, the stage from files to files."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from PIL import Image
from safetensors.torch import load_file, save_file
from scipy import stats

from stages.decorrelation.entities import main
from tests.kvqae.tiny_encoders import write_clip
from tests.stages.kvqae.test_image_search import write_questions
from trivium.bridges import decorrelated_encoders
from trivium.bridges.decorrelated_encoders import (
    EntitiesParameters,
    measures,
    own_ranks,
    table,
)
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import read_json, read_table, write_table
from trivium.vision.encoders.clip import WEIGHTS

COLOURS = {"red": (220, 30, 30), "green": (20, 200, 40), "blue": (30, 30, 220), "grey": (120, 120, 120)}
SECTION = {
    "encoders": {"one": "clip_one", "two": "clip_two"},
    "batch_size": 2,
    "confidence": 0.95,
}


def unit(*degrees):
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def png(colour):
    data = io.BytesIO()
    pixels = np.full((40, 40, 3), colour, np.uint8)
    pixels[10:20] //= 2
    Image.fromarray(pixels).save(data, "PNG")
    return data.getvalue()


def write_world(folder: Path) -> Path:
    names = ["red", "green", "blue", "person", "gone"]
    columns = {
        "wikidata_id": [f"Q_{name}" for name in [*names, "plain"]],
        "image": [*(f"{name}.png" for name in names), None],
        "human": [name == "person" for name in names] + [False],
    }
    write_table(folder / "articles.parquet", pa.table(columns))
    kept = names[:4]
    write_images(folder / "kb", ((f"{name}.png", png(COLOURS.get(name, (90, 80, 70)))) for name in kept))
    faces = {"name": [f"{name}.png" for name in kept], "detected": [False] * 4, "unreadable": pa.nulls(4, pa.string())}
    write_table(folder / "features" / "arcface" / "pictures.parquet", pa.table(faces))
    write_images(folder / "asked", ((f"{name}.png", png(colour)) for name, colour in COLOURS.items()))
    asked = {name: (f"{name}.png", f"Q_{name}") for name in COLOURS} | {"face": ("red.png", "Q_red")}
    write_questions(folder / "test.jsonl", asked)
    routing = {"question": list(asked), "readable": [True] * 5, "face": [name == "face" for name in asked]}
    write_table(folder / "routing.parquet", pa.table(routing))
    for encoder in SECTION["encoders"].values():
        write_clip(folder / encoder)
    negative = {name: -weights for name, weights in load_file(folder / "clip_two" / WEIGHTS).items()}
    save_file(negative, folder / "clip_two" / WEIGHTS)
    return folder


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    decorrelated_encoders._load.cache_clear()  # of encoders that have the same names in another test
    return write_world(tmp_path)


def run(world: Path, workers: int = 1, **changes) -> dict[str, float]:
    sections = {"run": {"workers": workers}, "decorrelation": {"entities": SECTION | changes}}
    (world / "params.yaml").write_text(yaml.safe_dump(sections))
    argv = ["--articles", "articles.parquet", "--kb-images", "kb", "--kb-features", "features"]
    argv += ["--question-images", "asked", "--questions", "test.jsonl", "--routing", "routing.parquet"]
    argv += ["--out-table", "table.json", "--out-per-query", "per_query.parquet"]
    return execute(main, "decorrelation.entities", EntitiesParameters, argv)


def test_ranks_by_hand() -> None:
    images = unit(0, 40, 80, 41)
    ranks = own_ranks(unit(10, 10, 10), images, ["a", "b", "c", "b"], ["b", "c", "nobody"], depth=4)
    assert ranks.tolist() == [2, 4, np.inf]  # b's better image counts
    assert own_ranks(unit(10), images, ["a", "b", "c", "b"], ["c"], depth=3).tolist() == [np.inf]
    assert own_ranks(unit(0), unit(0, 0), ["a", "b"], ["b"], depth=2).tolist() == [2]  # ties: the lower row first


def test_an_entity_counts_once_however_often_it_is_asked_for():
    found = measures(np.array([1, 2, 4, np.inf]), ["b", "a", "b", "b"])
    assert found["mrr"] == pytest.approx([1 / 2, (1 + 1 / 4) / 3])
    assert found["precision@1"] == pytest.approx([0, 1 / 3])


def test_pairs_are_tested_once_with_their_sign() -> None:
    rng = np.random.default_rng(0)
    values = {"one": rng.random(200), "two": rng.random(200), "better": rng.random(200) + 0.3}
    tests = table({row: {"mrr": column} for row, column in values.items()}, 0.95)["tests"]
    assert [(test["row"], test["against"]) for test in tests] == [("two", "one"), ("better", "one"), ("better", "two")]
    for test in tests:
        row, other = values[test["row"]], values[test["against"]]
        assert test["difference"] == pytest.approx((row - other).mean())
        assert test["p"] == pytest.approx(stats.ttest_rel(row, other).pvalue, abs=0.02)


def test_the_stage(world: Path) -> None:
    metrics = run(world)
    # Persons, articles without picture and pictures that are not there are not searched.
    assert metrics["entities"] == 3
    assert metrics["questions"] == 4
    assert metrics["questions_entity_not_searched"] == 1
    # The same pictures stand on both sides: three of four are found at once by any encoder.
    assert metrics["one_precision@1"] == metrics["two_precision@1"] == 0.75
    made = read_json(world / "table.json")
    assert made["rows"]["one"]["mrr"]["value"] == metrics["one_mrr"] == 0.75
    assert {test["p"] for test in made["tests"]} == {1.0}
    assert read_table(world / "per_query.parquet")["one_mrr"].to_pylist() == [1, 1, 0, 1]  # blue, green, grey, red


def test_a_base_without_images_has_no_entity_to_search(world: Path) -> None:
    pictures = world / "features/arcface/pictures.parquet"
    write_table(pictures, read_table(pictures).slice(0, 0))
    with pytest.raises(BadInput, match=r"articles\.parquet: no entity without a face to search"):
        run(world)


def test_batch_size_changes_nothing(world: Path) -> None:
    assert run(world, batch_size=1) == run(world, batch_size=64)
