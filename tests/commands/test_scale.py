from pathlib import Path

import pytest
import yaml

from trivium.commands.scale import rescale, scale_file
from trivium.core.errors import BadInput

PARAMS = """\
# What everything depends on.
world:
  kvqae: sample  # sample | hub | local
kvqae:
  passages:
    words: 40  # spaCy tokens
    most: null
  reader:
    seeds: [0, 1]  # more cost more
    learning_rate: 1.0e-5

    # Set by the grid.
    weights: {bm25: 0.3, "image": 0.7}
"""


@pytest.fixture
def files(tmp_path):
    params, scale = tmp_path / "params.yaml", tmp_path / "scales" / "paper.yaml"
    params.write_text(PARAMS)
    scale.parent.mkdir()

    def write(text):
        scale.write_text(text)
        return params, scale

    return write


def test_values_change_and_nothing_else(files):
    params, scale = files("""
world: {kvqae: hub}
kvqae:
  passages:
    words: 100
  reader: {seeds: [0, 1, 2, 3, 42], learning_rate: 2.0e-5, weights: {bm25: 0.3}}
""")
    assert rescale(params, scale) == [
        ("world.kvqae", "sample", "hub"),
        ("kvqae.passages.words", 40, 100),
        ("kvqae.reader.seeds", [0, 1], [0, 1, 2, 3, 42]),
        ("kvqae.reader.learning_rate", 1.0e-5, 2.0e-5),
    ]
    expected = PARAMS.replace("sample  #", "hub  #").replace("40", "100").replace("[0, 1]", "[0, 1, 2, 3, 42]")
    expected = expected.replace("1.0e-5", "2.0e-5")
    assert yaml.safe_load(params.read_text()) == yaml.safe_load(expected)
    # Comments may move by the length of a value, no more.
    assert [line.split() for line in params.read_text().splitlines()] == [
        line.split() for line in expected.splitlines()
    ]


def test_bad_scale_changes_nothing(files):
    params, scale = files("kvqae: {pasages: {words: 1}}\n")
    with pytest.raises(BadInput, match=r"paper.yaml: field 'kvqae.pasages': unknown key \(choices: passages, reader\)"):
        rescale(params, scale)
    assert params.read_text() == PARAMS


def test_a_scale_is_a_name_or_a_file_and_scales_alone_are_offered(files, monkeypatch):
    _, scale = files("")
    monkeypatch.chdir(scale.parents[1])
    assert scale_file("paper") == scale_file("scales/paper.yaml") == Path("scales/paper.yaml")
    for wrong in ("papers", "params", "scales/papers.yaml"):
        with pytest.raises(BadInput, match=rf"--scale': no such scale; got '{wrong}' \(choices: paper\)"):
            scale_file(wrong)


@pytest.mark.parametrize("scale", sorted(Path("scales").glob("*.yaml")), ids=lambda path: path.stem)
def test_committed_scales_fit_the_committed_parameters(scale, tmp_path):
    params = tmp_path / "params.yaml"
    params.write_text(Path("params.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    rescale(params, scale)
    assert rescale(params, scale) == []


def test_entries_of_a_matrix_come_and_go(tmp_path):
    params, scale = tmp_path / "params.yaml", tmp_path / "scale.yaml"
    params.write_text(
        "decorrelation:\n  cells:  # trainings\n    a: {seed: 0, steps: 1}\n    b: {seed: 1, steps: 1}\n  seed: 3\n"
    )
    scale.write_text("decorrelation: {cells: {a: {steps: 2}, b: null, c: {seed: 2, steps: 1}, d: null}}")
    assert rescale(params, scale) == [
        ("decorrelation.cells.a.steps", 1, 2),
        ("decorrelation.cells.b", {"seed": 1, "steps": 1}, None),
        ("decorrelation.cells.c", None, {"seed": 2, "steps": 1}),
    ]
    assert yaml.safe_load(params.read_text()) == {
        "decorrelation": {"cells": {"a": {"seed": 0, "steps": 2}, "c": {"seed": 2, "steps": 1}}, "seed": 3}
    }
    assert rescale(params, scale) == []
    scale.write_text("decorrelation: {new: {a: 1}}")
    with pytest.raises(BadInput, match=r"decorrelation\.new.*unknown key"):
        rescale(params, scale)


LEFT_OUT = """\
kvqae:
  dense_search:
    depth: 100  # documents
    # Exact, or an inverted file.
    index: exact

  # What re-ranks.
  rrt:
    seed: 0
"""


@pytest.fixture
def left_out(tmp_path):
    params, scale = tmp_path / "params.yaml", tmp_path / "scale.yaml"
    params.write_text(LEFT_OUT)

    def merge_in(text):
        scale.write_text(text)
        return rescale(params, scale), params.read_text()

    return merge_in


def test_a_key_with_a_default_is_put_in(left_out):
    changes, text = left_out("kvqae: {dense_search: {probes: 50}}")
    assert changes == [("kvqae.dense_search.probes", None, 50)]
    assert text == LEFT_OUT.replace("    depth", "    probes: 50\n    depth")
    again, _ = left_out("kvqae: {dense_search: {probes: 60}}")
    assert again == [("kvqae.dense_search.probes", 50, 60)]


def test_a_section_may_give_way_to_a_word_that_its_stage_knows_and_come_back(tmp_path):
    params, scale = tmp_path / "params.yaml", tmp_path / "mine.yaml"
    params.write_text(
        "kvqae:\n  fuse:\n    rrf_k: 60\n    weights:   # of each row\n      image: {clip: 1.0}\n  depth: 5\n"
    )
    before = yaml.safe_load(params.read_text())
    scale.write_text("kvqae: {fuse: {weights: tuned}}")
    assert rescale(params, scale) == [("kvqae.fuse.weights", {"image": {"clip": 1.0}}, "tuned")]
    assert yaml.safe_load(params.read_text()) == {"kvqae": {"fuse": {"rrf_k": 60, "weights": "tuned"}, "depth": 5}}
    scale.write_text("kvqae: {fuse: {weights: {image: {clip: 1.0}}}}")
    assert len(rescale(params, scale)) == 1
    assert yaml.safe_load(params.read_text()) == before
