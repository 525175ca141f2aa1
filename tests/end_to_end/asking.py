"""Ask the test questions of a built project in a process of its own, with the arithmetic that `trivium ask` settles."""

import pickle
import sys
from pathlib import Path

from trivium.commands.ask import prepare_arithmetic


def main(folder: Path) -> None:
    """Write {re-ranked: {question's id: answer}} to standard output, pickled."""
    from trivium.core.image_shards import Images
    from trivium.formats.questions import read_questions
    from trivium.kvqae.asking.asker import Asker
    from trivium.kvqae.asking.graph import GraphBase

    images = Images(folder / "data/kvqae/raw/images/questions")
    questions = read_questions(folder / "data/kvqae/raw/viquae/test.jsonl")
    answers = {}
    with Asker(lambda: GraphBase(folder)) as asker:
        for rerank in (False, True):
            answers[rerank] = {
                question.id: asker.ask(question.text, images.read(question.image), rerank=rerank)
                for question in questions
            }
    sys.stdout.buffer.write(pickle.dumps(answers))


if __name__ == "__main__":
    prepare_arithmetic()
    main(Path(sys.argv[1]))
