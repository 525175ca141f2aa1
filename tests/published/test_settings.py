"""Scale `paper` has what the papers print."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from trivium.commands.scale import merge

ROOT = Path(__file__).parents[2]
SCALE = ROOT / "scales/paper.yaml"
ENTRIES = [
    (paper, entry)
    for paper, entries in yaml.safe_load((ROOT / "tests/published/settings.yaml").read_text("utf-8")).items()
    for entry in entries
]


@pytest.fixture(scope="module")
def at_paper_scale() -> dict[str, Any]:
    tree = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    list(merge(tree, yaml.safe_load(SCALE.read_text("utf-8")), SCALE))
    return tree


def value_of(tree: Any, key: str) -> Any:
    """The value at a dotted key; None where only its last part is missing, which leaves the default."""
    *above, last = key.split(".")
    for part in above:
        tree = tree[part]
    return tree.get(last)


@pytest.mark.parametrize(("paper", "entry"), ENTRIES, ids=[f"{paper}: {entry['where']}" for paper, entry in ENTRIES])
def test_the_scale_has_what_the_paper_prints(paper, entry, at_paper_scale):
    if "length" in entry:
        assert len(value_of(at_paper_scale, entry["length"])) == entry["value"]
    else:
        keys = entry.get("keys") or [entry["key"]]
        assert {key: value_of(at_paper_scale, key) for key in keys} == dict.fromkeys(keys, entry["value"])


def test_the_two_trainings_of_the_re_ranker_share_their_settings(at_paper_scale):
    """§6.2: "en utilisant les mêmes hyperparamètres"."""
    first, second = (at_paper_scale["kvqae"][name] for name in ("rerank_pretrain", "rerank_finetune"))
    apart = {"layers", "validate_every", "checkpoint_every"}  # of the sample alone; when it looks, and saves
    assert {name: first[name] for name in first.keys() - apart} == {
        name: second[name] for name in second.keys() - apart
    }


def test_epochs_are_those_of_the_papers_data():
    pairs = 5 * 113_287
    assert 10 * -(-pairs // 256) == 22130
    assert 2 * (pairs // 16) == 70804
    assert round(5 * 29_000 / pairs, 3) == 0.256
