"""Ask the test questions of a built project in a process of its own, with the arithmetic that `trivium ask` settles."""

import json
import pickle
import sys
from pathlib import Path

from trivium.commands.ask import prepare_arithmetic


def main(folder: Path, wanted: list[tuple[str, bool, int]]) -> None:
    """Write {(row, re-ranked): {question's id: answer}} of each row's first questions to standard output, pickled."""
    from trivium.core.image_shards import Images
    from trivium.formats.questions import read_questions
    from trivium.kvqae.asking.asker import Asker
    from trivium.kvqae.asking.graph import GraphBase

    images = Images(folder / "data/kvqae/raw/images/questions")
    questions = read_questions(folder / "data/kvqae/raw/viquae/test.jsonl")
    answers = {}
    for row, rerank, count in wanted:
        with Asker(lambda row=row: GraphBase(folder, row)) as asker:
            answers[row, rerank] = {
                question.id: asker.ask(question.text, images.read(question.image), rerank=rerank)
                for question in questions[:count]
            }
    sys.stdout.buffer.write(pickle.dumps(answers))


if __name__ == "__main__":
    prepare_arithmetic()
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
