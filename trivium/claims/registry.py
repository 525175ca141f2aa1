"""The claims: what is compared with what, by which measure, and what is claimed of the difference."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

# What is claimed: more; at least as much, but for a margin; that there is no difference; or that something costs every
# part more than nothing, where up to the margin is no effect.
Expected = Literal["more", "kept", "none", "costs"]
Verdict = Literal["holds", "does not hold", "no effect", "differs", "cannot tell"]
# World seeds; 0-2 are those on which settings were chosen.
WORLDS = {"kvqae": (3, 4, 5), "decorrelation": (3, 4, 5), "complexity": (6, 7, 8)}
TRAININGS = (0, 1, 2)  # seeds of whatever is trained


@dataclass(frozen=True)
class Rows:
    """Two rows of a table that a stage leaves; `{training}` stands for the seed of the training."""

    table: str  # path of the Parquet file in the project
    shared: Mapping[str, str]  # what both sides' rows have, by column
    better: Mapping[str, str]  # what tells one side apart
    other: Mapping[str, str]
    item: str  # column of what is resampled, whose values belong together
    value: str  # column of the measure
    top: int | None = None  # the value is a rank, and the measure whether it is at most this


@dataclass(frozen=True)
class Reading:
    """A reader's scores of facts without a factor (`better`), and of the same facts with it (`other`).

    Where no factor is named: its scores, and those of the sentence that shares most words with the question.
    """

    reader: str
    factor: str | None = None


@dataclass(frozen=True)
class Claim:
    """One thing that README or the page says of the sample world."""

    name: str  # of its evidence
    sentence: str
    measure: str
    expected: Expected  # of the difference
    parts: Mapping[str, Rows | Reading]  # comparisons by name that all must show it; most claims have one
    margin: float = 0.05  # in the measure's unit, up to which a difference is none


_MEASURES = {"mrr": "MRR", "precision@1": "P@1", "em": "EM"}
_INITIAL = ("initial", "evaluate_reranking", "passage")
_KVQAE = (  # name, sentence, the better row, the other one with its table and block of rows, value
    ("image_adds", "Text and image find the passage higher up than the text alone.",
     "dpr_few_shot_image", ("dpr_few_shot", "evaluate", "passage"), "mrr"),
    ("image_adds_to_both_texts", "Text and image find it higher up than BM25 and DPR together.",
     "dpr_few_shot_image", ("bm25_dpr_few_shot", "evaluate", "passage"), "mrr"),
    ("few_shot_dpr", "DPR that also learned from a few such questions beats DPR that did not.",
     "dpr_few_shot", ("dpr_zero_shot", "evaluate", "passage"), "mrr"),
    ("text_reranking", "Re-ranking by text puts a right passage first more often than retrieval does.",
     "text", _INITIAL, "precision@1"),
    ("text_reranking_mrr", "Re-ranking by text puts the right passage higher up.", "text", _INITIAL, "mrr"),
    ("both_rerank", "Re-ranking by text and image puts a right passage first more often than retrieval does.",
     "text_image", _INITIAL, "precision@1"),
    ("image_reranks", "The image adds to re-ranking by text.",
     "text_image", ("text", "evaluate_reranking", "passage"), "precision@1"),
    ("rrt_adds", "Where a face is found, ArcFace and RRT rank the right article higher than ArcFace.",
     "image", ("arcface", "evaluate_reranking", "article_face"), "mrr"),
    ("image_answers", "Reading what text and image found answers more than reading what the text found.",
     "few_shot_fused", ("few_shot_text", "read", ""), "em"),
    ("few_shot_reader", "The reader that also learned from a few such questions answers more.",
     "few_shot_fused", ("zero_shot_fused", "read", ""), "em"),
    ("reranked_answers", "Reading the re-ranked passages answers more than reading the retrieved ones.",
     "few_shot_reranked", ("few_shot_fused", "read", ""), "em"),
)  # fmt: skip
_CELLS: tuple[tuple[str, str, str, Expected, tuple[str, str, str, int | None]], ...] = (
    # name, sentence, measure, expected, (group of cells, set, value, at most which rank)
    ("clip_looks", "CLIP trained with painted-out objects more often names what is still there.",
     "ODmAP@1", "more", ("coco_clip", "synthetic", "odmap@1", None)),
    ("clip_names_less", "It names the painted-out object less often.",
     "first sentence names it", "more", ("coco_clip", "synthetic", "removed_named", None)),
    ("clip_keeps", "It is as good on whole pictures.", "R@1", "kept", ("coco_clip", "image_to_text", "rank", 1)),
    ("control_gains_nothing", "Where nothing usually stands together, it gains nothing.",
     "ODmAP@1", "none", ("control_clip", "synthetic", "odmap@1", None)),
)  # fmt: skip
# Of complexity's claims, named before they were run, and what they are called.
READERS = {"camembert": "CamemBERT", "camembert_deep": "CamemBERT, deeper"}
_COSTS = {
    "f0": "the frame is rare in what readers learned from",
    "f1": "a pronoun stands for the answer's name",
    "f2": "a noun tells of the event, not a verb",
    "f3": "the question has another word for the event than the text",
    "f4": "the answer stands two arcs and more from the event's word",
    "f5": "the sentence has two elements instead of four",
    "f6": "readers learned many words for the frame instead of one",
}


def _of_questions(better: str, other: tuple[str, str, str], value: str) -> Rows:
    """Rows of KVQAE's values by question; readers that were fine-tuned stand there with the seed of that."""
    row, table, block = other
    shared = {"block": block} if block else {}
    ours, theirs = (
        {"row": name, **({"seed": "{training}"} if table == "read" and name.startswith("few_shot") else {})}
        for name in (better, row)
    )
    return Rows(f"metrics/kvqae/{table}_per_query.parquet", shared, ours, theirs, "question", value)


def _of_cells(group: str, kind: str, value: str, top: int | None) -> Rows:
    """Cells trained with painted-out objects and without; of what should become less, the other way round."""
    ours, finetune = ({"cell": f"{group}_{variant}_{{training}}"} for variant in ("ours", "finetune"))
    sides = (finetune, ours) if value == "removed_named" else (ours, finetune)
    return Rows("data/decorrelation/evaluation.parquet", {"set": kind}, *sides, "picture", value, top)


CLAIMS: Mapping[str, tuple[Claim, ...]] = {
    "kvqae": tuple(
        Claim(name, sentence, _MEASURES[value], "more", {"": _of_questions(better, other, value)})
        for name, sentence, better, other, value in _KVQAE
    ),
    "decorrelation": tuple(
        Claim(name, sentence, measure, expected, {"": _of_cells(*cells)})
        for name, sentence, measure, expected, cells in _CELLS
    ),
    "complexity": (
        *(Claim(f"{factor}_costs", f"It costs every reader that {meaning} ({factor}).", "δ of ROUGE-L", "costs",
                {reader: Reading(reader, factor) for reader in READERS}, 0.02) for factor, meaning in _COSTS.items()),
        Claim("readers_read", "Every reader beats the sentence that shares most words with the question.", "ROUGE-L",
              "more", {reader: Reading(reader) for reader in READERS}),
    ),
}  # fmt: skip
