"""Which images RRT compares: the questions', and those of the articles that it re-ranks (kvqae.md §4).

Nothing else is described, as a description is a hundred times as large as what else is kept of an image. A list is a
text file, one image name a line.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import read_lines
from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.article_passages import ArticlePassages
from trivium.measures.reorder import first
from trivium.measures.runs import PADDING, Run

SIDES = ("kb", "questions")  # whose images they are: folders of features, of DELG's files, and lists


def candidate_images(runs: Iterable[Run], depth: int, articles: Path, passages: Path) -> list[str]:
    """Names of the images of the articles whose passages are among the best `depth` of a list; sorted, each once.

    Raises:
        BadInput: a run has a passage that the knowledge base lacks; see `ArticlePassages`.
    """
    article_of = ArticlePassages(passages).article_of
    found: set[int] = set()
    for run in runs:
        best = first(run, depth).documents
        ids = np.unique(best[best != PADDING])
        if len(ids) and ids[-1] >= len(article_of):
            raise BadInput("no such passage", file=passages, got=int(ids[-1]), expected=f"below {len(article_of)}")
        found.update(np.unique(article_of[ids]).tolist())
    images = read_table(articles, ["image"])["image"].take(sorted(found))
    return sorted({name for name in images.to_pylist() if name is not None})


def question_images(questions: Iterable[Question]) -> list[str]:
    """Names of the questions' images; sorted, each once."""
    return sorted({question.image for question in questions if question.image is not None})


def write_list(path: Path, names: Iterable[str]) -> None:
    """Write a list of image names.

    Raises:
        BadInput: a name is empty or holds a line break.
    """
    lines = list(names)
    if broken := [name for name in lines if not name or set(name) & {"\n", "\r"}]:
        raise BadInput("image name that is no line of text", file=path, got=broken[0])
    with write_atomically(path) as beside:
        beside.write_text("".join(f"{name}\n" for name in lines), encoding="utf-8")


def read_list(path: Path) -> list[str]:
    """Read what `write_list` wrote.

    Raises:
        BadInput: no such file, or it is not UTF-8.
    """
    return [line.rstrip("\n") for _, line in read_lines(path)]
