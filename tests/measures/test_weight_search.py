"""The grid's arithmetic, and a search that must equal fusing and measuring every weighting."""

from itertools import product
from math import comb

import numpy as np
import pytest

from trivium.measures import weight_search
from trivium.measures.fusion import linear_fusion
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import search_weights, simplex_grid


def world(seed, systems=3, queries=15, depth=8, documents=25, values=4):
    """Runs with many ties (few distinct scores), empty lists, and queries without relevant documents."""
    rng = np.random.default_rng(seed)
    names = tuple(f"q{row}" for row in range(queries))
    relevant = tuple(np.sort(rng.choice(documents, rng.integers(0, 4), replace=False)) for _ in names)
    runs = []
    for number in range(systems):
        ids = np.stack([rng.choice(documents, depth, replace=False) for _ in names])
        ids[rng.random(queries) < 0.2] = -1
        runs.append(Run.from_scores(names, ids, rng.integers(0, values, ids.shape), name=f"s{number}"))
    return runs, Qrels(names, relevant)


def fused_and_measured(runs, qrels, weights, depth, normalization="z_score"):
    fused = linear_fusion(runs, weights, depth=depth, normalization=normalization)
    return evaluate(fused, qrels, ["mrr"])["mrr"].mean()


@pytest.mark.parametrize(("systems", "step"), [(4, 0.1), (5, 0.1), (3, 0.05), (2, 0.5), (1, 0.1), (3, 1.0), (2, 0.001)])
def test_the_grid_is_the_whole_simplex_once(systems, step):
    units = round(1 / step)
    grid = simplex_grid(systems, step)
    assert grid.shape == (comb(units + systems - 1, systems - 1), systems)
    assert (grid.sum(axis=1) == units).all()
    assert (grid >= 0).all()
    rows = [tuple(row) for row in grid]
    assert rows == sorted(set(rows))
    if units**systems < 20_000:
        assert rows == [row for row in product(range(units + 1), repeat=systems) if sum(row) == units]


@pytest.mark.parametrize(("systems", "step"), [(4, 0.3), (4, 0.0), (4, -0.1), (0, 0.1), (4, 2.0), (4, float("nan"))])
def test_steps_that_do_not_divide_one_are_refused(systems, step):
    with pytest.raises(ValueError, match="divides 1"):
        simplex_grid(systems, step)


@pytest.mark.parametrize("depth", [None, 1, 5])
@pytest.mark.parametrize("normalization", ["z_score", "min_max", "rank"])
def test_values_equal_fusing_and_measuring_with_ties_and_empty_lists(depth, normalization):
    for seed in range(4):
        runs, qrels = world(seed)
        weights, values = search_weights(runs, qrels, step=0.25, depth=depth, normalization=normalization)
        assert len(weights) == 15
        expected = [fused_and_measured(runs, qrels, row, depth, normalization) for row in weights]
        assert values == pytest.approx(expected, abs=1e-14)
        assert values.std() > 0
        assert values.argmax() == int(np.argmax(np.round(expected, 12)))


def test_the_first_of_equal_optima_is_taken():
    run = Run.from_dict({"q": {1: 2.0, 2: 1.0}})
    weights, values = search_weights([run, run], Qrels(("q",), ([1],)), step=0.5, depth=None)
    assert values.tolist() == [1, 1, 1]
    assert weights[values.argmax()].tolist() == [0, 1]


def test_a_planted_optimum_is_found():
    # Only the first system ranks the relevant document of a, only the second that of b: one alone reaches half.
    good, noise = {1: 3.0, 2: 0.0, 3: 0.0}, {1: 0.0, 2: 0.3, 3: 0.0}
    first = Run.from_dict({"a": good, "b": noise})
    second = Run.from_dict({"a": noise, "b": good})
    weights, values = search_weights([first, second], Qrels(("a", "b"), ([1], [1])), step=0.5, depth=None)
    assert weights[values.argmax()].tolist() == [0.5, 0.5]
    assert values.tolist() == [(1 + 1 / 2) / 2, 1, (1 + 1 / 2) / 2]


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_chunks_and_the_order_of_queries_do_not_matter(monkeypatch, chunk):
    runs, qrels = world(9)
    _, expected = search_weights(runs, qrels, step=0.2, depth=None)
    monkeypatch.setattr(weight_search, "_CHUNK", chunk)
    assert search_weights(runs, qrels, step=0.2, depth=None)[1].tolist() == expected.tolist()
    shuffled = [qrels.queries[row] for row in np.random.default_rng(1).permutation(len(qrels.queries))]
    _, moved = search_weights(
        [run.select(shuffled) for run in runs], qrels, step=0.2, depth=None, normalization="min_max"
    )
    _, still = search_weights(runs, qrels, step=0.2, depth=None, normalization="min_max")
    assert moved == pytest.approx(still, abs=1e-14)
