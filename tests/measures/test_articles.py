import numpy as np
import pytest

from trivium.measures.reorder import best_passages
from trivium.measures.runs import Run


def test_an_article_stands_where_its_first_passage_stood():
    article_of = np.array([0, 0, 1, 1, 2])
    run = Run.from_dict({"q": {3: 0.9, 1: 0.8, 2: 0.7, 0: 0.6, 4: 0.5}, "empty": {}}, depth=5, name="toy")
    articles = best_passages(run, article_of)
    np.testing.assert_array_equal(articles.documents, [[1, 0, 2, -1, -1], [-1] * 5])
    np.testing.assert_array_equal(articles.scores[0, :3], [0.9, 0.8, 0.5])


@pytest.mark.parametrize("passage", [2, 5])
def test_unknown_passage(passage):
    with pytest.raises(ValueError, match=f"passage {passage}, but there are 2"):
        best_passages(Run.from_dict({"q": {passage: 1.0}}, depth=1), np.array([0, 1]))
