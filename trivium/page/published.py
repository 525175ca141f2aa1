"""Which measured rows stand beside which published ones, under which names, and whether both agree.

Nothing here knows what encoders, re-rankers and models there are: what reads only this does not depend on them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from markupsafe import Markup
from pydantic import Field

from trivium.core.parameters import Parameters

# Decorrelation's data sets and variants of training.
DATASETS = {"coco": "COCO", "flickr30k": "Flickr30k", "control": "Control world"}
VARIANTS = {
    "zero_shot": "zero-shot",
    "finetune": "finetuned on D",
    "ours": "+ ours, on D ∪ D′",
    "longer": "on D, more steps",
    "zero": "on D ∪ D′, zero filled",
}
PAPERS_ARTICLES = 1_495_352  # of KVQAE's knowledge base


class SearchedParameters(Parameters):
    """What all parts of KVQAE's page that show a search read."""

    places: ClassVar = {"world": "world.kvqae", "base": "kvqae.world.base"}
    world: str = Field(description="Where the data comes from")
    base: dict[str, Any] | None = Field(default=None, description="Of the hub's articles those searched; null: all")

    @property
    def is_sample(self) -> bool:
        """Whether the numbers are others than the paper's, so that no verdict stands beside them."""
        return self.world == "sample" or self.base is not None


MEASURES = {"mrr": "MRR", "precision@1": "P@1", "precision@20": "P@20", "hits@20": "Hits@20"}  # of KVQAE's retrieval


class Shown(NamedTuple):
    """A block of KVQAE's measured rows, and what the paper prints about it."""

    block: str  # its key
    published: str | None = None  # the published table that stands beside it
    names: Mapping[str, str] = {}  # our row → the published one; empty where they have the same names


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
# Our rows of Table 7 → the paper's, whose labels they take.
READING_ROWS = {
    "zero_shot_fused": "zero_shot_initial",
    "zero_shot_reranked": "zero_shot_reranked",
    "zero_shot_reranked_weighted": "zero_shot_weighted",
    "few_shot_fused": "few_shot_initial",
    "few_shot_reranked": "few_shot_reranked",
    "few_shot_reranked_weighted": "few_shot_weighted",
    "few_shot_semi_oracle": "few_shot_semi_oracle",
    "few_shot_full_oracle": "few_shot_full_oracle",
    "triviaqa": "triviaqa_bm25",
    "triviaqa_weighted": "triviaqa_bm25_weighted",
}


def tolerances_of(row: Mapping[str, Any], tolerances: Mapping[str, float]) -> list[float]:
    """How far F1 and EM may be from a published row, in points: by its standard deviations where it has some."""
    if "deviations" in row:
        return [tolerances["deviations"] * deviation for deviation in row["deviations"]]
    return [tolerances["points"]] * len(row["values"])


def agreement(
    ours: Sequence[float | None], printed: Sequence[Sequence[float]], tolerances: Sequence[float], *, sample: bool
) -> str | None:
    """`within 2 points`, or `off by up to 3.1 points` (the largest difference among those beyond their tolerance).

    Args:
        ours: measured, in points; None where it was not.
        printed: the published row, and others that the paper prints for the same; any of them is accepted.
        tolerances: of each number, in points.
        sample: ours are of a sample world, whose numbers are others: no verdict.

    Returns:
        None, too, where a number was not measured.
    """
    measured = [value for value in ours if value is not None]
    if sample or len(measured) < len(ours):
        return None
    differences = [[abs(a - b) for a, b in zip(measured, row, strict=True)] for row in printed]
    beyond = [[off for off, most in zip(row, tolerances, strict=True) if off > most] for row in differences]
    if [] in beyond:
        return f"within {' and '.join(dict.fromkeys(f'{most:g}' for most in tolerances))} points"
    return f"off by up to {min(map(max, beyond)):.1f} points"


def noted(sections: Mapping[str, Markup], base: Mapping[str, Any] | None) -> dict[str, Markup]:
    """KVQAE's sections by id, with a note above each where `base`, `kvqae.world.base`, is not all articles (None)."""
    if not base:
        return dict(sections)
    articles, everything = (f"{count:,}".replace(",", "\u202f") for count in (base["articles"], PAPERS_ARTICLES))
    note = Markup(
        f'<p class="note" role="note"><strong>A pilot.</strong> {articles} articles are searched, chosen of '
        f"{everything}: the questions’ subjects, hard negatives and a random rest. A smaller base is easier. These "
        "figures are above those that all articles would give, and no verdict stands beside the published ones.</p>\n"
    )
    return {name: note + html for name, html in sections.items()}
