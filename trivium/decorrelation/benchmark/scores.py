"""What a model scores on a set: ODmAP, the still-named rate, pairs, R@k both ways, each with its values by query.

Judgement, recall and bootstrap are those of the graph (decorrelation.md §3, §5).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.benchmark.answers import SetAnswers
from trivium.decorrelation.benchmark.benchmark_set import LEAST_SHARE, BenchmarkSet
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP, RECALL, chance, judge, recalls
from trivium.decorrelation.evaluation.comparisons import PictureBootstrap

STILL_NAMED, TESTED = "still_named", "odmap@1_tested"
PAIRS = ("pair_whole", "pair_painted", "pair_both")
BY_CHANCE = {"pair_whole": 0.5, "pair_painted": 0.5, "pair_both": 0.25}
TO_TEXT, TO_IMAGE = (tuple(f"{way}_{name}" for name in RECALL) for way in ("image_to_text", "text_to_image"))
MEASURES = (*ODMAP, TESTED, STILL_NAMED, *PAIRS, *TO_TEXT, *TO_IMAGE)
Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Scores:
    """One model's values.

    Attributes:
        values: {measure of MEASURES: (queries of it,)}.
        intervals: {measure: of its mean, over pictures}.
        chosen: (queries,) ids of the captions that it chose first.
    """

    values: Mapping[str, NDArray[np.float64]]
    intervals: Mapping[str, Interval]
    chosen: NDArray[np.int64]

    def mean(self, measure: str) -> float | None:
        """The mean over all queries; None where there are none."""
        values = self.values[measure]
        return float(values.mean()) if len(values) else None

    def by_query(self, benchmark: BenchmarkSet, measure: str) -> NDArray[np.float64]:
        """The values in the order of the set's queries; NaN where a query has no pair."""
        values = np.full(len(benchmark.queries.ids), np.nan)
        values[benchmark.pairs.queries if measure in PAIRS else slice(None)] = self.values[measure]
        return values


def score(benchmark: BenchmarkSet, answers: SetAnswers) -> Scores:
    """Judge a model's answers."""
    own = np.array(benchmark.pictures.owners, np.int64)
    described = benchmark.captions.pictures[benchmark.captions.test]
    judged = judge(benchmark.gallery, benchmark.queries, answers.captions)
    values = {name: judged[name] for name in ODMAP} | {STILL_NAMED: judged["removed_named"]}
    pictures = dict.fromkeys(values, benchmark.queries.pictures)
    tested = benchmark.tests_something()
    values[TESTED], pictures[TESTED] = values[ODMAP[0]][tested], benchmark.queries.pictures[tested]
    (whole, whole_less), (painted, painted_less) = answers.pairs.transpose(1, 2, 0)
    sides = np.stack([whole > whole_less, painted_less > painted])
    for name, right in zip(PAIRS, (*sides, sides.all(axis=0)), strict=True):
        values[name], pictures[name] = right.astype(float), benchmark.queries.pictures[benchmark.pairs.queries]
    for names, owners, ranks in ((TO_TEXT, own, answers.to_text), (TO_IMAGE, described, answers.to_image)):
        values |= dict(zip(names, recalls(ranks).values(), strict=True))
        pictures |= dict.fromkeys(names, owners)
    intervals = {name: interval(benchmark, values[name], pictures[name]) for name in values}
    return Scores(values, intervals, answers.captions[:, 0])


def interval(benchmark: BenchmarkSet, values: NDArray[np.float64], pictures: NDArray[np.int64]) -> Interval:
    """The interval of the mean of values by query, drawn over pictures as in the graph's tables."""
    return PictureBootstrap(pictures, **benchmark.certainty).interval(values) if len(values) else None


def by_chance(benchmark: BenchmarkSet) -> dict[str, float]:
    """{ODmAP@k: its expectation under a random order of the captions}, and what guessing scores on pairs."""
    expected = chance(benchmark.gallery, benchmark.queries, CUTOFFS)
    return {f"odmap@{k}": float(values.mean()) for k, values in expected.items()} | BY_CHANCE


GROUPED = (ODMAP[0], STILL_NAMED, *PAIRS)
_SHARES = (0.0, LEAST_SHARE, 0.05, 0.2)


def strata(benchmark: BenchmarkSet) -> dict[str, dict[str, NDArray[np.bool_]]]:
    """{kind: {name: (queries,) who belongs there}}, without those that are empty."""
    remains, shares = benchmark.queries.partner_remains, benchmark.shares
    has_partner = np.array([partner is not None for partner in benchmark.partners])
    named = (benchmark.named_by_people() & benchmark.queries.removed).any(axis=1)
    tested, classes = benchmark.tests_something(), np.array(benchmark.queries.class_names)
    groups: dict[str, dict[str, Any]] = {
        "what it tests": {"something": tested, "hardly anything": ~tested},
        "usual partner": {"still there": remains, "not there": has_partner & ~remains, "has none": ~has_partner},
        "what is gone": {"people named it": named, "nobody named it": ~named},
        "share painted over": {
            f"{100 * low:g} to {100 * high:g} %": (shares >= low) & (shares < high)
            for low, high in zip(_SHARES, (*_SHARES[1:], np.inf), strict=True)
        },
        "class": {name: classes == name for name in sorted(set(benchmark.queries.class_names))},
    }  # fmt: skip
    return {kind: {name: member for name, member in of.items() if member.any()} for kind, of in groups.items()}


def by_stratum(benchmark: BenchmarkSet, scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """Make a row a model and stratum: the number of queries, and the means of `GROUPED`, None without a pair."""
    values = {name: {measure: own.by_query(benchmark, measure) for measure in GROUPED} for name, own in scores.items()}
    for kind, groups in strata(benchmark).items():
        for group, member in groups.items():
            for name, columns in values.items():
                means = {measure: _mean(column[member]) for measure, column in columns.items()}
                yield {"stratum": kind, "group": group, "queries": int(member.sum()), "model": name, **means}


def _mean(values: NDArray[np.float64]) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def query_rows(benchmark: BenchmarkSet, scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """Make a row a query: what was painted out of which picture, and each model's values and first caption."""
    tested = benchmark.tests_something()
    texts = dict(zip(benchmark.captions.ids.tolist(), benchmark.captions.texts, strict=True))
    values = {name: {measure: own.by_query(benchmark, measure) for measure in (*ODMAP, STILL_NAMED, *PAIRS)}
              for name, own in scores.items()}  # fmt: skip
    for row, query in enumerate(benchmark.queries.ids):
        models = {
            name: {measure: None if np.isnan(column[row]) else float(column[row]) for measure, column in of.items()}
            | {"first": texts[int(scores[name].chosen[row])]}
            for name, of in values.items()
        }
        yield {
            "id": query,
            "picture": int(benchmark.queries.pictures[row]),
            "class": benchmark.queries.class_names[row],
            "removed": list(compress(benchmark.classes, benchmark.queries.removed[row])),
            "remaining": list(compress(benchmark.classes, benchmark.queries.present[row])),
            "partner": benchmark.partners[row],
            "partner_remains": bool(benchmark.queries.partner_remains[row]),
            "share": float(benchmark.shares[row]),
            "tests_something": bool(tested[row]),
            "models": models,
        }
