"""The result of an analysis of difficulty, from which the page, the files and the metrics are made."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.difficulty.material import Answers, DifficultySettings
from trivium.complexity.effects.analysis import Row, effect_metrics, shares
from trivium.complexity.factors.free_factors import FreeFactors
from trivium.complexity.judging import RIGHT, HumanVerdicts, Kappa
from trivium.formats.question_sets import AskedQuestion, QuestionSet
from trivium.language.languages import FRENCH, Language
from trivium.measures.agreement import HardnessAgreement
from trivium.measures.irt import Irt, equal_p
from trivium.measures.rouge import is_mangled

_SHORT = {"exact_match": "em"}  # as metrics have it
LEAST_MODELS = 5
"""For difficulties by IRT: m models tell m + 1 difficulties apart."""


@dataclass(frozen=True, repr=False)
class Difficulty:
    """The result of an analysis; arrays over questions are in the order of `questions`."""

    question_set: QuestionSet  # as it was read
    questions: tuple[AskedQuestion, ...]  # those analysed
    language: Language
    settings: DifficultySettings
    notes: tuple[str, ...]  # what was said on the way, in words: missing answers first
    unit: str  # what questions come in clusters of, `article` or `context`
    clusters: NDArray[np.int64]  # (questions,) number of each one's cluster
    everything: Answers  # all answers, with what is missing
    answers: dict[str, list[str]]  # by training, those to the questions analysed
    missing: NDArray[np.bool_]  # (models, questions) which of these no training has
    scores: dict[str, dict[str, NDArray[np.float64]]]  # by judge and model (questions,), means over trainings
    of_training: dict[str, dict[str, NDArray[np.float64]]]  # the same of each training
    baselines: dict[str, NDArray[np.float64]]  # by name of BASELINES, (questions,) of the judge that is analysed
    factors: FreeFactors
    rows: list[Row]  # the effects, DIFFICULTY_COLUMNS a model and factor
    agreement: HardnessAgreement | None  # of the models on which questions are hard; None with one model
    irt: Irt | None  # difficulties by the Rasch model; None with fewer than LEAST_MODELS models
    two_parameters: Irt | None  # the same with a discrimination for each question
    verdicts: HumanVerdicts | None  # of people, if there are any
    kappas: dict[str, Kappa]  # by judge, agreement with them

    def __repr__(self) -> str:
        """The models' means in percent, and the effects that make a model worse."""
        lines = [f"{'model':20}{'exact match':>12}{'F1':>8}{'ROUGE-L':>9}"]
        for model in self.models:
            means = self.of_model(model)
            line = f"{model:20}{100 * means['em']:12.1f}{100 * means['f1']:8.1f}{100 * means['rouge_l']:9.1f}"
            if "spread" in means:
                line += f"  ± {100 * means['spread']:.1f} over {means['trainings']:.0f} trainings"
            lines.append(line)
        end = ":" if self.worse else "."
        lines.append(f"{len(self.worse)} of {len(self.rows)} effects make a model worse, after Holm's correction{end}")
        lines += [
            f"  {row['model']}, {self.factors.labels[str(row['factor'])]}: {row['delta']:+.1f} points "
            f"[{row['low']:+.1f}, {row['high']:+.1f}], from: {row['comes_from']}"
            for row in self.worse
        ]
        return "\n".join(lines)

    @property
    def models(self) -> list[str]:
        """Names, in the order given."""
        return list(self.everything.trainings)

    @property
    def discrimination_p(self) -> float | None:
        """The p of questions that discriminate alike, as the Rasch model has them; None without difficulties."""
        return None if self.irt is None or self.two_parameters is None else equal_p(self.irt, self.two_parameters)

    @property
    def metrics(self) -> dict[str, float]:
        """Flat numbers: counts, the models' means, their agreement, the effects."""
        references = [text for question in self.questions for text in question.answers]
        numbers = {
            "questions": len(self.questions),
            "unanswerable": len(self.question_set.unanswerable),
            "contexts": len({question.context for question in self.questions}),
            "clusters": int(self.clusters.max()) + 1,
            "left_out": self.question_set.dropped,
            **self.question_set.counts,
        }
        metrics = {name: float(value) for name, value in numbers.items()}
        metrics |= shares(self.factors.codes, self.factors.cuts)
        if self.language is FRENCH:
            metrics["mangled_references"] = float(np.mean([is_mangled(text) for text in references]))
        for model in self.models:
            metrics |= {f"{model}_{name}": value for name, value in self.of_model(model).items()}
        if self.agreement is not None:
            metrics |= {name: value for name, value in self.agreement.means().items() if not np.isnan(value)}
        return metrics | effect_metrics(self.rows)

    @property
    def worse(self) -> list[Row]:
        """Effects below 0 that are significant after Holm's correction and whose interval over clusters is below 0."""
        return [row for row in self.rows if row["holm_significant"] and float(row["high"] or 0) < 0]

    @property
    def better(self) -> list[Row]:
        """Effects above 0 that are significant after Holm's correction, with an interval above 0."""
        sure = [row for row in self.rows if row["p_holm"] is not None and float(row["p_holm"]) <= self.settings.risk]
        return [row for row in sure if float(row["low"] or 0) > 0]

    def of_model(self, model: str) -> dict[str, float]:
        """A model's means, and how many of its answers are not there, empty, or to other questions.

        Of several trainings their number, and `spread`, the standard deviation of their means by the judge analysed.
        """
        trainings = self.everything.trainings[model]
        missing = np.stack([self.everything.missing[one] for one in trainings])
        blank = np.array([[not text.strip() for text in self.everything.texts[one]] for one in trainings])
        values = {_SHORT.get(name, name): float(of[model].mean()) for name, of in self.scores.items()}
        values |= {"missing": float(missing.sum()), "empty": float((blank & ~missing).sum())}
        values["unknown"] = float(sum(self.everything.unknown[one] for one in trainings))
        abstained = [share for one in trainings if (share := self.everything.abstained[one]) is not None]
        if abstained:
            values["abstained"] = float(np.mean(abstained))
        if len(trainings) > 1:
            means = [self.of_training[self.settings.judge][one].mean() for one in trainings]
            values |= {"trainings": float(len(trainings)), "spread": float(np.std(means, ddof=1))}
        if self.irt is not None:
            values["ability"] = float(self.irt.ability[self.models.index(model)])
        return values


def right_answers(scores: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> NDArray[np.bool_]:
    """(models, questions) whether at least half of a model's trainings match a reference exactly."""
    return np.stack(list(scores["exact_match"].values())) >= RIGHT
