"""Fusion with its weight search against `ranx.optimize_fusion` (kvqae.md §3): `python -m bench.fusion`.

Both try the weightings of four systems by tenths on the same invented runs. ranx gives a document that a system did not
return 0 after normalising; we give it the system's minimum for the query before normalising. So ranx gets scores that
are normalised our way and then shifted, query by query, to put that minimum at 0: a shift that is the same for all
documents changes no ranking, and both rank the same sums. Its own normalisation (`norm="zmuv"`, a fraction of a second)
would use a mean and deviation for each query instead, another fusion; it is left out, in ranx's favour.
"""

import re
from typing import TYPE_CHECKING

import numpy as np

from bench import harness
from trivium.measures.fusion import gather, normalize
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import search_weights

if TYPE_CHECKING:  # imported where it is used: what is ours is measured without its peer in memory
    import ranx

QUERIES, SYSTEMS, DEPTH, STEP = 1250, 4, 100, 0.1
FEW = 0.5  # step where only memory is looked at: ranx holds one weighting at a time
POOL = 600  # documents that a query's lists are drawn from: about 350 different ones in four lists of 100
BLOCK = 250  # queries generated at once


def world(queries: int, systems: int = SYSTEMS, seed: int = 0) -> tuple[list[Run], Qrels]:
    """Invented runs of systems of different strength, and qrels with five relevant documents a query."""
    rng = np.random.default_rng(seed)
    names = tuple(f"q{row:06}" for row in range(queries))
    strengths = np.linspace(0.3, 1.0, systems)
    documents = np.empty((systems, queries, DEPTH), dtype=np.int64)
    scores = np.empty((systems, queries, DEPTH))
    relevant = np.arange(5) * (POOL // 5)
    for start in range(0, queries, BLOCK):
        rows = slice(start, min(start + BLOCK, queries))
        for system, strength in enumerate(strengths):
            drawn = rng.normal(size=(rows.stop - start, POOL))
            drawn[:, relevant] += strength
            best = np.argsort(-drawn, axis=1)[:, :DEPTH]
            documents[system, rows] = best
            scores[system, rows] = np.take_along_axis(drawn, best, axis=1)
    runs = [Run.from_scores(names, documents[s], scores[s], name=f"system-{s}") for s in range(systems)]
    return runs, Qrels(names, (relevant,) * queries)


def as_ranx_run(run: Run) -> "ranx.Run":
    """The same run in ranx's format."""
    import ranx

    lists = zip(run.documents.tolist(), run.scores.tolist(), strict=True)
    ranked = [dict(zip(map(str, documents), scores, strict=True)) for documents, scores in lists]
    return ranx.Run(dict(zip(run.queries, ranked, strict=True)), name=run.name)


def as_ranx_qrels(qrels: Qrels) -> "ranx.Qrels":
    """The same qrels in ranx's format."""
    import ranx

    judged = [dict.fromkeys(map(str, documents.tolist()), 1) for documents in qrels.relevant]
    return ranx.Qrels(dict(zip(qrels.queries, judged, strict=True)))


def aligned(runs: list[Run]) -> list[Run]:
    """The runs' scores z-normalised as we do it, each query's minimum shifted to 0."""
    candidates = gather(runs)
    normalized = normalize(candidates, "z_score")
    there = candidates.documents >= 0
    shifted = normalized - normalized.min(axis=2, keepdims=True, where=there, initial=np.inf)
    return [
        Run.from_scores(run.queries, np.where(ranks > 0, candidates.documents, -1), scores, depth=DEPTH, name=run.name)
        for run, ranks, scores in zip(runs, candidates.ranks, shifted, strict=True)
    ]


def their_search(runs: list[Run], qrels: Qrels, step: float) -> tuple[float, dict[tuple[float, ...], float]]:
    """Seconds and MRR of each weighting of ranx's search."""
    import ranx

    their_runs, their_qrels = [as_ranx_run(run) for run in runs], as_ranx_qrels(qrels)
    found: list[ranx.data_structures.OptimizationReport] = []

    def optimize() -> None:
        _, report = ranx.optimize_fusion(
            their_qrels, their_runs, norm=None, method="wsum", metric="mrr", step=step, show_progress=False,
            return_optimization_report=True,
        )  # fmt: skip
        found.append(report)

    return harness.once(optimize), weightings_of(found[0])


def weightings_of(report: "ranx.data_structures.OptimizationReport") -> dict[tuple[float, ...], float]:
    """The measure of each weighting that ranx tried; it names them by their text, "(np.float64(0.1), …)"."""
    weightings = [tuple(map(float, re.findall(r"\d\.\d+", text))) for text in report.configs]
    return dict(zip(weightings, report.results, strict=True))


def peak(queries: int) -> float:
    """Peak memory of the search, MiB, runs included."""
    return harness.peak_memory(search_weights, *world(queries), step=STEP, depth=None)


def their_peak(queries: int) -> float:
    """The same of ranx's search."""
    return harness.peak_memory(their_search, *world(queries), step=FEW)


def main() -> None:
    """Time both, compare the optimum and every weighting, and measure memory as the queries grow ten times."""
    their_search(aligned(world(4)[0]), world(4)[1], STEP)  # ranx compiles itself
    runs, qrels = world(QUERIES)
    ours = search_weights(runs, qrels, step=STEP, depth=None)
    our_seconds = harness.measure(lambda: search_weights(runs, qrels, step=STEP, depth=None), repeats=3)
    their_seconds, their_values = their_search(aligned(runs), qrels, STEP)

    our_values = {
        tuple(np.round(weights, 3).tolist()): value for weights, value in zip(ours.weights, ours.values, strict=True)
    }
    their_best = max(their_values, key=lambda weights: their_values[weights])
    our_best = tuple(np.round(ours.weights[ours.best], 3).tolist())
    # With a weight of 0 the documents that only that system returned all tie, and ranx leaves the order of ties open.
    untied = [abs(our_values[weights] - value) for weights, value in their_values.items() if min(weights) > 0]
    harness.write(
        "fusion",
        {
            "queries": QUERIES,
            "systems": SYSTEMS,
            "depth": DEPTH,
            "weightings": len(our_values),
            "weightings_of_ranx": len(their_values),
            "seconds": our_seconds,
            "seconds_of_ranx": their_seconds,
            "times_faster": their_seconds / our_seconds,
            "best_weights": our_best,
            "best_weights_of_ranx": their_best,
            "same_optimum": our_best == their_best,
            "best_mrr": our_values[our_best],
            "best_mrr_of_ranx": their_values[their_best],
            "largest_mrr_difference_without_ties": max(untied),
            "peak_mib": peak(QUERIES),
            "peak_mib_ten_times_the_queries": peak(10 * QUERIES),
            "ranx_mib": their_peak(QUERIES),
            "ranx_mib_ten_times_the_queries": their_peak(10 * QUERIES),
            "versions": harness.versions("ranx", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
