"""Which of KVQAE's measured rows stand beside which rows of the paper's tables 2 to 6.

Nothing here knows what encoders and re-rankers there are: what reads only this does not depend on them.
"""

from dataclasses import dataclass, field

MEASURES = (
    {"name": "mrr", "label": "MRR"},
    {"name": "precision@1", "label": "P@1"},
    {"name": "precision@20", "label": "P@20"},
    {"name": "hits@20", "label": "Hits@20"},
)


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


# Section → its blocks.
TABLES: dict[str, tuple[Shown, ...]] = {
    "table-2": (
        Shown("article_face", "table_2", {"arcface": "arcface_face"}),
        Shown("article_no_face", "table_2", {"imagenet": "imagenet_no_face", "clip": "clip_no_face"}),
        Shown("article", "table_2", {name: name for name in ("bm25", "dpr_zero_shot", "image", "dpr_few_shot")}),
    ),
    "table-3": (Shown("passage", "table_3"),),
    "table-4": (
        Shown("passage_persons", "table_4_persons"),
        Shown("passage_non_persons", "table_4_non_persons"),
        Shown("passage_face"),
        Shown("passage_no_face"),
    ),
}
RERANKED_TABLES: dict[str, tuple[Shown, ...]] = {
    "table-5": (Shown("article_face", "table_5_face"), Shown("article", "table_5")),
    "table-6": (Shown("passage", "table_6"),),
}
