"""Stage `complexity-analyse`. The same validation without frames, as for any SQuAD-format set."""

from pathlib import Path

import numpy as np
from pydantic import Field

from trivium.complexity.effects.effect_rows import effect_metrics, effect_rows, shares, write_effects
from trivium.complexity.effects.question_set import model_names, read_trees, summarize
from trivium.complexity.factors.free_factors import free_factors
from trivium.formats.predictions import read_predictions
from trivium.formats.squad import read_squad
from trivium.harness.parameters import Parameters
from trivium.harness.stage import Context, run_stage
from trivium.measures.hardness import hardness_agreement
from trivium.measures.rouge import mangled


class AnalyseParameters(Parameters):
    """Section `complexity.analyse`."""

    risk: float = Field(gt=0, lt=1, description="Of a false alarm, of every test and of Holm's correction")
    smallest_set: int = Field(ge=1, description="Fewest questions that either set of an analysed factor must hold")
    confidence: float = Field(gt=0, lt=1, description="Of the intervals")
    resamples: int = Field(ge=1, description="Bootstrap samples of contexts")
    seed: int = Field(ge=0, description="Of the bootstrap")


def main(
    parameters: AnalyseParameters,
    context: Context,
    *,
    squad: Path,
    predictions: list[Path],
    syntax: Path | None = None,
    out: Path,
) -> dict[str, float]:
    """Write one CSV line a model and factor; `--syntax` (CoNLL-U) adds the factors that need trees.

    Returns:
        Counts and every model's means; the effects'; and of several models how far they agree on what is hard.
    """
    read = read_squad(squad)
    if read.wrong_offsets is not None:
        print(f"{squad}: {read.wrong_offsets}")
    questions = read.questions
    ids = [question.id for question in questions]
    codes, cuts = free_factors(questions, None if syntax is None else read_trees(syntax, questions))
    references = [text for question in questions for text, _ in question.answers]
    metrics = {
        "questions": float(len(questions)),
        "contexts": float(len({question.context for question in questions})),
        "left_out": float(sum(read.dropped.values())),
        "mangled_references": float(np.mean([mangled(reference) for reference in references])),
        **shares(codes, cuts),
    }
    scores = {}
    for model, file in model_names(predictions).items():
        scores[model], summary = summarize(questions, read_predictions(file, ids))
        metrics |= {f"{model}_{name}": value for name, value in summary.items()}
    rows = effect_rows(
        scores,
        codes,
        [question.context for question in questions],
        risk=parameters.risk,
        smallest_set=parameters.smallest_set,
        resamples=parameters.resamples,
        confidence=parameters.confidence,
        seed=parameters.seed,
    )
    write_effects(out, rows)
    if len(scores) > 1:
        agreement = hardness_agreement(list(scores.values())).means()
        metrics |= {name: value for name, value in agreement.items() if not np.isnan(value)}
    return metrics | effect_metrics(rows)


if __name__ == "__main__":
    run_stage(main, "complexity.analyse", AnalyseParameters)
