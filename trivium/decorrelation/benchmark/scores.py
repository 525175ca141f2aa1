"""What a model scores on a set: ODmAP, the still-named rate, pairs, R@k both ways, each with its values by query.

Where a folder of right answers was brought, ECCV Caption's and CxC's measures too (`positives.py`).

Judgement, recall and bootstrap are those of the graph (decorrelation.md §3, §5).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.benchmark.answers import SetAnswers
from trivium.decorrelation.benchmark.benchmark_set import LEAST_SHARE, BenchmarkSet
from trivium.decorrelation.benchmark.embedder import SetVectors
from trivium.decorrelation.benchmark.positives import positive_scores
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP, RECALL, judge, recalls
from trivium.decorrelation.evaluation.comparisons import PictureBootstrap
from trivium.decorrelation.evaluation.queries import chance

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
        values: {measure of `measures_of`: (queries of it,)}.
        pictures: {measure: the picture of each query}.
        intervals: {measure: of its mean, over pictures}.
        chosen: (queries,) ids of the captions that it chose first.
    """

    values: Mapping[str, NDArray[np.float64]]
    pictures: Mapping[str, NDArray[np.int64]]
    intervals: Mapping[str, Interval]
    chosen: NDArray[np.int64]

    def mean(self, measure: str) -> float | None:
        """Over all queries; None where there are none."""
        values = self.values[measure]
        return float(values.mean()) if len(values) else None

    def by_query(self, asked: BenchmarkSet, measure: str) -> NDArray[np.float64]:
        """Values in the order of the set's queries; NaN where a query has no pair."""
        found = np.full(len(asked.queries.ids), np.nan)
        found[asked.pairs.queries if measure in PAIRS else slice(None)] = self.values[measure]
        return found


def score(asked: BenchmarkSet, vectors: SetVectors, answers: SetAnswers) -> Scores:
    """The values of a model's answers; its vectors are for right answers that somebody brought."""
    own = np.array(asked.pictures.owners, np.int64)
    described = asked.captions.pictures[asked.captions.test]
    judged = judge(asked.gallery, asked.queries, answers.captions)
    values = {name: judged[name] for name in ODMAP} | {STILL_NAMED: judged["removed_named"]}
    pictures = dict.fromkeys(values, asked.queries.pictures)
    tested = asked.tests_something()
    values[TESTED], pictures[TESTED] = values[ODMAP[0]][tested], asked.queries.pictures[tested]
    (whole, whole_less), (painted, painted_less) = answers.pairs.transpose(1, 2, 0)
    sides = np.stack([whole > whole_less, painted_less > painted])
    for name, right in zip(PAIRS, (*sides, sides.all(axis=0)), strict=True):
        values[name], pictures[name] = right.astype(float), asked.queries.pictures[asked.pairs.queries]
    for names, owners, ranks in ((TO_TEXT, own, answers.to_text), (TO_IMAGE, described, answers.to_image)):
        values |= dict(zip(names, recalls(ranks).values(), strict=True))
        pictures |= dict.fromkeys(names, owners)
    if asked.positives is not None:
        texts = vectors.captions[asked.captions.test]
        for name, (measured, rows) in positive_scores(asked.positives, vectors.pictures, texts).items():
            values[name] = measured
            pictures[name] = (own if "_image_to_text_" in name else described)[rows]
    intervals = {name: interval(asked, values[name], pictures[name]) for name in values}
    return Scores(values, pictures, intervals, answers.captions[:, 0])


def measures_of(asked: BenchmarkSet) -> tuple[str, ...]:
    """Names of all values of a set."""
    return MEASURES + (asked.positives.measures if asked.positives is not None else ())


def interval(asked: BenchmarkSet, values: NDArray[np.float64], pictures: NDArray[np.int64]) -> Interval:
    """Of the mean of values by query, drawn over pictures as in the graph's tables."""
    return PictureBootstrap(pictures, **asked.head["certainty"]).interval(values) if len(values) else None


def by_chance(asked: BenchmarkSet) -> dict[str, float]:
    """{ODmAP@k: its expectation under a random order of the captions}, and what guessing scores on pairs."""
    expected = chance(asked.gallery, asked.queries, CUTOFFS)
    return {f"odmap@{k}": float(values.mean()) for k, values in expected.items()} | BY_CHANCE


GROUPED = (ODMAP[0], STILL_NAMED, *PAIRS)
_SHARES = (0.0, LEAST_SHARE, 0.05, 0.2)


def strata(asked: BenchmarkSet) -> dict[str, dict[str, NDArray[np.bool_]]]:
    """{kind: {name: (queries,) who belongs there}}, without those that are empty."""
    beside, shares = asked.queries.partner_remains, asked.shares
    named = (asked.named_by_people() & asked.queries.removed).any(axis=1)
    tested, classes = asked.tests_something(), np.array(asked.queries.class_names)
    groups: dict[str, dict[str, Any]] = {
        "what it tests": {"something": tested, "hardly anything": ~tested},
        "usual partner": {"still there": beside, "not there": ~beside},
        "what is gone": {"people named it": named, "nobody named it": ~named},
        "share painted over": {
            f"{100 * low:g} to {100 * high:g} %": (shares >= low) & (shares < high)
            for low, high in zip(_SHARES, (*_SHARES[1:], np.inf), strict=True)
        },
        "class": {name: classes == name for name in sorted(set(asked.queries.class_names))},
    }  # fmt: skip
    return {kind: {name: member for name, member in of.items() if member.any()} for kind, of in groups.items()}


def by_stratum(asked: BenchmarkSet, scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """A row a model and stratum: how many queries, and the means of `GROUPED`; None where no query has a pair."""
    values = {name: {measure: own.by_query(asked, measure) for measure in GROUPED} for name, own in scores.items()}
    for kind, groups in strata(asked).items():
        for group, member in groups.items():
            for name, columns in values.items():
                means = {measure: _mean(column[member]) for measure, column in columns.items()}
                yield {"stratum": kind, "group": group, "queries": int(member.sum()), "model": name, **means}


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def query_rows(asked: BenchmarkSet, scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """A row a query: what was painted out of which picture, and each model's values and first caption."""
    tested = asked.tests_something()
    texts = dict(zip(asked.captions.ids.tolist(), asked.captions.texts, strict=True))
    values = {name: {measure: own.by_query(asked, measure) for measure in (*ODMAP, STILL_NAMED, *PAIRS)}
              for name, own in scores.items()}  # fmt: skip
    for row, query in enumerate(asked.queries.ids):
        models = {
            name: {measure: None if np.isnan(column[row]) else float(column[row]) for measure, column in of.items()}
            | {"first": texts[int(scores[name].chosen[row])]}
            for name, of in values.items()
        }
        yield {
            "id": query,
            "picture": int(asked.queries.pictures[row]),
            "class": asked.queries.class_names[row],
            "removed": _names(asked.classes, asked.queries.removed[row]),
            "remaining": _names(asked.classes, asked.queries.present[row]),
            "partner": asked.partners[row],
            "partner_remains": bool(asked.queries.partner_remains[row]),
            "share": float(asked.shares[row]),
            "tests_something": bool(tested[row]),
            "models": models,
        }


def _names(classes: Sequence[str], flags: NDArray[np.bool_]) -> list[str]:
    return [name for name, flag in zip(classes, flags, strict=True) if flag]
