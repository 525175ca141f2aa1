import numpy as np

from trivium.formats.questions import Question
from trivium.kvqae.reader.answered_rows import sweep
from trivium.kvqae.reader.inputs import ReadParameters, Selection
from trivium.kvqae.reader.reading import Reading

ROW = {"model": "few_shot", "questions": "viquae", "run": "fused", "passages": 2, "weighted": False, "oracle": "none"}
PARAMETERS = ReadParameters(
    rows={"row": ROW}, sweep_passages=[1], sweep_questions=1, max_tokens=32, answer_tokens=8, batch=4,
    seeds=[0], asked_row="row", compared=[["row", "row"]], permutations=100,
)  # fmt: skip


def test_sweep_takes_the_best_and_the_fewest_at_equality():
    question = Question("q", "?", ("yes",), "yes")
    readings = {
        ("?", n): Reading(text, 0, 1, score, 0.0, 0.0)
        for n, text, score in [(0, "no", 0), (1, "yes", 1), (2, "yes", 2)]
    }
    selections = {n: [Selection(question, np.arange(n), np.zeros(n))] for n in (1, 2, 3)}
    best, curve = sweep(selections, [readings], weighted=False)
    assert best == 2
    assert [point["em"] for point in curve] == [0.0, 1.0, 1.0]
