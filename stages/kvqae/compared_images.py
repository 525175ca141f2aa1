"""Stage `kvqae-compared_images`. Images that RRT compares: the questions', and of the first articles of each list."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run
from trivium.kvqae.rerankers.local_features import candidate_images, question_images, write_list
from trivium.kvqae.rerankers.reranker import SECTION, SPLITS


class ComparedImagesParameters(Parameters):
    """Section `kvqae.compared_images`: nothing to choose, RRT's own depth counts."""

    elsewhere: ClassVar = {"depth": f"{SECTION}.rrt.depth"}
    depth: int = Field(ge=1, description="Best passages of the initial run that RRT re-ranks")


def main(
    parameters: ComparedImagesParameters,
    context: Context,
    *,
    runs: Path = Path("data/kvqae/runs/{kvqae.initial.folder}/{kvqae.initial.run}"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    out: Path = Path("data/kvqae/compared_images"),
) -> dict[str, float]:
    """Write `kb.txt` and `questions.txt`, names of the images that comparing the lists of the folder `runs` takes.

    They are written where RRT is left out, too: they say what it would take.
    """
    read = (read_run(runs / f"{split}.trec") for split in SPLITS)
    lists = {
        "kb": candidate_images(read, parameters.depth, articles, passages),
        "questions": question_images(each for split in SPLITS for each in read_questions(questions / f"{split}.jsonl")),
    }
    with write_atomically(out) as beside:
        beside.mkdir()
        for name, images in lists.items():
            write_list(beside / f"{name}.txt", images)
    return {f"{name}_images": float(len(images)) for name, images in lists.items()}


if __name__ == "__main__":
    run_stage(main, "kvqae.compared_images", ComparedImagesParameters, metrics="metrics/kvqae/compared_images.json")
