"""What others make of a TREC run: every measure of every query by trec_eval and by ranx, which read the file themselves."""

from pathlib import Path

import pytrec_eval
import ranx

from trivium.formats.trec import read_run_over
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Qrels

# Ours → trec_eval's, ranx's.
NAMES = {
    "mrr": ("recip_rank", "mrr"),
    "map": ("map", "map"),
    "map@10": ("map_cut_10", "map@10"),
    **{f"precision@{k}": (f"P_{k}", f"precision@{k}") for k in (1, 5, 20)},
    **{f"hits@{k}": (f"success_{k}", f"hit_rate@{k}") for k in (1, 5, 20)},
}
FAMILIES = {"recip_rank", "map", "map_cut.10", "P.1,5,20", "success.1,5,20"}

Values = dict[str, dict[str, float]]


def by_trivium(path: Path, qrels: Qrels) -> Values:
    """Measure → query → value."""
    values = evaluate(read_run_over(path, qrels.queries), qrels, NAMES)
    return {name: dict(zip(qrels.queries, found.tolist(), strict=True)) for name, found in values.items()}


def by_trec_eval(path: Path, qrels: Qrels) -> Values:
    """As trec_eval's `-c`: a query without a list has 0."""
    with path.open() as lines:
        found = pytrec_eval.RelevanceEvaluator(_judged(qrels), FAMILIES).evaluate(pytrec_eval.parse_run(lines))
    return {
        name: {query: found[query][theirs] if query in found else 0.0 for query in qrels.queries}
        for name, (theirs, _) in NAMES.items()
    }


def by_ranx(path: Path, qrels: Qrels) -> Values:
    run = ranx.Run.from_file(str(path), kind="trec")
    theirs = [name for _, name in NAMES.values()]
    found = ranx.evaluate(ranx.Qrels(_judged(qrels)), run, theirs, return_mean=False, make_comparable=True)
    return {  # it sorts queries by name
        name: dict(zip(sorted(qrels.queries), found[their_name].tolist(), strict=True))
        for name, (_, their_name) in NAMES.items()
    }


def _judged(qrels: Qrels) -> dict[str, dict[str, int]]:
    return {
        query: dict.fromkeys(map(str, relevant.tolist()), 1) or {"none": 0}
        for query, relevant in zip(qrels.queries, qrels.relevant, strict=True)
    }
