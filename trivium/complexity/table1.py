"""Table 1 and Figure 2: ROUGE-L of every model's answers, in both settings, by frame (complexity.md §3).

Beside each score stands what it would be without reading: the trivial baselines, and the model's own answers shuffled
among questions with the same answer element; beside the frames' differences, how far they would lie apart by chance.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from trivium.complexity.systems import ALONE, System, same_group_donors
from trivium.core.parameters import Parameters, shared
from trivium.measures.bootstrap import OPTIONS, clustered_interval
from trivium.measures.french import exact_match, f1
from trivium.measures.rouge import rouge_l

MEASURES = ("rouge_l", "rouge_l_paper", "em", "f1")


def _kinds(models: Mapping[str, Any]) -> dict[str, str]:
    """The kind of each model, from its settings."""
    return {name: model["kind"] if isinstance(model, Mapping) else model for name, model in models.items()}


class ScoreParameters(Parameters):
    """Section `complexity.score`."""

    run: tuple[str, ...] = shared("complexity.finetune.run", description="Readers that are scored, of `readers`")
    readers: Annotated[dict[str, str], BeforeValidator(_kinds)] = shared(
        "complexity.finetune.models", description="Kind of each reader, by name"
    )
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = shared(
        "complexity.finetune.seeds", min_length=1, description="Of the fine-tuned readers"
    )
    prompted: Annotated[tuple[str, ...], BeforeValidator(tuple)] = shared(
        "complexity.prompt.models", description="Prompted models; one without answers counts as not run"
    )
    figure_2: Literal["rouge_l", "rouge_l_paper"] = Field(
        default="rouge_l", description="The score whose means by frame Figure 2 draws and sorts"
    )
    shuffles: int = Field(ge=1, description="Shuffles of a model's answers among questions with the same element")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=100, description="Bootstrap draws of texts")
    seed: int = Field(ge=0, description="Of baselines, shuffles, permutations and draws")


@dataclass(frozen=True)
class ModelScores:
    """A model's scores: for each measure (seeds, questions) in [0, 1]."""

    system: System
    values: Mapping[str, NDArray[np.float64]]

    def by_question(self, measure: str) -> NDArray[np.float64]:
        """Means over the seeds, (questions,)."""
        return self.values[measure].mean(axis=0)


def score(system: System, references: Sequence[str]) -> ModelScores:
    """Score every seed's answers against the references, in their order."""
    rows: dict[str, list[NDArray[np.float64]]] = {measure: [] for measure in MEASURES}
    for predictions in system.by_seed.values():
        answers = list(predictions.answers.values())
        rows["rouge_l"].append(rouge_l(references, answers))
        rows["rouge_l_paper"].append(rouge_l(references, answers, setting="paper"))
        pairs = list(zip(answers, references, strict=True))
        rows["em"].append(np.array([float(exact_match(*pair)) for pair in pairs]))
        rows["f1"].append(np.array([f1(*pair) for pair in pairs]))
    return ModelScores(system, {measure: np.stack(values) for measure, values in rows.items()})


def score_shuffled(
    system: System, references: Sequence[str], elements: Sequence[str], *, shuffles: int, seed: int
) -> float | None:
    """Mean ROUGE-L when each question gets the answer to another one with the same element; None if all are alone.

    The same shuffles for every model; questions whose element no other has are left out.
    """
    rng = np.random.default_rng(seed)
    totals = []
    for _ in range(shuffles):
        donors = same_group_donors(elements, rng)
        kept = np.flatnonzero(donors != ALONE).tolist()
        if not kept:
            return None
        for predictions in system.by_seed.values():
            answers = list(predictions.answers.values())
            moved = [answers[donor] for donor in donors[kept]]
            totals.append(rouge_l([references[place] for place in kept], moved).mean())
    return float(np.mean(totals))


def summarize(
    scored: ModelScores, baseline: NDArray[np.float64], texts: Sequence[str], parameters: ScoreParameters
) -> dict[str, float]:
    """A model's row of Table 1: means over questions and seeds, sd over seeds, intervals, and what was not answered.

    It is compared with the ROUGE-L of `baseline`, (questions,).
    """
    metrics = {}
    options = parameters.model_dump(include=OPTIONS)
    for measure in MEASURES:
        means = scored.values[measure].mean(axis=1)
        metrics[measure] = float(means.mean())
        if len(means) > 1:
            metrics[f"{measure}_sd"] = float(means.std(ddof=1))
    bounds = clustered_interval(scored.by_question("rouge_l"), texts, **options)
    metrics["rouge_l_low"], metrics["rouge_l_high"] = bounds
    for count in ("missing", "empty", "unknown"):
        metrics[count] = float(sum(getattr(answers, count) for answers in scored.system.by_seed.values()))
    if scored.system.kind != "baseline":
        gain = scored.by_question("rouge_l") - baseline
        metrics["over_baseline"] = float(gain.mean())
        bounds = clustered_interval(gain, texts, **options)
        metrics["over_baseline_low"], metrics["over_baseline_high"] = bounds
    return metrics


def scores_table(all_scored: Sequence[ModelScores]) -> pa.Table:
    """One row a model, seed and question: id, model, kind, seed, prediction and the four measures."""
    tables = [
        pa.table(
            {
                "id": list(predictions.answers),
                "model": [scored.system.model] * len(predictions.answers),
                "kind": [scored.system.kind] * len(predictions.answers),
                "seed": pa.array([seed] * len(predictions.answers), pa.int64()),
                "prediction": list(predictions.answers.values()),
                **{measure: values[row] for measure, values in scored.values.items()},
            }
        )
        for scored in all_scored
        for row, (seed, predictions) in enumerate(scored.system.by_seed.items())
    ]
    return pa.concat_tables(tables)


FRAME_COLUMNS = ("model", "frame", "questions", "rouge_l", "rouge_l_paper")
PERMUTATIONS = 2000
_ROUNDING = 1e-12  # a permutation that gives every frame its own scores again adds them in another order


def frame_means(
    values: Mapping[str, NDArray[np.float64]], frames: Sequence[str], drawn: str
) -> list[dict[str, str | float]]:
    """Figure 2's points, worst frame first by the measure drawn: FRAME_COLUMNS without the model."""
    labels = np.asarray(frames)
    rows: list[dict[str, str | float]] = [
        {
            "frame": frame,
            "questions": int((labels == frame).sum()),
            **{measure: float(scores[labels == frame].mean()) for measure, scores in values.items()},
        }
        for frame in sorted(set(frames))
    ]
    return sorted(rows, key=lambda row: row[drawn])


def spread(values: NDArray[np.float64], frames: Sequence[str], texts: Sequence[str], *, seed: int) -> dict[str, float]:
    """Measure how far the frames' means of (questions,) scores lie apart.

    `frame_range` of these means and, where there are several frames, their standard deviation `frame_sd` (n - 1);
    Kruskal and Wallis' `frame_h` and `frame_p`, absent when all scores are equal; `frame_sd_by_chance` and
    `frame_sd_p` of `spread_by_chance`, absent when nothing can be permuted.
    """
    labels = np.asarray(frames)
    names, number = np.unique(labels, return_inverse=True)
    means = np.bincount(number, weights=values) / np.bincount(number)
    metrics = {"frame_range": float(np.ptp(means))}
    if len(names) == 1:
        return metrics
    metrics["frame_sd"] = float(means.std(ddof=1))
    if np.ptp(values) > 0:
        from scipy.stats import kruskal  # its import takes half a second

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # frames of one question are small samples, as scipy would say
            result = kruskal(*(values[labels == frame] for frame in names))
        metrics |= {"frame_h": float(result.statistic), "frame_p": float(result.pvalue)}
    if (chance := spread_by_chance(values, frames, texts, permutations=PERMUTATIONS, seed=seed)) is not None:
        metrics |= dict(zip(("frame_sd_by_chance", "frame_sd_p"), chance, strict=True))
    return metrics


def spread_by_chance(
    values: NDArray[np.float64], frames: Sequence[str], texts: Sequence[str], *, permutations: int, seed: int
) -> tuple[float, float] | None:
    """Standard deviation (n - 1) of the frames' means if frames did not matter, and the chance of the observed one.

    Scores of one text are correlated. So texts with equally many questions exchange all their scores, and a text's
    scores change places within it; frames stay where they are. If neither frames nor places in a text matter, all
    such arrangements are equally likely, however texts differ.

    Returns:
        (mean of the standard deviations drawn, p): p = (count + 1) / (permutations + 1) of those at least as large as
        the observed one, which is counted in. None where no arrangement could give a frame other scores.
    """
    _, number = np.unique(np.asarray(frames), return_inverse=True)
    _, text = np.unique(np.asarray(texts), return_inverse=True)
    size = np.bincount(text)
    places = np.lexsort((text, size[text]))  # text after text, those of one size together
    blocks = [places[size[text[places]] == count].reshape(-1, count) for count in np.unique(size)]
    if all(len(set(number[block.ravel()])) == 1 for block in blocks):
        return None
    counts = np.bincount(number)

    def deviation(scores: NDArray[np.float64]) -> float:
        return float((np.bincount(number, weights=scores) / counts).std(ddof=1))

    rng = np.random.default_rng(seed)
    drawn = np.empty(permutations)
    moved = np.empty(len(values))
    for draw in range(permutations):
        for block in blocks:
            moved[block] = values[rng.permuted(rng.permutation(block), axis=1)]
        drawn[draw] = deviation(moved)
    reached = int((drawn >= deviation(values) - _ROUNDING).sum())
    return float(drawn.mean()), (reached + 1) / (permutations + 1)


def rows_of(
    parameters: ScoreParameters,
    references: Sequence[str],
    frames: Sequence[str],
    elements: Sequence[str],
    texts: Sequence[str],
    baseline: NDArray[np.float64],
    system: System,
) -> tuple[ModelScores, list[dict[str, str | float]], dict[str, float]]:
    """Score a model: every answer, the rows of `frame_means`, and the row of Table 1 with spread and shuffled answers.

    What is drawn depends on the seed alone, not on other models.
    """
    scored = score(system, references)
    by_measure = {measure: scored.by_question(measure) for measure in ("rouge_l", "rouge_l_paper")}
    metrics = summarize(scored, baseline, texts, parameters)
    metrics |= spread(by_measure[parameters.figure_2], frames, texts, seed=parameters.seed)
    if system.kind != "baseline":
        value = score_shuffled(system, references, elements, shuffles=parameters.shuffles, seed=parameters.seed)
        metrics |= {} if value is None else {"shuffled_rouge_l": value}
    return scored, frame_means(by_measure, frames, parameters.figure_2), metrics
