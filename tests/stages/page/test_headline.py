from stages.page.headline import main
from trivium.core.parameters import Parameters
from trivium.core.tables import write_json
from trivium.page.headline import NUMBERS, odmap_by_seed


def test_what_exists_is_collected(tmp_path):
    keys = dict.fromkeys(NUMBERS["kvqae/evaluate.json"].values(), 0.12345678)
    write_json(tmp_path / "metrics/kvqae/evaluate.json", keys | {"other": 1.0})
    numbers = main(Parameters(), folder=tmp_path / "metrics", out_odmap=tmp_path / "odmap.csv")
    assert numbers["kvqae_bm25_mrr"] == 0.123457
    assert "kvqae_em_text" not in numbers  # its stage has not run
    assert (tmp_path / "odmap.csv").read_text() == "training,seed,k,odmap\n"


def test_odmap_of_each_training():
    """Of synthetic queries; what several trainings have together stays away."""
    own = ("0_synthetic_odmap@1", "12_synthetic_odmap@10")
    others = ("0_rendered_odmap@1", "synthetic_odmap@5", "synthetic_odmap@1_low", "0_synthetic_r@1")
    metrics = {f"coco_clip_share25_{key}": 0.25 for key in (*own, *others)}
    assert list(odmap_by_seed(metrics)) == [
        {"training": "coco_clip_share25", "seed": "0", "k": "1", "odmap": 0.25},
        {"training": "coco_clip_share25", "seed": "12", "k": "10", "odmap": 0.25},
    ]
