"""The claims: what is compared with what, by which measure, and what is claimed of the difference."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

# What is claimed: more; at least as much, but for a margin; or that there is no difference.
Expected = Literal["more", "kept", "none"]
Verdict = Literal["holds", "does not hold", "cannot tell"]
WORLDS = (3, 4, 5)  # world seeds; 0-2 are those on which settings were chosen
TRAININGS = (0, 1, 2)  # seeds of whatever is trained


@dataclass(frozen=True)
class Rows:
    """Two rows of a table that a stage leaves; `{training}` stands for the seed of the training.

    Attributes:
        table: path of the Parquet file in the project.
        where: what both sides' rows have, by column; `better`, `other`: what tells them apart.
        item: column of what is resampled, whose values belong together.
        value: column of the measure.
        top: the value is a rank, and the measure whether it is at most this.
    """

    table: str
    where: Mapping[str, str]
    better: Mapping[str, str]
    other: Mapping[str, str]
    item: str
    value: str
    top: int | None = None


@dataclass(frozen=True)
class Cost:
    """What a factor costs a model: its mean score where the factor is absent, less that where it is present."""

    model: str
    factor: str


@dataclass(frozen=True)
class Claim:
    """One thing that README or the page says of the sample world.

    Attributes:
        name: of its evidence.
        sentence: the claim.
        measure: in words.
        expected: of the difference.
        parts: by name, the comparisons that all must show it; most claims have one.
        margin: in the measure's unit, up to which a difference is none.
    """

    name: str
    sentence: str
    measure: str
    expected: Expected
    parts: Mapping[str, Rows | Cost]
    margin: float = 0.05


def _passages(better: str, other: str, value: str) -> dict[str, Rows]:
    return {"": _kvqae("evaluate", {"block": "passage"}, better, other, value)}


def _reranked(better: str, other: str, value: str, block: str = "passage") -> dict[str, Rows]:
    return {"": _kvqae("evaluate_reranking", {"block": block}, better, other, value)}


def _read(better: str, other: str) -> dict[str, Rows]:
    return {"": Rows("metrics/kvqae/read_per_query.parquet", {}, _reader(better), _reader(other), "question", "em")}


def _reader(row: str) -> dict[str, str]:
    """Readers that were fine-tuned stand there with the seed of that."""
    return {"row": row, **({"seed": "{training}"} if row.startswith("few_shot") else {})}


def _kvqae(stage: str, where: Mapping[str, str], better: str, other: str, value: str) -> Rows:
    table = f"metrics/kvqae/{stage}_per_query.parquet"
    return Rows(table, where, {"row": better}, {"row": other}, "question", value)


def _cells(
    group: str, kind: str, value: str, top: int | None = None, *, sides: tuple[str, str] = ("ours", "finetune")
) -> dict[str, Rows]:
    better, other = ({"cell": f"{group}_{variant}_{{training}}"} for variant in sides)
    return {"": Rows("data/decorrelation/evaluation.parquet", {"set": kind}, better, other, "picture", value, top)}


def _costs(factor: str) -> dict[str, Cost]:
    return {model: Cost(model, factor) for model in ("camembert", "minilm", "mt5")}


_LESS = ("finetune", "ours")  # the other way round: what should become less

CLAIMS: Mapping[str, tuple[Claim, ...]] = MappingProxyType({
    "kvqae": (
        Claim(
            "image_adds", "Text and image find the passage higher up than the text alone.", "MRR", "more",
            _passages("dpr_few_shot_image", "dpr_few_shot", "mrr"),
        ),
        Claim(
            "image_adds_to_both_texts", "Text and image find it higher up than BM25 and DPR together.", "MRR", "more",
            _passages("dpr_few_shot_image", "bm25_dpr_few_shot", "mrr"),
        ),
        Claim(
            "few_shot_dpr", "DPR that also learned from a few such questions beats DPR that did not.", "MRR", "more",
            _passages("dpr_few_shot", "dpr_zero_shot", "mrr"),
        ),
        Claim(
            "text_reranking", "Re-ranking by text puts a right passage first more often than retrieval does.",
            "P@1", "more", _reranked("text", "initial", "precision@1"),
        ),
        Claim(
            "text_reranking_mrr", "Re-ranking by text puts the right passage higher up.", "MRR", "more",
            _reranked("text", "initial", "mrr"),
        ),
        Claim(
            "both_rerank", "Re-ranking by text and image puts a right passage first more often than retrieval does.",
            "P@1", "more", _reranked("text_image", "initial", "precision@1"),
        ),
        Claim(
            "image_reranks", "The image adds to re-ranking by text.", "P@1", "more",
            _reranked("text_image", "text", "precision@1"),
        ),
        Claim(
            "rrt_adds", "Where a face is found, ArcFace and RRT rank the right article higher than ArcFace.",
            "MRR", "more", _reranked("image", "arcface", "mrr", "article_face"),
        ),
        Claim(
            "image_answers", "Reading what text and image found answers more than reading what the text found.",
            "EM", "more", _read("few_shot_fused", "few_shot_text"),
        ),
        Claim(
            "few_shot_reader", "The reader that also learned from a few such questions answers more.", "EM", "more",
            _read("few_shot_fused", "zero_shot_fused"),
        ),
        Claim(
            "reranked_answers", "Reading the re-ranked passages answers more than reading the retrieved ones.",
            "EM", "more", _read("few_shot_reranked", "few_shot_fused"),
        ),
    ),
    "decorrelation": (
        Claim(
            "clip_looks", "CLIP trained with painted-out objects more often names what is still there.", "ODmAP@1",
            "more", _cells("coco_clip", "synthetic", "odmap@1"),
        ),
        Claim(
            "clip_names_less", "It names the painted-out object less often.", "first sentence names it", "more",
            _cells("coco_clip", "synthetic", "removed_named", sides=_LESS),
        ),
        Claim(
            "clip_keeps", "It is as good on whole pictures.", "R@1", "kept",
            _cells("coco_clip", "image_to_text", "rank", 1),
        ),
        Claim(
            "control_gains_nothing", "Where nothing usually stands together, it gains nothing.", "ODmAP@1", "none",
            _cells("control_clip", "synthetic", "odmap@1"),
        ),
    ),
    "complexity": tuple(
        Claim(f"{factor}_costs", f"It costs every model that {meaning} ({factor}).", "ROUGE-L", "more", _costs(factor))
        for factor, meaning in {
            "f0": "the frame is rare in what readers learned from",
            "f1": "a coreference chain leads to the answer",
            "f2": "the trigger is a noun",
            "f3": "the question does not have the trigger",
            "f4": "the answer stands far from the trigger",
            "f5": "the frame has few elements here",
            "f6": "many words evoke the frame",
        }.items()
    ),
})  # fmt: skip
