"""KVQAE's tables of retrieval and re-ranking, 2 to 6, and Figure 4."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trivium.kvqae.retrieval.evaluation import BEYOND
from trivium.page.agreement import agreement
from trivium.page.common import environment
from trivium.page.figures import boxes

MEASURES = (
    {"name": "mrr", "label": "MRR"},
    {"name": "precision@1", "label": "P@1"},
    {"name": "precision@20", "label": "P@20"},
    {"name": "hits@20", "label": "Hits@20"},
)
LABELS = {
    "arcface": "F·A (ArcFace, face detected)",
    "imagenet": "(1−F)·I (ImageNet, no face)",
    "clip": "(1−F)·C (CLIP, no face)",
    "bm25": "B (BM25, text only)",
    "dpr_zero_shot": "D₀ (DPR zero-shot, text only)",
    "dpr_few_shot": "D_f (DPR few-shot, text only)",
    "image": "F·A + (1−F)(I + C)",
    "bm25_image": "B + F·A + (1−F)(I + C)",
    "dpr_zero_shot_image": "D₀ + F·A + (1−F)(I + C)",
    "dpr_few_shot_image": "D_f + F·A + (1−F)(I + C)",
    "bm25_dpr_few_shot": "B + D_f",
    "bm25_dpr_few_shot_image": "B + D_f + F·A + (1−F)(I + C)",
    "rrf": "Reciprocal-rank fusion of all",
}
RERANKED_LABELS = {
    "initial": "Initial: D_f + F·A + (1−F)(I + C)",
    "bm25_image": f"{LABELS['bm25_image']}, not re-ranked",
    "rrt": "RRT (whole image)",
    "arcface": "F·A (ArcFace)",
    "image": "F·A + RRT",
    "text": "Text (cross-encoder)",
    "text_image": "Text + F·A + RRT",
    "text_initial": "Text + initial list (beyond the paper)",
    "text_image_initial": "Text + F·A + RRT + initial list (beyond the paper)",
}
# Rows that are other systems without RRT: none of them is the paper's.
WITHOUT_RRT = {
    "image": "F·A, without a face the initial list",
    "text_image": "Text + F·A",
    "text_image_initial": "Text + F·A + initial list (beyond the paper)",
}


@dataclass(frozen=True)
class Shown:
    """A block of measured rows, and what the paper prints about it.

    Attributes:
        block: its key.
        published: the published table that stands beside it, or None.
        names: our row → the published one; empty where they have the same names.
    """

    block: str
    published: str | None = None
    names: dict[str, str] = field(default_factory=dict)


# Section → its title and blocks.
TABLES: dict[str, tuple[str, tuple[Shown, ...]]] = {
    "table-2": (
        "Table 2: first-stage retrieval, article level",
        (
            Shown("article_face", "table_2", {"arcface": "arcface_face"}),
            Shown("article_no_face", "table_2", {"imagenet": "imagenet_no_face", "clip": "clip_no_face"}),
            Shown("article", "table_2", {name: name for name in ("bm25", "dpr_zero_shot", "image", "dpr_few_shot")}),
        ),
    ),
    "table-3": ("Table 3: first-stage retrieval, passage level", (Shown("passage", "table_3"),)),
    "table-4": (
        "Table 4: persons and non-persons",
        (
            Shown("passage_persons", "table_4_persons"),
            Shown("passage_non_persons", "table_4_non_persons"),
            Shown("passage_face"),
            Shown("passage_no_face"),
        ),
    ),
}
RERANKED_TABLES: dict[str, tuple[str, tuple[Shown, ...]]] = {
    "table-5": (
        "Table 5: re-ranking by the image, article level",
        (Shown("article_face", "table_5_face"), Shown("article", "table_5")),
    ),
    "table-6": ("Table 6: re-ranking by text and image, passage level", (Shown("passage", "table_6"),)),
}


def retrieval_html(
    blocks: Mapping[str, Any],
    published: Mapping[str, Any],
    wanted: Sequence[Shown],
    level: float,
    confidence: float,
    labels: Mapping[str, str],
    *,
    sample: bool = True,
    unlike: Collection[str] = (),
) -> str:
    """The tables of one section: our numbers, then the published ones in columns marked as the paper's, and a verdict.

    Args:
        blocks: as stage `evaluate` writes them.
        published: the paper's tables.
        wanted: which blocks, in order.
        level: of the significance test.
        confidence: of the intervals.
        labels: of the rows.
        sample: our numbers are of a sample world, which gives no verdict.
        unlike: rows that are other systems than the paper's of the same name, which then stands beside none.
    """
    template = environment().get_template("retrieval_table.html")
    parts = []
    for each in wanted:
        if each.block not in blocks:
            parts.append(f"<p>No test question falls into the subset of block <code>{each.block}</code>.</p>")
            continue
        rows, verdicts = None, {}
        if each.published is not None:
            rows = published[each.published]["rows"]
            if each.names:
                rows = {ours: rows[theirs] for ours, theirs in each.names.items()}
            rows = {name: row for name, row in rows.items() if name not in unlike}
            tolerances = [published["tolerances"]["points"]] * len(MEASURES)
            for row in blocks[each.block]["rows"]:
                if row["name"] in rows:
                    values = [100 * row["values"][measure["name"]] for measure in MEASURES]
                    printed = [rows[row["name"]]["values"]]
                    verdicts[row["name"]] = agreement(values, printed, tolerances, sample=sample)
        parts.append(
            template.render(
                caption=f"{blocks[each.block]['title']}.",
                block=blocks[each.block],
                published=rows,
                verdicts=verdicts,
                measures=MEASURES,
                labels=labels,
                beyond=BEYOND,
                level=level,
                confidence=confidence,
            )
        )
    return "\n".join(parts)


def overlap_html(table: pa.Table, stems: bool) -> str:
    """Figure 4, with a caption that says how lemmas were found."""
    groups: dict[str, dict[str, list[float]]] = {}
    for system in dict.fromkeys(table["system"].to_pylist()):
        rows = table.filter(pc.equal(table["system"], system))
        groups[LABELS[system].split(" (")[0]] = {
            label: rows.filter(pc.equal(rows["relevant"], relevant))["overlap"].to_pylist()
            for label, relevant in (("relevant", True), ("not relevant", False))
        }
    title = "Lexical overlap of question and first passage"
    caption = (
        "Share of the question's content lemmas found in the first passage, by system and by whether that passage "
        "holds the answer. Boxes: quartiles; whiskers: the rest without outliers. The paper gives no formula and no "
        "numbers. "
    )
    if stems:
        caption += "Here Snowball stems stand in for lemmas."
    return f"<figure>{boxes(groups, title=title, ylabel='overlap')}<figcaption>{caption}</figcaption></figure>"
