"""Blocks of Tables 5 and 6: re-ranking by images, text and both, and the effect of the encoders' training data.

Re-rankers reorder the best passages of the initial run, so the pool of judged passages stays the same; the initial run
is measured whole, as in Table 3. An article has the rank of its first passage (kvqae.md §6). The lists of entities that
ArcFace and RRT were trained on are files (docs/kvqae-formats.md); without a file there is no such split.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from trivium.core.parameters import shared
from trivium.kvqae.rerankers.model_files import read_entities
from trivium.kvqae.rerankers.reranker import SECTION, Rerankers, select_by_input
from trivium.kvqae.retrieval.evaluation import Block, EvaluateParameters


def blocks_of(rerankers: Iterable[str], brought: Sequence[str] = ()) -> dict[str, Block]:
    """List the blocks of Tables 5 and 6, with a row for each re-ranker in use and each brought run."""
    names = tuple(rerankers)
    texts, faces, whole = (select_by_input(names, what) for what in ("text", "face", "whole"))
    passages = ("initial", *texts, "text_image", "text_initial", "text_image_initial", *brought)
    return {
        "article_face": Block(
            "Image re-ranking, article level, face detected", "article", "face", (*whole, *faces, "image", *brought)
        ),
        "article": Block(
            "Image re-ranking, article level, all questions", "article", "all", (*whole, "image", *brought)
        ),
        "passage": Block("Re-ranking, passage level, all questions", "passage", "all", passages),
    }


class RerankingTablesParameters(EvaluateParameters):
    """Section `kvqae.evaluate_reranking`."""

    rerankers: Rerankers = shared(SECTION)


_PERSONS = ("bm25_image", "initial", "image", "text", "text_image")
_OTHERS = ("initial", "rrt", "image", "text", "text_image")
OVERLAP_BLOCKS = {
    "identities": {
        "persons_known": Block("Persons whom ArcFace was trained on", "passage", "persons_known", _PERSONS),
        "persons_unknown": Block("Persons whom ArcFace was not trained on", "passage", "persons_unknown", _PERSONS),
    },
    "landmarks": {
        "landmarks_known": Block("Non-persons that RRT was trained on", "passage", "landmarks_known", _OTHERS),
        "landmarks_unknown": Block("Non-persons that RRT was not trained on", "passage", "landmarks_unknown", _OTHERS),
    },
}
# (block, row expected to be better, other row): their differences and p-values are metrics.
COMPARED = (
    ("passage", "text", "initial"),
    ("passage", "text_image", "text"),
    ("passage", "text_image", "initial"),
    ("passage", "text_initial", "initial"),
    ("passage", "text_image_initial", "text_initial"),
    ("article_face", "image", "arcface"),
    ("article_face", "image", "rrt"),
    ("article", "image", "rrt"),
)


def split_by_overlap(
    questions: dict[str, list[str]], entity_of: dict[str, str | None], lists: dict[str, Path]
) -> dict[str, list[str]]:
    """Split persons and non-persons by whether a list, `identities` or `landmarks`, has the question's entity.

    `questions` has the ids of subsets, `entity_of` the Wikidata id of each question's entity.
    """
    split = {}
    for name, whom, subset in (("identities", "persons", "persons"), ("landmarks", "landmarks", "non_persons")):
        if lists[name].is_file():
            entities = read_entities(lists[name])
            ids = questions[subset]
            split[f"{whom}_known"] = [question for question in ids if entity_of[question] in entities]
            split[f"{whom}_unknown"] = [question for question in ids if entity_of[question] not in entities]
    return split
