"""The few numbers that keep `dvc exp show` readable, `metrics/headline.json`, and what `dvc plots` draws beside."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json


@dataclass(frozen=True)
class Number:
    """A headline number: what it says, the metrics file of a stage, and the key in it."""

    label: str
    file: str
    key: str


DIGITS = 6  # more than README shows: what was rounded to nearly as few would be rounded wrong the second time


_RERANKING, _READ = "kvqae/evaluate_reranking.json", "kvqae/read.json"


_CELLS = "decorrelation/evaluate.json"


_PAGE = "complexity/page_results.json"


NUMBERS: dict[str, Number] = {
    "kvqae_bm25_mrr": Number("passages by BM25, MRR", "kvqae/evaluate.json", "passage_bm25_mrr"),
    "kvqae_dpr_mrr": Number("passages by DPR, few-shot, MRR", "kvqae/evaluate.json", "passage_dpr_few_shot_mrr"),
    "kvqae_fused_mrr": Number(
        "passages by DPR, faces, CLIP and ImageNet, MRR", "kvqae/evaluate.json", "passage_dpr_few_shot_image_mrr"
    ),
    "kvqae_fused_over_text_p": Number(
        "p: the image adds to the best text", "kvqae/evaluate.json", "passage_fused_over_best_text_mrr_p"
    ),
    "kvqae_arcface_article_p@1": Number(
        "articles by face, where one is found, P@1", "kvqae/evaluate.json", "article_face_arcface_precision@1"
    ),
    "kvqae_fused_p@1": Number("retrieved passages, P@1", _RERANKING, "passage_initial_precision@1"),
    "kvqae_reranked_text_p@1": Number("re-ranked by text, P@1", _RERANKING, "passage_text_precision@1"),
    "kvqae_reranked_p@1": Number("re-ranked by text and image, P@1", _RERANKING, "passage_text_image_precision@1"),
    "kvqae_reranked_text_over_fused_p": Number(
        "p: text re-ranking adds to retrieval", _RERANKING, "passage_text_over_initial_precision@1_p"
    ),
    "kvqae_em_text": Number("answers from text alone, EM", _READ, "few_shot_text_em"),
    "kvqae_em_fused": Number("answers from what was retrieved, EM", _READ, "few_shot_fused_em"),
    "kvqae_em_reranked": Number("answers from what was re-ranked, EM", _READ, "few_shot_reranked_em"),
    "kvqae_em_semi_oracle": Number("answers, semi-oracle, EM", _READ, "few_shot_semi_oracle_em"),
    "kvqae_em_full_oracle": Number("answers, full oracle, EM", _READ, "few_shot_full_oracle_em"),
    "decorrelation_clip_finetune_odmap@1": Number("CLIP on D, ODmAP@1", _CELLS, "coco_clip_finetune_synthetic_odmap@1"),
    "decorrelation_clip_ours_odmap@1": Number("CLIP on D and D′, ODmAP@1", _CELLS, "coco_clip_ours_synthetic_odmap@1"),
    "decorrelation_clip_gain_p": Number("p: D′ adds to CLIP", _CELLS, "coco_clip_gain_odmap@1_p"),
    "decorrelation_clip_finetune_removed_named": Number(
        "CLIP on D still names the painted-out object", _CELLS, "coco_clip_finetune_synthetic_removed_named"
    ),
    "decorrelation_clip_ours_removed_named": Number(
        "CLIP on D and D′ still names it", _CELLS, "coco_clip_ours_synthetic_removed_named"
    ),
    "decorrelation_clip_finetune_r@1": Number(
        "CLIP on D, untouched pictures, R@1", _CELLS, "coco_clip_finetune_image_to_text_r@1"
    ),
    "decorrelation_clip_ours_r@1": Number(
        "CLIP on D and D′, untouched pictures, R@1", _CELLS, "coco_clip_ours_image_to_text_r@1"
    ),
    "decorrelation_vse_gain": Number("VSE++, ODmAP@1 gained by D′", _CELLS, "coco_vse_gain_odmap@1"),
    "complexity_camembert_rouge_l": Number("CamemBERT, ROUGE-L", "complexity/score.json", "camembert_rouge_l"),
    "complexity_baseline_rouge_l": Number(
        "the sentence with most question words, ROUGE-L", "complexity/score.json", "best_overlap_sentence_rouge_l"
    ),
    "complexity_frame_parser_margin": Number(
        "frame parser over the most frequent frame of a lemma, accuracy",
        "complexity/frame_parser.json",
        "frame_accuracy_margin",
    ),
    "complexity_factors_validated": Number("factors with δ < 0 for most models", _PAGE, "factors_validated"),
    "complexity_factors_found": Number(
        "factors found by every analysis (significant, frames as units, regression) for most models",
        _PAGE,
        "factors_found",
    ),
    "complexity_simulated_power": Number("planted effects found, as below", "complexity/simulate.json", "power_found"),
    "complexity_planted_weakest": Number(
        "weakest planted effect, points before scores are cut to 0 … 1", _PAGE, "planted_weakest"
    ),
    "complexity_planted_strongest": Number("strongest planted effect", _PAGE, "planted_strongest"),
    "complexity_published_as_strong": Number(
        "share of the paper’s δ as strong as the weakest planted effect", _PAGE, "published_as_strong"
    ),
    "complexity_simulated_false_alarms": Number(
        "cells called a factor where none is planted", "complexity/simulate.json", "null_false_alarms_found"
    ),
    "complexity_simulated_false_tables": Number(
        "tables with any such cell", "complexity/simulate.json", "null_any_false_alarm_found"
    ),
}


ODMAP = re.compile(r"(?P<training>\w+)_(?P<seed>\d+)_synthetic_odmap@(?P<k>\d+)")
ODMAP_COLUMNS = ("training", "seed", "k", "odmap")


def odmap_by_seed(metrics: Mapping[str, float]) -> Iterator[dict[str, str | float]]:
    """A row for each training of stage `decorrelation-evaluate`'s metrics and each k; columns as `ODMAP_COLUMNS`."""
    for key, value in metrics.items():
        if found := ODMAP.fullmatch(key):
            yield {**found.groupdict(), "odmap": value}


def headline(folder: Path) -> dict[str, float]:
    """The numbers of the pipelines that have run.

    Raises:
        BadInput: a metrics file lacks its key.
    """
    read: dict[str, Any] = {}
    numbers = {}
    for name, number in NUMBERS.items():
        path = folder / number.file
        if not path.exists():
            continue
        values = read.setdefault(number.file, read_json(path))
        if number.key not in values:
            raise BadInput("missing metric", file=path, field=number.key, choices=sorted(values)[:20])
        numbers[name] = float(f"{values[number.key]:.{DIGITS}g}")
    return numbers
