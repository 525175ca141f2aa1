"""Seconds to answer a question, and memory, on the built sample: `python -m bench.ask`.

Test questions with their pictures are asked one after the other, on one processor thread as in `make ask`; the first
ones warm up and are not counted. Needs a project after `make repro` in the current folder; else nothing is written.
"""

import sys
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from bench import harness
from trivium.commands.ask import prepare_arithmetic
from trivium.core.errors import BadInput
from trivium.core.parameters import used_values

QUESTIONS, WARM_UP = 100, 10
WAYS = {"retrieved": False, "re_ranked": True}  # whether the passages are re-ranked
LIMIT_SECONDS = {"retrieved": 1, "re_ranked": 3}  # on two cores


def questions_and_pictures(root: Path, dataset: str) -> list[tuple[str, bytes]]:
    """Read (question, picture) of the test set."""
    from trivium.core.image_shards import Images
    from trivium.formats.questions import read_questions
    from trivium.kvqae.asking.graph import require

    images = Images(require(root, f"data/kvqae/{dataset}/images/questions"))
    questions = read_questions(require(root, f"data/kvqae/{dataset}/viquae/test.jsonl"))
    names = [(question.text, question.image) for question in questions]
    return [(text, images.read(name)) for text, name in names if name is not None and name in images]


def ask_all(root: Path, questions: int, *, rerank: bool, warm_up: int = 0) -> list[float]:
    """Time each of `questions` questions in seconds, after `warm_up` others that are not counted.

    Raises:
        BadInput: the project is not built.
    """
    from trivium.kvqae.asking.asker import Asker
    from trivium.kvqae.asking.graph import GraphBase

    with Asker(lambda: GraphBase(root)) as asker:
        pairs = cycle(questions_and_pictures(root, str(used_values(root / "params.yaml", "kvqae.dataset"))))
        for pair in islice(pairs, warm_up):
            asker.ask(*pair, rerank=rerank)
        return [harness.once(partial(asker.ask, *pair, rerank=rerank)) for pair in islice(pairs, questions)]


def main() -> None:
    """Time both ways, and measure memory as the questions grow ten times."""
    prepare_arithmetic()
    root = Path.cwd()
    figures: dict[str, object] = {"questions": QUESTIONS, "warm_up_questions": WARM_UP}
    try:
        for way, rerank in WAYS.items():
            seconds = ask_all(root, QUESTIONS, rerank=rerank, warm_up=WARM_UP)
            few = harness.peak_memory(ask_all, root, QUESTIONS // 10, rerank=rerank)
            figures |= {
                f"{way}_median_seconds_a_question": float(np.median(seconds)),
                f"{way}_ninetieth_percentile_seconds_a_question": float(np.percentile(seconds, 90)),
                f"{way}_worst_seconds_a_question": max(seconds),
                f"{way}_limit_seconds_a_question": LIMIT_SECONDS[way],
                f"{way}_mib": few,
                f"{way}_mib_ten_times_the_questions": harness.peak_memory(ask_all, root, QUESTIONS, rerank=rerank),
            }
    except BadInput as error:
        print(f"ask: not measured and nothing written: {error}", file=sys.stderr)
        return
    harness.write("ask", figures | {"versions": harness.versions("torch", "transformers", "pyserini")})


if __name__ == "__main__":
    main()
