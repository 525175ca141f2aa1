"""Fisher's randomization test on all pairs of systems, compared with ranx and NumPy: `python -m bench.significance`.

All start from the same reciprocal ranks, except `ranx.compare`, which computes them from runs. The expert multiplies
signs and differences as matrices, block by block. The p-values of two draws differ by chance, so their difference is
also given in standard errors. p is count / B in ranx, (count + 1) / (B + 1) in ours and the expert's. ranx would take
minutes for our default number of permutations, so it draws `PERMUTATIONS`.
"""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench import harness
from bench.fusion import as_ranx_qrels, as_ranx_run, world
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Qrels, Run
from trivium.measures.significance import fisher_randomization

if TYPE_CHECKING:  # imported where it is used, so that our memory is measured without it
    import ranx

QUERIES, SYSTEMS, PERMUTATIONS, MANY = 1250, 6, 1000, 100_000
BLOCK = 4096  # sign vectors that the expert holds at once
CHANCE = 5  # standard errors by which two draws of a p-value may differ
DOUBLE = 2  # products in float64 take twice those that `harness.limits` measures
WHY = "signs are drawn as bits that do not depend on the block's size, and sums within rounding count as ties"


def reciprocal_ranks(runs: list[Run], qrels: Qrels) -> NDArray[np.float64]:
    """Compute reciprocal ranks, (systems, queries)."""
    return np.stack([evaluate(run, qrels, ["mrr"])["mrr"] for run in runs])


def close_world(queries: int) -> tuple[list[Run], Qrels]:
    """Invent systems in steps of strength, each twice with other noise, so that some differences are chance alone."""
    first, qrels = world(queries, SYSTEMS // 2, seed=0)
    second, _ = world(queries, SYSTEMS // 2, seed=1)
    renamed = [Run(run.queries, run.documents, run.scores, f"{run.name}-again") for run in second]
    return first + renamed, qrels


def ours(runs: list[Run], qrels: Qrels, permutations: int) -> NDArray[np.float64]:
    """Compute p of all pairs of systems."""
    return fisher_randomization(reciprocal_ranks(runs, qrels), permutations=permutations)


def by_numpy(values: NDArray[np.float64], permutations: int, seed: int = 1) -> NDArray[np.float64]:
    """Compute the same as an expert would."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(len(values), k=1)
    differences = values[left] - values[right]
    observed = np.abs(differences.sum(axis=1))
    count = np.ones(len(left))
    for start in range(0, permutations, BLOCK):
        size = min(BLOCK, permutations - start)
        signs = 2.0 * rng.integers(0, 2, (size, values.shape[1]), dtype=np.int8) - 1
        count += (np.abs(signs @ differences.T) >= observed - 1e-9).sum(axis=0)
    return count / (permutations + 1)


def theirs(runs: "list[ranx.Run]", qrels: "ranx.Qrels", permutations: int) -> "ranx.data_structures.Report":
    """Compute the same by ranx."""
    import ranx

    return ranx.compare(qrels, runs, ["mrr"], stat_test="fisher", n_permutations=permutations)


def theirs_from_ours(runs: list[Run], qrels: Qrels, permutations: int) -> None:
    """Run ranx on our runs, to measure its memory."""
    theirs([as_ranx_run(run) for run in runs], as_ranx_qrels(qrels), permutations)


def in_standard_errors(p: NDArray[np.float64], precise: NDArray[np.float64], permutations: int) -> float:
    """Return the largest difference of a pair's p-values, in standard errors."""
    error = np.sqrt(precise * (1 - precise) / permutations) + 1 / permutations
    return float((np.abs(p - precise) / error).max())


def main() -> None:
    """Compare all p-values, race, and measure memory as the queries grow ten times."""
    runs, qrels = close_world(QUERIES)
    their_runs, their_qrels = [as_ranx_run(run) for run in runs], as_ranx_qrels(qrels)
    values = reciprocal_ranks(runs, qrels)
    pairs = list(combinations(range(len(runs)), 2))

    def of_pairs(p: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([p[pair] for pair in pairs])

    report = theirs(their_runs, their_qrels, PERMUTATIONS)
    their_p = np.array(
        [report.comparisons[frozenset(runs[place].name for place in pair)]["mrr"]["p_value"] for pair in pairs]
    )
    our_p, precise = (of_pairs(fisher_randomization(values, permutations=count)) for count in (PERMUTATIONS, MANY))
    errors = {
        "ranx": in_standard_errors(their_p, precise, PERMUTATIONS),
        "numpy": in_standard_errors(by_numpy(values, MANY), precise, MANY),
    }
    if max(errors.values()) > CHANCE:
        raise AssertionError(f"p-values differ by so many standard errors: {errors}")
    more = close_world(10 * QUERIES)
    harness.write(
        "significance",
        {
            "queries": QUERIES,
            "systems": len(runs),
            "pairs": len(pairs),
            "permutations": MANY,
            "permutations_of_ranx": PERMUTATIONS,
            "races": {
                f"{len(pairs)} pairs of {QUERIES} questions, {MANY} permutations": harness.race(
                    lambda: fisher_randomization(values, permutations=MANY),
                    harness.Peer("ranx", lambda: theirs(their_runs, their_qrels, PERMUTATIONS), PERMUTATIONS / MANY),
                    harness.Peer("NumPy, a product of signs", lambda: by_numpy(values, MANY)),
                    gflop=2e-9 * MANY * len(runs) * QUERIES * DOUBLE,
                    gigabytes=2e-9 * MANY * QUERIES * 8,
                    why=WHY,
                )
            },
            "largest_p_difference_to_ranx": float(np.abs(our_p - their_p).max()),
            **{f"largest_p_difference_to_{name}_in_standard_errors": value for name, value in errors.items()},
            "smallest_and_largest_p": [float(precise.min()), float(precise.max())],
            "same_verdicts_at_0.01": bool(((our_p <= 0.01) == (their_p <= 0.01)).all()),
            "peak_mib": harness.peak_memory(ours, runs, qrels, PERMUTATIONS),
            "peak_mib_ten_times_the_queries": harness.peak_memory(ours, *more, PERMUTATIONS),
            "ranx_mib": harness.peak_memory(theirs_from_ours, runs, qrels, PERMUTATIONS),
            "ranx_mib_ten_times_the_queries": harness.peak_memory(theirs_from_ours, *more, PERMUTATIONS),
            "versions": harness.versions("ranx", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
