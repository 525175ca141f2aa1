import numpy as np

from stages.kvqae.answered_rows import sweep
from stages.kvqae.questions import Question
from stages.kvqae.reader.reading import Reading
from stages.kvqae.reader.rows import Selection


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
