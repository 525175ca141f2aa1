"""Fisher's randomization test on every pair of systems against `ranx.compare`: `python -m bench.significance`.

Both start from the same runs, measure MRR and test all pairs with the same number of permutations. The p-values of
two draws differ by chance: the difference is given in its standard errors too, and again for many more permutations.
ranx takes p = count / B; ours is (count + 1) / (B + 1).
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

if TYPE_CHECKING:  # imported where it is used: what is ours is measured without its peer in memory
    import ranx

QUERIES, SYSTEMS, PERMUTATIONS, MANY = 1250, 6, 1000, 100_000


def reciprocal_ranks(runs: list[Run], qrels: Qrels) -> NDArray[np.float64]:
    """(systems, queries)."""
    return np.stack([evaluate(run, qrels, ["mrr"])["mrr"] for run in runs])


def close_world(queries: int) -> tuple[list[Run], Qrels]:
    """Systems in steps of strength, each twice with other noise: some differences are chance and some are not."""
    first, qrels = world(queries, SYSTEMS // 2, seed=0)
    second, _ = world(queries, SYSTEMS // 2, seed=1)
    renamed = [Run(run.queries, run.documents, run.scores, f"{run.name}-again") for run in second]
    return first + renamed, qrels


def ours(runs: list[Run], qrels: Qrels, permutations: int) -> NDArray[np.float64]:
    """P of all pairs."""
    return fisher_randomization(reciprocal_ranks(runs, qrels), permutations=permutations)


def theirs(runs: "list[ranx.Run]", qrels: "ranx.Qrels", permutations: int) -> "ranx.data_structures.Report":
    """The same by ranx."""
    import ranx

    return ranx.compare(qrels, runs, ["mrr"], stat_test="fisher", n_permutations=permutations)


def theirs_from_ours(runs: list[Run], qrels: Qrels, permutations: int) -> None:
    """What ranx's memory is measured on."""
    theirs([as_ranx_run(run) for run in runs], as_ranx_qrels(qrels), permutations)


def main() -> None:
    """Time both, compare all p-values, and measure memory as the queries grow ten times."""
    runs, qrels = close_world(QUERIES)
    their_runs, their_qrels = [as_ranx_run(run) for run in runs], as_ranx_qrels(qrels)

    report, p = theirs(their_runs, their_qrels, PERMUTATIONS), ours(runs, qrels, PERMUTATIONS)
    their_seconds = harness.measure(lambda: theirs(their_runs, their_qrels, PERMUTATIONS), repeats=3)
    our_seconds = harness.measure(lambda: ours(runs, qrels, PERMUTATIONS), repeats=5)
    values = reciprocal_ranks(runs, qrels)
    many_seconds = harness.measure(lambda: fisher_randomization(values, permutations=MANY), repeats=3)
    precise = fisher_randomization(values, permutations=MANY)

    pairs = list(combinations(range(len(runs)), 2))
    their_p = [report.comparisons[frozenset((runs[a].name, runs[b].name))]["mrr"]["p_value"] for a, b in pairs]
    our_p = [p[pair] for pair in pairs]
    precise_p = np.array([precise[pair] for pair in pairs])
    error = np.sqrt(precise_p * (1 - precise_p) / PERMUTATIONS) + 1 / PERMUTATIONS
    more = close_world(10 * QUERIES)
    harness.write(
        "significance",
        {
            "queries": QUERIES,
            "systems": len(runs),
            "pairs": len(pairs),
            "permutations": PERMUTATIONS,
            "seconds": our_seconds,
            "seconds_of_ranx": their_seconds,
            "times_faster": their_seconds / our_seconds,
            "largest_p_difference": float(np.abs(np.subtract(our_p, their_p)).max()),
            "largest_p_difference_in_standard_errors": float((np.abs(their_p - precise_p) / error).max()),
            "smallest_and_largest_p": [float(precise_p.min()), float(precise_p.max())],
            "same_verdicts_at_0.01": [a <= 0.01 for a in our_p] == [b <= 0.01 for b in their_p],
            "many_permutations": MANY,
            "seconds_of_many_permutations": many_seconds,
            "peak_mib": harness.peak_memory(ours, runs, qrels, PERMUTATIONS),
            "peak_mib_ten_times_the_queries": harness.peak_memory(ours, *more, PERMUTATIONS),
            "ranx_mib": harness.peak_memory(theirs_from_ours, runs, qrels, PERMUTATIONS),
            "ranx_mib_ten_times_the_queries": harness.peak_memory(theirs_from_ours, *more, PERMUTATIONS),
            "versions": harness.versions("ranx", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
