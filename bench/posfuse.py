"""PosFuse, and min-max fusion with its weight search, beside ranx and NumPy (kvqae.md §4): `python -m bench.posfuse`.

Three systems re-rank the documents of 500 questions. For all: learn PosFuse's probabilities and fuse with them, then
try the weightings by tenths after min-max normalisation. A document that a system did not return gets 0 from ranx and
the system's minimum, which min-max makes 0, from us: the sums are the same. The MRRs differ where documents tie, such
as the first ones of two lists of equal weight, whose order ranx leaves open. Putting our runs into its format is not
timed. ranx takes minutes for the search, so it is given the first `FEW_QUERIES` questions.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench import fusion, harness
from bench.fusion import as_ranx_qrels, as_ranx_run
from trivium.measures.fusion import linear_fusion
from trivium.measures.posfuse import pos_fusion, position_probabilities
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import WeightSearch, search_weights

if TYPE_CHECKING:  # imported where it is used: what is ours is measured without its peer in memory
    import ranx

QUERIES, SYSTEMS, STEP = 500, 3, 0.1
FEW_QUERIES = 50
FEW = 0.5  # step where only memory is looked at: ranx holds one weighting at a time
TOLERANCE = 1e-9  # of a fused score


def ours(runs: list[Run], qrels: Qrels) -> tuple[Run, WeightSearch]:
    """The run that PosFuse fuses, and the weight search after min-max normalisation."""
    fused = pos_fusion(runs, [position_probabilities(run, qrels) for run in runs], depth=None)
    return fused, search_weights(runs, qrels, step=STEP, depth=None, normalization="min_max")


def theirs(
    runs: "list[ranx.Run]", qrels: "ranx.Qrels", step: float
) -> "tuple[ranx.Run, dict[tuple[float, ...], float]]":
    """The same by ranx."""
    import ranx
    from ranx.fusion.posfuse import posfuse_train

    fused = ranx.fuse(runs, norm="rank", method="posfuse", params={"probs": posfuse_train(qrels, runs)})
    _, report = ranx.optimize_fusion(
        qrels, runs, norm="min-max", method="wsum", metric="mrr", step=step, show_progress=False,
        return_optimization_report=True,
    )  # fmt: skip
    return fused, fusion.weightings_of(report)


def theirs_from_ours(runs: list[Run], qrels: Qrels) -> None:
    """What ranx's memory is measured on: few weightings, of which it holds one at a time."""
    theirs([as_ranx_run(run) for run in runs], as_ranx_qrels(qrels), FEW)


def by_numpy(
    runs: list[Run], qrels: Qrels, weights: NDArray[np.float64]
) -> tuple[list[dict[int, float]], NDArray[np.float64]]:
    """The same as an expert would write it: PosFuse's score of each document, and MRR of each weighting."""
    relevant = [np.stack([np.isin(*each) for each in zip(run.documents, qrels.relevant, strict=True)]) for run in runs]
    learned = [hits.sum(axis=0) / (run.documents >= 0).sum(axis=0) for hits, run in zip(relevant, runs, strict=True)]
    fused, total = [], np.zeros(len(weights))
    for query, judged in enumerate(qrels.relevant):
        documents, places = np.unique(np.concatenate([run.documents[query] for run in runs]), return_inverse=True)
        of_query = np.split(places, len(runs))
        positions, scores = np.zeros((2, len(runs), len(documents)))
        for system, (run, part) in enumerate(zip(runs, of_query, strict=True)):
            positions[system, part] = learned[system]
            low, high = run.scores[query].min(), run.scores[query].max()
            scores[system, part] = (run.scores[query] - low) / (high - low)
        fused.append(dict(zip(documents.tolist(), positions.sum(axis=0).tolist(), strict=True)))
        right = np.isin(documents, judged)
        if right.any():
            sums = weights @ scores
            above = sums - sums[:, right].max(axis=1)[:, None]
            tied = abs(above) <= TOLERANCE  # the lower id comes first
            before = tied & (np.arange(len(documents)) < (tied & right).argmax(axis=1)[:, None])
            total += 1 / (1 + (before | (above > TOLERANCE)).sum(axis=1))
    return fused, total / len(runs[0].queries)


def largest_difference(ours: Run, theirs: Mapping[str, Mapping[str, float]]) -> float:
    """Largest difference of two fused scores of a document; infinite where the documents differ."""
    worst = 0.0
    for query, documents, values in zip(ours.queries, ours.documents.tolist(), ours.scores.tolist(), strict=True):
        found = {str(d): value for d, value in zip(documents, values, strict=True) if d >= 0}
        if found.keys() != theirs[query].keys():
            return float("inf")
        worst = max(worst, *(abs(value - theirs[query][document]) for document, value in found.items()))
    return worst


def check_ranx(runs: list[Run], qrels: Qrels) -> dict[str, object]:
    """Compare all that ranx gives for these questions.

    Raises:
        AssertionError: a fused score is another.
    """
    import ranx

    their_runs = [as_ranx_run(run) for run in runs]
    (our_run, search), (their_run, their_values) = ours(runs, qrels), theirs(their_runs, as_ranx_qrels(qrels), STEP)
    best = tuple(np.round(search.weights[search.best], 3).tolist())
    linear = linear_fusion(runs, best, depth=None, normalization="min_max")
    their_linear = ranx.fuse(their_runs, norm="min-max", method="wsum", params={"weights": best})
    differences = {
        "largest_posfuse_score_difference": largest_difference(our_run, their_run.to_dict()),
        "largest_min_max_score_difference": largest_difference(linear, their_linear.to_dict()),
    }
    if max(differences.values()) > TOLERANCE:
        raise AssertionError(f"ranx gives other scores: {differences}")
    our_values = dict(zip(map(tuple, np.round(search.weights, 3).tolist()), search.values, strict=True))
    apart = max(abs(our_values[weights] - value) for weights, value in their_values.items())
    return {**differences, "weightings_of_ranx": len(their_values), "largest_mrr_difference_to_ranx": apart}


def main() -> None:
    """Check that all say the same, race, and measure memory as the queries grow ten times."""
    runs, qrels = fusion.world(QUERIES, SYSTEMS)
    few = [run.select(qrels.queries[:FEW_QUERIES]) for run in runs], qrels.select(qrels.queries[:FEW_QUERIES])
    their_few = [as_ranx_run(run) for run in few[0]], as_ranx_qrels(few[1])
    our_run, search = ours(runs, qrels)
    weightings = search.weights
    scores, values = by_numpy(runs, qrels, weightings)
    named = {
        query: {str(d): value for d, value in each.items()} for query, each in zip(our_run.queries, scores, strict=True)
    }
    if (apart := largest_difference(our_run, named)) > TOLERANCE:
        raise AssertionError(f"NumPy gives other scores, by {apart}")
    np.testing.assert_allclose(values, search.values, rtol=0, atol=TOLERANCE)
    more = fusion.world(10 * QUERIES, SYSTEMS)
    united = sum(map(len, scores))
    harness.write(
        "posfuse",
        {
            "queries": QUERIES,
            "systems": SYSTEMS,
            "depth": fusion.DEPTH,
            "weightings": len(weightings),
            "races": {
                f"{QUERIES} questions, {len(weightings)} weightings": harness.race(
                    lambda: ours(runs, qrels),
                    harness.Peer("ranx", lambda: theirs(*their_few, STEP), len(few[0][0].queries) / QUERIES),
                    harness.Peer("NumPy, 23 lines", lambda: by_numpy(runs, qrels, weightings)),
                    gflop=2e-9 * len(weightings) * SYSTEMS * united,
                    gigabytes=1e-9 * 8 * SYSTEMS * united,
                    why=fusion.WHY,
                )
            },
            **check_ranx(*few),
            "largest_mrr_difference_to_numpy": float(np.abs(search.values - values).max()),
            "best_weights": np.round(search.weights[search.best], 3).tolist(),
            "peak_mib": harness.peak_memory(ours, runs, qrels),
            "peak_mib_ten_times_the_queries": harness.peak_memory(ours, *more),
            "ranx_mib": harness.peak_memory(theirs_from_ours, runs, qrels),
            "ranx_mib_ten_times_the_queries": harness.peak_memory(theirs_from_ours, *more),
            "versions": harness.versions("ranx", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
