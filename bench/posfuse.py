"""PosFuse, and min-max fusion with its weight search, against ranx (kvqae.md §4): `python -m bench.posfuse`.

Three systems re-rank the documents of 1 250 questions. For both: learn PosFuse's probabilities and fuse with them, then
try the weightings by tenths after min-max normalisation. A document that a system did not return gets 0 from ranx and
the system's minimum, which min-max makes 0, from us: the sums are the same. The MRRs differ where documents tie, such
as the first ones of two lists of equal weight, whose order ranx leaves open. Putting our runs into its format is not
timed.
"""

from typing import TYPE_CHECKING

import numpy as np

from bench import fusion, harness
from bench.fusion import as_ranx_qrels, as_ranx_run
from trivium.measures.fusion import linear_fusion
from trivium.measures.posfuse import pos_fusion, position_probabilities
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import WeightSearch, search_weights

if TYPE_CHECKING:  # imported where it is used: what is ours is measured without its peer in memory
    import ranx

QUERIES, SYSTEMS, STEP = 1250, 3, 0.1
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


def largest_difference(ours: Run, theirs: "ranx.Run") -> float:
    """Largest difference of two fused scores of a document; infinite where the documents differ."""
    scores = theirs.to_dict()
    worst = 0.0
    for query, documents, values in zip(ours.queries, ours.documents.tolist(), ours.scores.tolist(), strict=True):
        found = {str(d): value for d, value in zip(documents, values, strict=True) if d >= 0}
        if found.keys() != scores[query].keys():
            return float("inf")
        worst = max(worst, *(abs(value - scores[query][document]) for document, value in found.items()))
    return worst


def main() -> None:
    """Time both on the same runs, check that they say the same, and measure memory as the queries grow ten times."""
    import ranx

    small = fusion.world(4, SYSTEMS)
    theirs([as_ranx_run(run) for run in small[0]], as_ranx_qrels(small[1]), STEP)  # ranx compiles itself
    runs, qrels = fusion.world(QUERIES, SYSTEMS)
    their_runs, their_qrels = [as_ranx_run(run) for run in runs], as_ranx_qrels(qrels)
    our_seconds = harness.measure(lambda: ours(runs, qrels), repeats=3)
    found: list[tuple[ranx.Run, dict[tuple[float, ...], float]]] = []
    their_seconds = harness.once(lambda: found.append(theirs(their_runs, their_qrels, STEP)))

    (our_run, search), (their_run, their_values) = ours(runs, qrels), found[0]
    our_values = {
        tuple(np.round(weights, 3).tolist()): value
        for weights, value in zip(search.weights, search.values, strict=True)
    }
    best = tuple(np.round(search.weights[search.best], 3).tolist())
    linear = linear_fusion(runs, best, depth=None, normalization="min_max")
    their_linear = ranx.fuse(their_runs, norm="min-max", method="wsum", params={"weights": best})
    differences = {
        "posfuse": largest_difference(our_run, their_run),
        "min_max": largest_difference(linear, their_linear),
    }
    if max(differences.values()) > TOLERANCE:
        raise AssertionError(f"ranx gives other scores: {differences}")
    more = fusion.world(10 * QUERIES, SYSTEMS)
    harness.write(
        "posfuse",
        {
            "queries": QUERIES,
            "systems": SYSTEMS,
            "depth": fusion.DEPTH,
            "weightings": len(our_values),
            "weightings_of_ranx": len(their_values),
            "seconds": our_seconds,
            "seconds_of_ranx": their_seconds,
            "times_faster": their_seconds / our_seconds,
            "largest_posfuse_score_difference": differences["posfuse"],
            "largest_min_max_score_difference": differences["min_max"],
            "best_weights": best,
            "best_weights_of_ranx": max(their_values, key=lambda weights: their_values[weights]),
            "largest_mrr_difference": max(abs(our_values[weights] - value) for weights, value in their_values.items()),
            "peak_mib": harness.peak_memory(ours, runs, qrels),
            "peak_mib_ten_times_the_queries": harness.peak_memory(ours, *more),
            "ranx_mib": harness.peak_memory(theirs_from_ours, runs, qrels),
            "ranx_mib_ten_times_the_queries": harness.peak_memory(theirs_from_ours, *more),
            "versions": harness.versions("ranx", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
