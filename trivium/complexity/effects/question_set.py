"""The analysis on any SQuAD-format set with any predictions: what makes its questions hard, without frames.

Factors: `free_factors.py`, which says what stands in for which of the paper's. An answer is scored against all
reference answers, the best counts; factors are those of the first.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.errors import BadInput
from trivium.formats.conllu import Sentence, read_conllu
from trivium.formats.predictions import Predictions
from trivium.formats.squad import SquadQuestion
from trivium.measures.french import exact_match, f1
from trivium.measures.rouge import Setting, rouge_l


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
