"""First-stage runs of a small invented world: six systems, three splits, faces on even questions."""

import numpy as np

from trivium.formats.questions import SPLITS
from trivium.formats.trec import write_qrels, write_run
from trivium.kvqae.retrieval import fusion
from trivium.measures.runs import Qrels, Run

IMAGE = ("arcface", "imagenet", "clip")
TEXT_ENCODERS = {"dpr_zero_shot": {}, "dpr_few_shot": {}}  # as `kvqae.text_encoders` has them
ENCODERS = {name: {} for name in IMAGE}  # as `kvqae.image_encoders` has them
ROWS = {row: texts + (IMAGE if row.endswith("image") else ()) for row, texts in fusion.ROWS.items()}
SYSTEMS = ("bm25", "dpr_zero_shot", "dpr_few_shot", *IMAGE)
STRENGTH = {"bm25": 0.5, "dpr_zero_shot": 0.8, "dpr_few_shot": 1.0, "arcface": 1.5, "imagenet": 0.4, "clip": 0.8}
PASSAGES, DEPTH, PASSAGES_PER_ARTICLE = 60, 10, 4


def write_world(folder, questions=8, passages=PASSAGES, depth=DEPTH, seed=0):
    """Write runs and qrels; a passage with the answer scores higher by the system's strength."""
    rng = np.random.default_rng(seed)
    for split in SPLITS:
        names = tuple(f"{split}{number}" for number in range(questions))
        relevant = [np.sort(rng.choice(passages, 3, replace=False)) for _ in names]
        write_qrels(folder / f"relevance/{split}_passage.qrels", Qrels(names, tuple(relevant)))
        articles = tuple(np.unique(ids // PASSAGES_PER_ARTICLE) for ids in relevant)
        write_qrels(folder / f"relevance/{split}_article.qrels", Qrels(names, articles))
        for system in SYSTEMS:
            served = range(questions)
            if system in IMAGE:
                served = range(0 if system == "arcface" else 1, questions, 2)
            found, found_articles = {}, {}
            for number in served:
                scores = rng.normal(size=passages)
                scores[relevant[number]] += STRENGTH[system]
                best = np.argsort(-scores)[:depth]
                found[names[number]] = dict(zip(best.tolist(), scores[best].tolist(), strict=True))
                for passage in best[::-1].tolist():
                    article = passage // PASSAGES_PER_ARTICLE
                    found_articles.setdefault(names[number], {})[article] = scores[passage]
            write_run(folder / system / f"{split}.trec", Run.from_dict(found, name=system))
            if system in IMAGE:
                write_run(folder / system / f"{split}_articles.trec", Run.from_dict(found_articles, name=system))
    return [folder / system for system in SYSTEMS]


def weights(**rows):
    """Equal weights for every row, except those given."""
    return {row: dict.fromkeys(systems, 1.0) for row, systems in ROWS.items()} | rows
