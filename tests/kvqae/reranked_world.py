"""Re-ranked lists of a small invented world: an initial run of ten passages a question, faces on even questions."""

import numpy as np

from trivium.formats.trec import write_qrels, write_run
from trivium.measures.runs import Qrels, Run

SPLITS = ("validation", "test")
STRENGTH = {"text": 1.0, "arcface": 1.5, "rrt": 0.7}
DEPTH = 10


def write_reranked(folder, questions=40, seed=0, splits=SPLITS):
    """Write runs and qrels; a relevant passage scores higher by the system's strength. ArcFace ranks some passages only."""
    rng = np.random.default_rng(seed)
    for split in splits:
        names = tuple(f"{split}{number}" for number in range(questions))
        documents = np.stack([rng.choice(100, DEPTH, replace=False) for _ in names])
        relevant = tuple(np.sort(row[: number % 4]) for number, row in enumerate(documents))
        write_qrels(folder / f"{split}_passage.qrels", Qrels(names, relevant))
        initial = Run(names, rng.permuted(documents, axis=1), np.tile(np.arange(DEPTH, 0.0, -1), (questions, 1)))
        write_run(folder / "initial" / f"{split}.trec", initial)
        for system, strength in STRENGTH.items():
            scores = rng.normal(size=documents.shape)
            for number, count in enumerate(map(len, relevant)):
                scores[number, :count] += strength
            kept = documents.copy()
            if system == "arcface":
                kept[1::2] = -1
                kept[rng.random(kept.shape) < 0.2] = -1
            write_run(folder / system / f"{split}.trec", Run.from_scores(names, kept, scores, name=system))
    return {system: folder / system for system in ("initial", *STRENGTH)}
