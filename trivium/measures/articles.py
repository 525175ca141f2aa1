"""From passages to articles: an article takes the score of its best passage."""

import numpy as np
from numpy.typing import NDArray

from trivium.measures.runs import Run


def best_passages(run: Run, article_of: NDArray[np.int64]) -> Run:
    """The run over articles in which each article stands at the rank and score of its first passage.

    Args:
        run: over passages.
        article_of: (passages,) the article of each passage.

    Raises:
        ValueError: the run holds a passage that is not in `article_of`.
    """
    if run.documents.size and run.documents.max() >= len(article_of):
        raise ValueError(f"run {run.name!r} holds passage {run.documents.max()}, but there are {len(article_of)}")
    documents = np.full_like(run.documents, -1)
    scores = np.full_like(run.scores, np.nan)
    for row, (passages, values) in enumerate(zip(run.documents, run.scores, strict=True)):
        passages = passages[passages >= 0]
        articles = article_of[passages]
        first = np.sort(np.unique(articles, return_index=True)[1])
        documents[row, : len(first)] = articles[first]
        scores[row, : len(first)] = values[first]
    return Run(run.queries, documents, scores, run.name)
