import json
import shutil
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn

from sample.kvqae.entity_world import pictured
from stages.kvqae.rrt import RrtParameters, main
from tests.sources import small_hub
from tests.sources.loopback import serve
from trivium.core.errors import BadInput
from trivium.core.stage import execute
from trivium.kvqae.rerankers import local_features
from trivium.kvqae.rerankers.model_files import is_left_out, read_entities
from trivium.kvqae.rerankers.rrt import build_rrt, load_rrt, save_rrt
from trivium.nets.cards import licence_of
from trivium.sources.kvqae.rrt import fetch_rrt, read_checkpoint

EASY = dict.fromkeys(("pose", "crop", "light", "noise", "occlusion", "disguise", "faceless", "company"), 0.1) | {
    "identity_spread": 1.0
}
SECTION = {
    "use": True,
    "seed": 0,
    "picture_size": 64,
    "difficulty": EASY,
    "landmarks": 8,
    "persons": 0.5,
    "views": 2,
    "overlap": 0.1,
    "most": 4,
    "max_side": 256,
    "max_pixels": 1_000_000,
    "training": {
        "layers": 1, "heads": 2, "hidden": 8, "sharpness": None, "pairs": 4, "hard_negatives": 3, "steps": 2, "learning_rate": 1e-3,
        "weight_decay": 0.0, "warmup": 0.0, "held_out": 0.25, "validation_pairs": 4, "validate_every": 1, "batch": 8,
        "checkpoint_every": 1,
    },
}  # fmt: skip
WORLD = ["--world-seed", "5", "--articles", "60", "--imageless", "10"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    local_features._extractor.cache_clear()
    Path("params.yaml").write_text(yaml.safe_dump({"kvqae": {"rrt": SECTION}, "run": {"workers": 1}}))


def run(source: str, local: str = "") -> dict[str, float]:
    section = yaml.safe_load(Path("params.yaml").read_text())["kvqae"]["rrt"] | {"local": local}
    Path("params.yaml").write_text(yaml.safe_dump({"kvqae": {"rrt": section}, "run": {"workers": 1}}))
    return execute(main, "kvqae.rrt", RrtParameters, ["--source", source, *WORLD, "--out", "rrt"])


def test_sample() -> None:
    metrics = run("sample")
    known = {entity.wikidata_id for entity in pictured(5, articles=60, imageless=10, persons=False)}
    shown = read_entities(Path("rrt/landmarks.txt"))
    assert shown < known
    assert metrics["overlap"] == len(shown) == round(0.1 * len(known))
    assert metrics["photographs"] == metrics["images"] == 2 * (8 + len(shown))
    assert metrics["landmarks"] == 8
    assert json.loads(Path("rrt/extractor/extractor.json").read_text()) == {"kind": "sift"}
    assert not is_left_out(Path("rrt"))
    card = Path("rrt/README.md").read_text()
    assert card.startswith("---\nlicense: apache-2.0\nlibrary_name: pytorch\n")
    assert f"| validation_auc | {metrics['validation_auc']:.4f} |" in card
    assert card.count("\n| ") == 1 + 2
    assert all(weights.isfinite().all() for weights in load_rrt(Path("rrt")).parameters())


def test_local_model() -> None:
    save_rrt(build_rrt(global_dimension=6, layers=1, heads=2, hidden=8), Path("mine/rrt"))
    with pytest.raises(BadInput, match=r"files are missing.*extractor/extractor.json"):
        run("local", "mine")
    Path("mine/rrt/extractor").mkdir()
    Path("mine/rrt/extractor/extractor.json").write_text('{"kind": "delg_files", "global_dimension": 6}')
    assert run("local", "mine") == {"left_out": 1}  # without DELG's files
    Path("mine/rrt/extractor/extractor.json").write_text('{"kind": "sift"}')
    run("local", "mine")
    assert licence_of(Path("rrt"), without_card="?") is None
    assert "README.md" not in json.loads(Path("rrt/provenance.json").read_text())
    assert not Path("rrt/landmarks.txt").exists()
    Path("mine/rrt/README.md").write_text("---\nlicense: mit\n---\nMine.\n")
    assert load_rrt(Path("rrt")).sizes["global_dimension"] == 6
    Path("mine/rrt/landmarks.txt").write_text("Q7\nQ8\n")
    assert run("local", "mine")["overlap"] == 2
    assert licence_of(Path("rrt"), without_card="?") == "mit"
    Path("mine/rrt/config.json").write_text('{"global_dimension": 6, "layers": 1, "heads": 2, "hidden": 9}')
    with pytest.raises(BadInput, match=r"layers.0.widen.weight"):
        run("local", "mine")


class Authors(nn.Module):
    """A network whose tensors have the names of the authors' checkpoints; its layers are torch's own."""

    def __init__(self, dimension: int, layers: int, hidden: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(128, 4, hidden, dropout=0, batch_first=True)
        self.encoder = nn.Module()
        self.encoder.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).layers
        self.remap = nn.Linear(dimension, 128)
        self.scale_encoder = nn.Embedding(7, 128)
        self.seg_encoder = nn.Embedding(6, 128)
        self.classifier = nn.Linear(128, 1)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    torch.save({"state": Authors(6, 2, 16).state_dict(), "optim": {"state": {}}}, tmp_path / "r50_gldv2.pt")
    return tmp_path / "r50_gldv2.pt"


def test_the_authors_checkpoint(checkpoint: Path) -> None:
    state = torch.load(checkpoint, weights_only=True)["state"]
    model = read_checkpoint(checkpoint)
    assert model.sizes == {"global_dimension": 6, "layers": 2, "heads": 4, "hidden": 16}
    ours = model.state_dict()
    assert len(ours) == len(state)
    assert torch.equal(ours["layers.1.in_projection.weight"], state["encoder.layers.1.self_attn.in_proj_weight"])
    assert torch.equal(ours["layers.0.norm_feed_forward.bias"], state["encoder.layers.0.norm2.bias"])
    assert torch.equal(ours["segment_embeddings.weight"], state["seg_encoder.weight"])


def test_checkpoints_that_are_no_rrt(checkpoint: Path, tmp_path: Path) -> None:
    state = torch.load(checkpoint, weights_only=True)["state"]
    bad = tmp_path / "bad.pt"
    for made, message in (
        ({"state": {"remap.weight": torch.zeros(2, 2)}}, "not a checkpoint of RRT"),
        ({"state": state | {"fc.weight": torch.zeros(2)}}, r"field 'fc.weight': no tensor of this network"),
        ({"state": {name: value for name, value in state.items() if name != "remap.bias"}}, "global_projection.bias"),
        (shutil, "not plain tensors"),
    ):
        torch.save(made if made is not shutil else {"state": Path("x")}, bad)
        with pytest.raises(BadInput, match=message):
            read_checkpoint(bad)


def test_hub(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as server:
        server.files["/rrt/r50_gldv2.pt"] = checkpoint.read_bytes()
        pins = tmp_path / "pins.yaml"
        monkeypatch.setattr("trivium.sources.pins.PINS", pins)
        source = {"url": f"{server.url}/rrt", "files": {"r50_gldv2.pt": {}}, "licence": "mit"}
        pins.write_text(small_hub.pins({"rrt": source}))
        Path("mine/rrt").mkdir(parents=True)
        Path("mine/rrt/landmarks.txt").write_text("Q7\n")
        metrics = fetch_rrt(Path("rrt"), tmp_path / "work", Path("mine"))
    assert metrics["parameters"] == sum(weights.numel() for weights in load_rrt(Path("rrt")).parameters())
    assert json.loads(Path("rrt/extractor/extractor.json").read_text())["kind"] == "delg_files"
    assert len(json.loads(Path("rrt/provenance.json").read_text())["sha256"]["r50_gldv2.pt"]) == 64
    assert read_entities(Path("rrt/landmarks.txt")) == {"Q7"}
    assert metrics["overlap"] == 1
    assert licence_of(Path("rrt"), without_card="?") == "mit"
