"""What `import trivium` offers for ranked lists: measure, fuse and compare them; a thin layer over `trivium.measures`.

Judgements are `Qrels`, {query: {document: grade}}, {query: relevant documents}, the path of a TREC file, or a DataFrame
with columns query, document and relevance. A run is a `Run`, {query: {document: score}}, the path of a TREC file, or a
DataFrame with columns query, document and score. Documents have names or numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.formats import trec
from trivium.formats.given_runs import Given, Judgements, Ranked, take
from trivium.measures import fusion, ranking, weight_search
from trivium.measures.runs import Qrels, Run, name_of
from trivium.measures.significance import fisher_randomization, holm, superscripts

if TYPE_CHECKING:
    import pandas

METHODS = ("linear", "rrf")
Runs = Mapping[str, Ranked] | Sequence[Ranked]  # one run a system, by name or as a list


@dataclass(frozen=True, repr=False)
class Comparison:
    """A comparison of several systems, printed as the table of a paper; all but the systems are by measure."""

    systems: tuple[str, ...]  # their names, lettered a, b, c, … in this order
    means: Mapping[str, NDArray[np.float64]]  # (systems,), over queries
    p: Mapping[str, NDArray[np.float64]]  # (systems, systems), of Fisher's paired randomization test
    p_holm: Mapping[str, NDArray[np.float64]]  # the same, corrected by Holm over all pairs of systems
    beaten: Mapping[str, Sequence[str]]  # for each system the letters of the systems that it beats significantly

    def __repr__(self) -> str:
        width = max(map(len, self.systems)) + 3
        lines = [" " * width + "".join(f"  {name:<10}" for name in self.means)]
        for row, system in enumerate(self.systems):
            cells = (f"  {f'{self.means[name][row]:.3f} {self.beaten[name][row]}':<10}" for name in self.means)
            lines.append(f"{f'{ascii_lowercase[row]}  {system}':<{width}}" + "".join(cells))
        return "\n".join(line.rstrip() for line in lines)


def evaluate(qrels: Judgements, run: Ranked, measures: str | Iterable[str]) -> dict[str, float]:
    """Compute the mean of each measure over the judged queries; see `per_query`."""
    return {name: float(np.mean(list(values.values()))) for name, values in per_query(qrels, run, measures).items()}


def per_query(qrels: Judgements, run: Ranked, measures: str | Iterable[str]) -> dict[str, dict[str, float]]:
    """Compute measures of every judged query as {measure: {query: value}}; 0 where the run has no document for it.

    One or several of `mrr`, `map`, `ndcg`, `recall`, `precision@1` and `hits@20`, with any cutoffs; or by trec_eval's
    names (`recip_rank`, `P_1`, `ndcg_cut_10`) or ir_measures' (`RR`, `P@1`, `nDCG@10`, `R@100`).

    Raises:
        ValueError: unknown measure, no query at all, or a query of the run that is not judged; see `take`.
    """
    inputs = take(qrels, [run])
    queries = inputs.qrels.queries
    measured = ranking.evaluate(inputs.runs[0].complete(queries), inputs.qrels, _several(measures))
    return {name: dict(zip(queries, values.tolist(), strict=True)) for name, values in measured.items()}


def fuse(
    runs: Runs,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    *,
    method: str = "linear",
    normalization: str = "z_score",
    depth: int | None = None,
    name: str = "fused",
) -> Run | dict[str, dict[str, float]]:
    """Fuse several runs into one.

    Args:
        runs: one run a system; a query that a run lacks has no document there.
        weights: for `linear`, one a system, in their order or by their names as `search_weights` returns them; None:
            equal weights.
        method: `linear`, the weighted sum of normalised scores, or `rrf`, reciprocal rank fusion.
        normalization: for `linear`: `z_score`, `min_max` or `rank`.
        depth: number of documents kept for a query; None keeps all.
        name: name of the fused run.

    Returns:
        A `Run` if all inputs were; else {query: {document: score}}, best first.

    Raises:
        ValueError: unknown method or normalisation, weights that do not fit, or a wrong depth; see `take`.
    """
    _check_depth(depth)
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r} (choices: {', '.join(METHODS)})")
    if method == "rrf" and weights is not None:
        raise ValueError("reciprocal rank fusion takes no weights")
    inputs = take(None, runs)
    queries = tuple(dict.fromkeys(query for run in inputs.runs for query in run.queries))
    complete = [run.complete(queries) for run in inputs.runs]
    if method == "rrf":
        fused = fusion.reciprocal_rank_fusion(complete, depth=depth, name=name)
    else:
        shares = [1.0] * len(complete) if weights is None else _in_order(weights, inputs.runs)
        fused = fusion.linear_fusion(complete, shares, depth=depth, normalization=normalization, name=name)
    return inputs.named(fused)


def to_frame(run: Ranked) -> "pandas.DataFrame":
    """Convert any kind of run to PyTerrier's DataFrame with columns qid, docno, score and rank, from 0."""
    import pandas

    inputs = take(None, [run])
    (only_run,) = inputs.runs
    rows = [
        (query, name_of(document, inputs.names), score, rank)
        for query, *ranked in zip(only_run.queries, only_run.documents.tolist(), only_run.scores.tolist(), strict=True)
        for rank, (document, score) in enumerate(zip(*ranked, strict=True))
        if document >= 0
    ]
    return pandas.DataFrame(rows, columns=["qid", "docno", "score", "rank"])


def write_run(path: str | PathLike[str], run: Ranked) -> None:
    """Write any kind of run, such as `fuse` returns, as a TREC run; equal scores come in the order of trec_eval.

    The file's stem is the tag where the run has no name. Raises as `trec.write_run` and `take`.
    """
    path = Path(path)
    inputs = Given(Qrels((), ()), (run,), run.names) if isinstance(run, Run) else take(None, {path.stem: run})
    tag = "_".join((inputs.runs[0].name or path.stem).split())  # white space ends a column
    trec.write_run(path, replace(inputs.runs[0], name=tag), inputs.names)


def search_weights(
    qrels: Judgements,
    runs: Runs,
    *,
    measure: str = "mrr",
    step: float = 0.1,
    depth: int | None = None,
    normalization: str = "z_score",
) -> dict[str, float]:
    """Search the weights of `fuse` with the best mean of a measure, by system; the first among equals.

    Search on a validation set: on the questions that the weights were chosen on, the fusion looks better than it is.
    Systems have different names. The measure is as in `per_query`; the mean reciprocal rank takes the least time.
    `step`, a divisor of 1, is the distance between neighbouring weights of the grid, which sum to 1. The rest is as in
    `fuse`.

    Raises:
        ValueError: unknown measure, two systems of one name, a query of a run that is not judged, or a wrong depth; see
            `take`.
    """
    _check_depth(depth)
    (measure,) = _several(measure)
    function, cutoff = ranking.select_measure(measure)
    inputs = take(qrels, runs)
    systems, judged = _names(inputs.runs), inputs.qrels
    complete = [run.complete(judged.queries) for run in inputs.runs]
    units = weight_search.simplex_grid(len(complete), step)
    tried = units / units[0].sum()
    if function is ranking.reciprocal_rank:
        ranks = min((k for k in (depth, cutoff) if k is not None), default=None)
        values = weight_search.mean_reciprocal_ranks(complete, judged, tried, depth=ranks, normalization=normalization)
    else:
        runs_of_grid = (
            fusion.linear_fusion(complete, weights, depth=depth, normalization=normalization) for weights in tried
        )
        values = np.array([ranking.evaluate(run, judged, [measure])[measure].mean() for run in runs_of_grid])
    return dict(zip(systems, tried[values.argmax()].tolist(), strict=True))


def compare(
    qrels: Judgements, runs: Runs, measures: str | Iterable[str] = "mrr", *, level: float = 0.01, seed: int = 0
) -> Comparison:
    """Measure several systems of different names and test the differences between them; every judged query counts.

    Measures are as in `per_query`. `level` is the level of significance of Fisher's randomization test for the letters,
    without correction for the number of pairs (`p_holm` has it), and `seed` that of the test's random draws.

    Raises:
        ValueError: two systems of one name, a level that does not lie between 0 and 1, or see `per_query`.
    """
    if not 0 < level <= 1:
        raise ValueError(f"the level {level!r} does not lie between 0 and 1")
    inputs = take(qrels, runs)
    systems = _names(inputs.runs)
    names = _several(measures)
    measured = [ranking.evaluate(run.complete(inputs.qrels.queries), inputs.qrels, names) for run in inputs.runs]
    values = {name: np.array([values[name] for values in measured]) for name in names}
    p = {name: fisher_randomization(matrix, seed=seed) for name, matrix in values.items()}
    return Comparison(
        systems,
        means={name: matrix.mean(axis=1) for name, matrix in values.items()},
        p=p,
        p_holm={name: _holm_of_pairs(matrix) for name, matrix in p.items()},
        beaten={name: superscripts(matrix, p[name], level=level) for name, matrix in values.items()},
    )


def _several(measures: str | Iterable[str]) -> list[str]:
    names = [measures] if isinstance(measures, str | bytes) or not isinstance(measures, Iterable) else list(measures)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ValueError(f"{wrong[0]!r} is no measure's name, such as 'mrr'")
    return names


def _in_order(weights: Sequence[float] | Mapping[str, float], runs: Sequence[Run]) -> Sequence[float]:
    """Return the weights in the order of the systems."""
    if isinstance(weights, Mapping):
        systems = _names(runs)
        if set(weights) != set(systems):
            raise ValueError(f"weights of {', '.join(map(str, weights))}, but the systems are {', '.join(systems)}")
        weights = [weights[system] for system in systems]
    elif not isinstance(weights, Sequence | np.ndarray) or isinstance(weights, str | bytes):
        raise ValueError(f"weights of {weights!r}: they are a list of numbers, or {{system: number}}")
    if wrong := [weight for weight in weights if not isinstance(weight, Real)]:
        raise ValueError(f"the weight {wrong[0]!r} is no number")
    return weights


def _check_depth(depth: int | None) -> None:
    if depth is not None and (not isinstance(depth, Integral) or depth < 1):
        raise ValueError(f"the depth {depth!r} is no whole number from 1, and not None")


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    systems = tuple(run.name for run in runs)
    if len(set(systems)) < len(systems):
        raise ValueError(f"two systems of one name: {', '.join(map(repr, systems))}")
    return systems


def _holm_of_pairs(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correct a symmetric matrix of p-values over its pairs; the diagonal stays."""
    corrected, (one, other) = p.copy(), np.triu_indices(len(p), 1)
    corrected[one, other] = corrected[other, one] = holm(p[one, other])
    return corrected
