"""Stage `kvqae-name_search`. Search articles by the likeness of name and picture, one cell for each CLIP."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trivium.core.atomic import write_atomically, write_folder
from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix, write_matrix
from trivium.core.stage import stage
from trivium.core.tables import read_table
from trivium.formats.questions import SPLITS, read_questions
from trivium.formats.trec import write_run
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, ArticlePassages
from trivium.kvqae.retrieval.image_search import ImageIndex, NameSearchParameters
from trivium.kvqae.retrieval.systems import system_of
from trivium.measures.runs import Run
from trivium.nets.device import pick_device
from trivium.nets.open_clip_folder import ClipText

LOADS = {"trivium.vision.encoders": "${key}"}  # a cell loads its own encoder
SHARD = 1 << 14  # names in memory
VECTORS = "names.npy"


@stage("kvqae.name_search", metrics="metrics/kvqae/name_search_{encoder}.json")
def main(
    parameters: NameSearchParameters,
    *,
    encoder: str,
    kb: Path = Path("data/kvqae/kb"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    question_features: Path = Path("data/kvqae/features/questions"),
    out_vectors: Path = Path("data/kvqae/embeddings/{encoder}_names"),
    out: Path = Path("data/kvqae/runs/text/{encoder}_names"),
) -> dict[str, float]:
    """Write the names' vectors, `{split}.trec` and `{split}_articles.trec`, without unreadable pictures."""
    table = read_table(kb / ARTICLES, ["article", "title", "image"])
    illustrated = table.filter(pc.is_valid(table["image"]))
    names = illustrated["title"].to_pylist()
    features = ImageFeatures.read(question_features)
    pictures = features.matrix(encoder)
    tower = ClipText(parameters.settings.model, pick_device())
    width = tower.encode(names[:1], 1).shape[1]
    if width != pictures.shape[1]:
        raise BadInput("vectors of another model", file=question_features / encoder, got=pictures.shape[1],
                       expected=f"{width}, as the text tower of {parameters.settings.model} has")  # fmt: skip
    with write_folder(out_vectors) as target, write_matrix(target / VECTORS, len(names), width) as matrix:
        for first in range(0, len(names), SHARD):
            part = names[first : first + SHARD]
            matrix[first : first + len(part)] = tower.encode(part, parameters.batch_size)
    owners = {row: [article] for row, article in enumerate(illustrated["article"].to_pylist())}
    starts = np.searchsorted(ArticlePassages(kb).article_of, np.arange(table.num_rows + 1))
    index = ImageIndex(read_matrix(out_vectors / VECTORS), np.arange(len(names)), owners, starts)
    metrics: dict[str, float] = {"names": float(len(names)), "width": float(width)}
    system = system_of(encoder)
    with write_atomically(out) as target:
        for split in SPLITS:
            of_split = read_questions(questions / f"{split}.jsonl")
            rows = features.rows(pa.array([question.image for question in of_split], pa.string()))
            served = [place for place, row in enumerate(rows.tolist()) if row >= 0 and features.readable[row]]
            ranked_lists = index.search(pictures[rows[served]], parameters.depth)
            for suffix, lists in zip(("_articles", ""), ranked_lists, strict=True):
                ranked = {of_split[place].id: ranking for place, ranking in zip(served, lists, strict=True)}
                run = Run.from_dict(ranked, parameters.depth, system)
                write_run(target / f"{split}{suffix}.trec", run)
            metrics |= {f"{split}_questions": float(len(of_split)), f"{split}_served": float(len(served))}
    return metrics
