"""The fusion's weight search compared with `ranx.optimize_fusion` and NumPy: `python -m bench.fusion`.

NumPy's few lines ignore ties: documents with the same sum as the relevant one are not counted above it, and sums that
differ by rounding alone are in arbitrary order. Their values must agree with ours to `AGREES`. Ranx would take minutes,
so it searches for the first `FEW_QUERIES` questions only.

Ours and ranx try the weightings of four systems by tenths on the same invented runs. Where a system did not return a
document, ranx gives it 0 after normalising; we give it the system's minimum for the query before normalising. So ranx
gets scores that are normalised our way and shifted so that each query's minimum is 0: the shift is the same for all
documents, so both rank the same sums. ranx's own normalisation (`norm="zmuv"`, a fraction of a second) uses a mean and
deviation for each query, which is another fusion; it is not timed, in ranx's favour.
"""

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench import harness
from trivium.measures.fusion import gather, normalize
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import search_weights, simplex_grid

if TYPE_CHECKING:  # imported where it is used, so that our memory is measured without it
    import ranx

QUERIES, SYSTEMS, DEPTH, STEP = 1250, 4, 100, 0.1
FEW_QUERIES = 50
AGREES = 2e-4
WHY = "sums are made term by term, as the fused run makes them, so that ties are resolved as there"
POOL = 600  # documents that a query's lists are drawn from: about 350 different ones in four lists of 100
BLOCK = 250  # queries generated at once


def world(queries: int, systems: int = SYSTEMS, seed: int = 0) -> tuple[list[Run], Qrels]:
    """Invent runs of systems of different strength, and qrels with five relevant documents a query."""
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
    """Convert a run to ranx's format."""
    import ranx

    lists = zip(run.documents.tolist(), run.scores.tolist(), strict=True)
    ranked = [dict(zip(map(str, documents), scores, strict=True)) for documents, scores in lists]
    return ranx.Run(dict(zip(run.queries, ranked, strict=True)), name=run.name)


def as_ranx_qrels(qrels: Qrels) -> "ranx.Qrels":
    """Convert qrels to ranx's format."""
    import ranx

    judged = [dict.fromkeys(map(str, documents.tolist()), 1) for documents in qrels.relevant]
    return ranx.Qrels(dict(zip(qrels.queries, judged, strict=True)))


def align(runs: list[Run]) -> list[Run]:
    """Normalise the runs' scores as our fusion does, and shift each query's minimum to 0."""
    candidates = gather(runs)
    normalized = normalize(candidates, "z_score")
    mask = candidates.documents >= 0
    shifted = normalized - normalized.min(axis=2, keepdims=True, where=mask, initial=np.inf)
    return [
        Run.from_scores(run.queries, np.where(ranks > 0, candidates.documents, -1), scores, depth=DEPTH, name=run.name)
        for run, ranks, scores in zip(runs, candidates.ranks, shifted, strict=True)
    ]


def their_search(runs: list[Run], qrels: Qrels, step: float) -> tuple[float, dict[tuple[float, ...], float]]:
    """Search by ranx; returns seconds and the MRR of each weighting."""
    import ranx

    their_runs, their_qrels = [as_ranx_run(run) for run in runs], as_ranx_qrels(qrels)
    reports: list[ranx.data_structures.OptimizationReport] = []

    def optimize() -> None:
        _, report = ranx.optimize_fusion(
            their_qrels, their_runs, norm=None, method="wsum", metric="mrr", step=step, show_progress=False,
            return_optimization_report=True,
        )  # fmt: skip
        reports.append(report)

    return harness.once(optimize), weightings_of(reports[0])


def weightings_of(report: "ranx.data_structures.OptimizationReport") -> dict[tuple[float, ...], float]:
    """Return the MRR of each weighting that ranx tried; ranx names them by their text, "(np.float64(0.1), …)"."""
    weightings = [tuple(map(float, re.findall(r"\d\.\d+", text))) for text in report.configs]
    return dict(zip(weightings, report.results, strict=True))


def by_numpy(runs: list[Run], qrels: Qrels, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the MRR of each weighting as an expert would, with our default scores and normalisation."""
    minima = [run.scores.min(axis=1) for run in runs]
    rows = []
    for query, judged in enumerate(qrels.relevant):
        documents, places = np.unique(np.concatenate([run.documents[query] for run in runs]), return_inverse=True)
        scores = np.repeat([[lowest[query]] for lowest in minima], len(documents), axis=1)
        for system, part in enumerate(np.split(places, len(runs))):
            scores[system, part] = runs[system].scores[query]
        rows.append((scores, np.isin(documents, judged)))
    every = np.concatenate([scores for scores, _ in rows], axis=1)
    mean, deviation = every.mean(axis=1, keepdims=True), every.std(axis=1, keepdims=True)
    total = np.zeros(len(weights))
    for scores, relevant in rows:
        if relevant.any():
            fused = weights @ ((scores - mean) / deviation)
            total += 1 / (1 + (fused > fused[:, relevant].max(axis=1)[:, None]).sum(axis=1))
    return total / len(rows)


def peak(queries: int) -> float:
    """Measure the peak memory of our search, MiB, runs included."""
    return harness.peak_memory(search_weights, *world(queries), step=STEP, depth=None)


def numpy_peak(queries: int) -> float:
    """Measure the peak memory of the search by NumPy, MiB, runs included."""
    return harness.peak_memory(by_numpy, *world(queries), simplex_grid(SYSTEMS, STEP) * STEP)


def main() -> None:
    """Race, compare the optimum and every weighting, and measure memory for ten times as many queries."""
    runs, qrels = world(QUERIES)
    few, few_qrels = (
        [run.select(qrels.queries[:FEW_QUERIES]) for run in runs],
        qrels.select(qrels.queries[:FEW_QUERIES]),
    )
    weights, values = search_weights(runs, qrels, step=STEP, depth=None)
    of_few = search_weights(few, few_qrels, step=STEP, depth=None)
    np.testing.assert_allclose(by_numpy(runs, qrels, weights), values, rtol=0, atol=AGREES)
    _, their_values = their_search(align(few), few_qrels, STEP)
    our_values = dict(zip(map(tuple, np.round(of_few[0], 3).tolist()), of_few[1], strict=True))
    # With a weight of 0 the documents that only that system returned all tie, and ranx leaves the order of ties open.
    untied = [abs(our_values[tried] - value) for tried, value in their_values.items() if min(tried) > 0]
    np.testing.assert_allclose(untied, 0, atol=1e-9)
    united = sum(len(np.unique(documents)) for documents in np.concatenate([run.documents for run in runs], axis=1))
    weightings = len(weights)
    harness.write(
        "fusion",
        {
            "queries": QUERIES,
            "systems": SYSTEMS,
            "depth": DEPTH,
            "weightings": weightings,
            "weightings_of_ranx": len(their_values),
            "best_weights": np.round(weights[values.argmax()], 3).tolist(),
            "best_mrr": float(values.max()),
            "largest_mrr_difference_to_ranx_without_ties": max(untied),
            "races": {
                f"{QUERIES} questions, {weightings} weightings": harness.race(
                    lambda: search_weights(runs, qrels, step=STEP, depth=None),
                    harness.Peer("ranx", lambda: their_search(align(few), few_qrels, STEP), FEW_QUERIES / QUERIES),
                    harness.Peer("NumPy, 15 lines", lambda: by_numpy(runs, qrels, weights)),
                    gflop=2e-9 * weightings * SYSTEMS * united,
                    gigabytes=1e-9 * 8 * SYSTEMS * united,
                    why=WHY,
                )
            },
            "peak_mib": peak(QUERIES),
            "peak_mib_ten_times_the_queries": peak(10 * QUERIES),
            "numpy_mib": numpy_peak(QUERIES),
            "numpy_mib_ten_times_the_queries": numpy_peak(10 * QUERIES),
            "versions": harness.versions("ranx", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
