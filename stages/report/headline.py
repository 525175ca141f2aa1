"""The few numbers that keep `dvc exp show` readable: `metrics/headline.json`."""

from pathlib import Path
from typing import Any

from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import read_json

# Headline → the metrics file of a stage, and the key in it.
NUMBERS: dict[str, tuple[str, str]] = {
    "kvqae_bm25_mrr": ("kvqae/evaluate.json", "passage_bm25_mrr"),
    "kvqae_dpr_mrr": ("kvqae/evaluate.json", "passage_dpr_few_shot_mrr"),
    "kvqae_fused_mrr": ("kvqae/evaluate.json", "passage_dpr_few_shot_image_mrr"),
    "kvqae_fused_over_text_p": ("kvqae/evaluate.json", "passage_fused_over_best_text_mrr_p"),
    "kvqae_arcface_article_p@1": ("kvqae/evaluate.json", "article_face_arcface_precision@1"),
    "kvqae_em_text": ("kvqae/read.json", "few_shot_text_em"),
    "kvqae_em_fused": ("kvqae/read.json", "few_shot_fused_em"),
    "kvqae_em_full_oracle": ("kvqae/read.json", "few_shot_full_oracle_em"),
    "decorrelation_clip_finetune_odmap@1": ("decorrelation/evaluate.json", "coco_clip_finetune_synthetic_odmap@1"),
    "decorrelation_clip_ours_odmap@1": ("decorrelation/evaluate.json", "coco_clip_ours_synthetic_odmap@1"),
    "decorrelation_clip_gain_p": ("decorrelation/evaluate.json", "coco_clip_gain_odmap@1_p"),
    "decorrelation_clip_finetune_removed_named": (
        "decorrelation/evaluate.json",
        "coco_clip_finetune_synthetic_removed_named",
    ),
    "decorrelation_clip_ours_removed_named": ("decorrelation/evaluate.json", "coco_clip_ours_synthetic_removed_named"),
    "decorrelation_clip_finetune_r@1": ("decorrelation/evaluate.json", "coco_clip_finetune_image_to_text_r@1"),
    "decorrelation_clip_ours_r@1": ("decorrelation/evaluate.json", "coco_clip_ours_image_to_text_r@1"),
    "decorrelation_vse_gain": ("decorrelation/evaluate.json", "coco_vse_gain_odmap@1"),
    "complexity_camembert_rouge_l": ("complexity/score.json", "camembert_rouge_l"),
    "complexity_baseline_rouge_l": ("complexity/score.json", "best_overlap_sentence_rouge_l"),
    "complexity_frame_parser_margin": ("complexity/frame_parser.json", "frame_accuracy_margin"),
    "complexity_factors_validated": ("complexity/fragment.json", "factors_validated"),
    "complexity_simulated_power": ("complexity/simulate.json", "power_found"),
    "complexity_simulated_false_alarms": ("complexity/simulate.json", "null_false_alarms_found"),
}


class HeadlineParameters(Parameters):
    """Section `headline`: nothing to choose."""


def headline(folder: Path) -> dict[str, float]:
    """The numbers of the pipelines that have run.

    Raises:
        BadInput: a metrics file lacks its key.
    """
    read: dict[str, Any] = {}
    numbers = {}
    for name, (file, key) in NUMBERS.items():
        path = folder / file
        if not path.exists():
            continue
        values = read.setdefault(file, read_json(path))
        if key not in values:
            raise BadInput("missing metric", file=path, field=key, choices=sorted(values)[:20])
        numbers[name] = float(f"{values[key]:.4g}")
    return numbers


def main(parameters: HeadlineParameters, context: Context, *, folder: Path) -> dict[str, float]:
    """Collect the headline from the folder that holds the stages' metrics files."""
    return headline(folder)


if __name__ == "__main__":
    run_stage(main, "headline", HeadlineParameters)
