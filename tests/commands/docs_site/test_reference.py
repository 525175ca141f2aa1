from pathlib import Path

import pytest

from trivium.commands.cli import COMMANDS
from trivium.commands.docs_site import reference

GRAPH = """
stages:
  toy-one:
    desc: Toys
    cmd: python -m toys
    params: [code.yaml: [toy-one], toy.box, run]
    deps: [data/in]
    outs: [data/out]
    metrics: [metrics/toy.json: {cache: false}]
  toy-two:
    foreach: [a, b]
    do: {desc: Two, cmd: "true", params: [toy], outs: [x]}
"""
PARAMETERS = """
run:
  workers: null   # of a stage; a | b
toy:              # all toys
  box:
    size: 1       # sides
    kinds: {a: 1}
  # of the next
  seed: true
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "dvc.yaml").write_text(GRAPH)
    (tmp_path / "params.yaml").write_text(PARAMETERS)
    (tmp_path / "Makefile").write_text("help:  ## this list\nx: y\nscale: $(BIN)/.ready  ## merge: a scale\n")
    return tmp_path


def test_a_stage_says_what_it_reads_and_writes(root):
    lines = reference.stages(root).splitlines()
    for line in (
        "## toy-one",
        "Toys.",
        "$ python -m toys",
        "- parameters: `toy.box`, `run`",
        "- reads: `data/in`",
        "- writes: `data/out`",
        "- metrics: `metrics/toy.json`",
        "- one a line of `['a', 'b']`",
    ):
        assert line in lines


def test_a_parameter_has_its_value_its_comment_and_its_readers(root):
    text = reference.parameters(root)
    box = text.partition("## toy.box\n")[2]
    assert box.splitlines()[1] == "Read by `toy-one`, `toy-two`."
    assert "| `size` | `1` | sides |" in box
    assert "| `kinds` | `{'a': 1}` |  |" in box
    assert "| `workers` | `null` | of a stage; a \\| b |" in text
    assert "| `seed` | `true` |  |" in text
    assert "Read by `toy-one`." in text.partition("## run\n")[2].partition("##")[0]


def test_commands_are_those_of_make_and_of_the_command(root, monkeypatch):
    monkeypatch.setattr(reference, "COMMANDS", {"scale": COMMANDS["scale"]})
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    text = reference.commands(root)
    assert "| `make scale` | merge: a scale |" in text
    assert "make x" not in text
    assert "usage: trivium scale [-h]" in text.partition("## trivium scale")[2]
