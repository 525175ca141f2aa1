"""The analysis on any SQuAD-format set with any predictions: what makes its questions hard, without frames.

Factors: `free_factors.py`, which says what stands in for which of the paper's. An answer is scored against all
reference answers, the best counts; factors are those of the first.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from stages.complexity.corpus.conllu import Sentence, read_conllu
from stages.complexity.corpus.predictions import Predictions, read_predictions
from stages.complexity.corpus.squad import SquadQuestion, read_squad
from stages.complexity.effects.effect_rows import effect_metrics, effect_rows, shares, write_effects
from stages.complexity.features.free_factors import free_factors
from stages.measures.french import exact_match, f1
from stages.measures.hardness import hardness_agreement
from stages.measures.rouge import Setting, mangled, rouge_l
from stages.stage import BadInput, Context, Parameters, run_stage


class AnalyseParameters(Parameters):
    """Section `complexity.analyse`."""

    risk: float = Field(gt=0, lt=1, description="Of a false alarm, of every test and of Holm's correction")
    smallest_set: int = Field(ge=1, description="Fewest questions that either set of an analysed factor must hold")
    confidence: float = Field(gt=0, lt=1, description="Of the intervals")
    resamples: int = Field(ge=1, description="Bootstrap samples of contexts")
    seed: int = Field(ge=0, description="Of the bootstrap")


def best_rouge_l(questions: Sequence[SquadQuestion], answers: Sequence[str], setting: Setting) -> NDArray[np.float64]:
    """Each answer's best ROUGE-L over the reference answers, (questions,)."""
    owner = [place for place, question in enumerate(questions) for _ in question.answers]
    references = [text for question in questions for text, _ in question.answers]
    values = rouge_l(references, [answers[place] for place in owner], setting=setting)
    best = np.zeros(len(questions))
    np.maximum.at(best, owner, values)
    return best


def model_names(files: Sequence[Path]) -> dict[str, Path]:
    """A file of predictions is named as its model; `seed-0.jsonl` as its folder."""
    names: dict[str, Path] = {}
    for file in files:
        name = file.parent.name if file.stem.startswith("seed-") else file.stem
        if name in names:
            raise BadInput("two files of one model", file=file, field="--predictions", got=name)
        names[name] = file
    return names


def read_trees(path: Path, questions: Sequence[SquadQuestion]) -> dict[str, list[Sentence]]:
    """Syntax by context; a document of the file goes by its context's number, from 0, in the order of the set."""
    contexts = dict.fromkeys(question.context for question in questions)
    numbered = {str(number): context for number, context in enumerate(contexts)}
    return {numbered[number]: trees for number, trees in read_conllu(path, numbered).items()}


def summarize(
    questions: Sequence[SquadQuestion], predictions: Predictions
) -> tuple[NDArray[np.float64], dict[str, float]]:
    """A model's ROUGE-L a question, and its means and counts."""
    answers = list(predictions.answers.values())
    values = best_rouge_l(questions, answers, "unicode")
    given = [(answer, [text for text, _ in each.answers]) for answer, each in zip(answers, questions, strict=True)]
    return values, {
        "rouge_l": float(values.mean()),
        "rouge_l_paper": float(best_rouge_l(questions, answers, "paper").mean()),
        "em": float(np.mean([any(exact_match(answer, text) for text in texts) for answer, texts in given])),
        "f1": float(np.mean([max(f1(answer, text) for text in texts) for answer, texts in given])),
        "missing": float(predictions.missing),
        "empty": float(predictions.empty),
        "unknown": float(predictions.unknown),
    }


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
