"""What makes the questions of any set hard for the models that answered them, and how sure that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.difficulty.effects import difficulty_rows
from trivium.complexity.difficulty.judges import HumanVerdicts, Kappa, LlmJudge, kappa, read_verdicts
from trivium.complexity.difficulty.material import (
    MOST_MISSING,
    Answers,
    DifficultySettings,
    Given,
    Say,
    clusters_of,
    kept_questions,
    take_answers,
)
from trivium.complexity.difficulty.scores import Scorer, best_overlap_answers, random_spans
from trivium.complexity.effects.effect_rows import Row, effect_metrics, shares
from trivium.complexity.factors.free_factors import FreeFactors, ReadText, free_factors, read_text
from trivium.core.errors import BadInput
from trivium.formats.answer_files import model_names
from trivium.formats.conllu import Sentence, read_conllu
from trivium.formats.question_sets import AskedQuestion, QuestionSet, read_question_set
from trivium.language.reading.language import Language
from trivium.language.reading.languages import detect, language_of
from trivium.language.reading.spaced import FRENCH
from trivium.measures.agreement import HardnessAgreement, hardness_agreement
from trivium.measures.rasch import Rasch, rasch
from trivium.measures.rouge import mangled

PAPER = "rouge_l_paper"
_SHORT = {"exact_match": "em"}  # as metrics have it
LEAST_MODELS = 5
"""For difficulties by IRT: m models tell m + 1 difficulties apart."""


@dataclass(frozen=True)
class Difficulty:
    """All that was found; arrays over questions are in the order of `questions`.

    Attributes:
        found: the set as it was read.
        questions: those analysed.
        language: of the set.
        settings: of the analysis.
        notes: what was said on the way, in words: missing answers first.
        unit: what questions come in clusters of, `article` or `context`.
        clusters: (questions,) number of each one's cluster.
        given: all answers, with what is missing.
        answers: by model, those to the questions analysed.
        missing: (models, questions) which of these are not there.
        scores: by judge, by model, (questions,) in [0, 1].
        baselines: by name of BASELINES, (questions,) of the judge that is analysed.
        factors: of the questions.
        rows: the effects, DIFFICULTY_COLUMNS a model and factor.
        agreement: of the models on which questions are hard; None with one model.
        irt: difficulties; None with fewer than LEAST_MODELS models.
        verdicts: of people, if there are any.
        kappas: by judge, agreement with them.
    """

    found: QuestionSet
    questions: tuple[AskedQuestion, ...]
    language: Language
    settings: DifficultySettings
    notes: tuple[str, ...]
    unit: str
    clusters: NDArray[np.int64]
    given: Answers
    answers: dict[str, list[str]]
    missing: NDArray[np.bool_]
    scores: dict[str, dict[str, NDArray[np.float64]]]
    baselines: dict[str, NDArray[np.float64]]
    factors: FreeFactors
    rows: list[Row]
    agreement: HardnessAgreement | None
    irt: Rasch | None
    verdicts: HumanVerdicts | None
    kappas: dict[str, Kappa]

    @property
    def models(self) -> list[str]:
        """Names, in the order given."""
        return list(self.answers)

    @property
    def correct(self) -> NDArray[np.bool_]:
        """(models, questions) right answers: by the judge that is a language model, else by exact match."""
        return _right(self.scores)

    @property
    def metrics(self) -> dict[str, float]:
        """Flat numbers: counts, the models' means, their agreement, the effects."""
        references = [text for question in self.questions for text in question.answers]
        numbers = {
            "questions": len(self.questions),
            "unanswerable": len(self.found.unanswerable),
            "contexts": len({question.context for question in self.questions}),
            "clusters": int(self.clusters.max()) + 1,
            "left_out": self.found.dropped,
            **self.found.counts,
        }
        metrics = {name: float(value) for name, value in numbers.items()}
        metrics |= shares(self.factors.codes, self.factors.cuts)
        if self.language is FRENCH:
            metrics["mangled_references"] = float(np.mean([mangled(text) for text in references]))
        for model in self.models:
            metrics |= {f"{model}_{name}": value for name, value in self.of_model(model).items()}
        if self.agreement is not None:
            metrics |= {name: value for name, value in self.agreement.means().items() if not np.isnan(value)}
        return metrics | effect_metrics(self.rows)

    @property
    def worse(self) -> list[Row]:
        """Effects below 0 that are significant after Holm's correction and whose interval over clusters is below 0."""
        return [row for row in self.rows if row["holm_significant"] and _sign(row["high"]) < 0]

    @property
    def better(self) -> list[Row]:
        """The same above 0."""
        held = [row for row in self.rows if _sign(row["low"]) > 0]
        return [row for row in held if isinstance(p := row["p_holm"], float) and p <= self.settings.risk]

    def of_model(self, model: str) -> dict[str, float]:
        """A model's means, and how many of its answers are not there, empty, or to other questions."""
        missing = self.given.missing[model]
        blank = np.array([not text.strip() for text in self.given.texts[model]])
        values = {_SHORT.get(name, name): float(of[model].mean()) for name, of in self.scores.items()}
        values |= {"missing": float(missing.sum()), "empty": float((blank & ~missing).sum())}
        values["unknown"] = float(self.given.unknown[model])
        abstained = self.given.abstained[model]
        if abstained is not None:
            values["abstained"] = abstained
        if self.irt is not None:
            values["ability"] = float(self.irt.ability[self.models.index(model)])
        return values


def _sign(value: str | float | bool | None) -> float:
    return float(np.sign(value)) if isinstance(value, float) else 0.0


def difficulty(
    questions: str | Path | QuestionSet,
    answers: Mapping[str, str | Path | Given] | Iterable[str | Path],
    *,
    language: str | None = None,
    settings: DifficultySettings | None = None,
    syntax: Path | None = None,
    verdicts: Path | None = None,
    judge: LlmJudge | None = None,
    say: Say = print,
) -> Difficulty:
    """Analyse a question set with the answers of some models; `trivium.page.difficulty` writes what was found.

    Args:
        questions: a file of any form that `read_question_set` knows, or what it gave.
        answers: files of any form that `read_answers` knows, named as their models or `NAME=FILE`; or by model, a file
            or the answers by question.
        language: code of ISO 639-1; None: detected.
        settings: judge, risk and so on; None: the defaults.
        syntax: CoNLL-U of the contexts; document `n` is context `n` of the set, from 0. Adds three factors.
        verdicts: a file or folder of human verdicts.
        judge: for `settings.judge` "llm".
        say: told what whoever reads the numbers must know: missing answers, language, clusters, doubtful fits.

    Raises:
        BadInput: a file cannot be used, too many answers are missing, or no judge is given where one is set.
    """
    settings = settings or DifficultySettings()
    if (settings.judge == "llm") != (judge is not None):
        raise BadInput("a judge that is a language model needs its endpoint, and an endpoint that judge",
                       field="judge", got=settings.judge)  # fmt: skip
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        say(text)

    found = questions if isinstance(questions, QuestionSet) else read_question_set(Path(questions))
    given = take_answers(found, _sources(answers), note)
    kept = np.flatnonzero(kept_questions(given.missing, settings.missing, note))
    people = None if verdicts is None else read_verdicts(verdicts, _by_question(found.questions, given))
    told = _tell_language(found.questions, language, note)
    _tell_set(found, note)
    asked, texts = _select(found, given, kept)
    scores = _scores(asked, texts, told)
    if judge is not None:
        scores["llm"] = {m: judge.judge(asked, each, scores["exact_match"][m]) for m, each in texts.items()}
        readable = _readable(scores["llm"], note)
        kept = kept[readable]
        asked, texts = _select(found, given, kept)
        scores = {name: {m: each[readable] for m, each in of.items()} for name, of in scores.items()}
    unit, clusters = clusters_of(asked)
    note(f"{len(asked)} questions are analysed, in {clusters.max() + 1} clusters: each {unit} is one.")
    read = {context: read_text(context, told) for context in dict.fromkeys(each.context for each in asked)}
    factors = free_factors(asked, told, read, None if syntax is None else _read_trees(syntax, found.questions))
    missing = np.stack([given.missing[model][kept] for model in texts])
    irt = rasch(_right(scores), ~missing) if len(texts) >= LEAST_MODELS else None
    analysed = scores[settings.judge]
    baselines = _baselines(asked, read, told, settings, judge)
    rows = difficulty_rows(analysed, baselines, factors.codes, clusters, irt, settings)
    for doubt in _doubts(irt, rows):
        note(doubt)
    agree = {} if people is None else {
        name: kappa(of, [each.id for each in asked], people, settings.confidence) for name, of in scores.items()
    }  # fmt: skip
    return Difficulty(
        found=found,
        questions=tuple(asked),
        language=told,
        settings=settings,
        notes=tuple(notes),
        unit=unit,
        clusters=clusters,
        given=given,
        answers=texts,
        missing=missing,
        scores=scores,
        baselines=baselines,
        factors=factors,
        rows=rows,
        agreement=hardness_agreement(list(analysed.values())) if len(texts) > 1 else None,
        irt=irt,
        verdicts=people,
        kappas=agree,
    )


def _select(
    found: QuestionSet, given: Answers, kept: NDArray[np.intp]
) -> tuple[list[AskedQuestion], dict[str, list[str]]]:
    """The questions at these places, and by model the answers to them."""
    places = kept.tolist()
    texts = {model: [each[place] for place in places] for model, each in given.texts.items()}
    return [found.questions[place] for place in places], texts


def _doubts(irt: Rasch | None, rows: Sequence[Row]) -> list[str]:
    """What of the numbers tells nothing, in words."""
    doubts = []
    if irt is not None and irt.at_bound:
        doubts.append(f"Item response theory: the standard deviation of the difficulties, {irt.spread:.2g}, lies at "
                      "its bound: the answers do not tell difficulties apart.")  # fmt: skip
    if irt is not None and not irt.converged:
        doubts.append("Item response theory: the fit did not converge; its numbers are not to be used.")
    for name, low, high in (("δ", "low", "high"), ("difficulties by item response theory", "irt_low", "irt_high")):
        flat = sum(row[low] is not None and row[low] == row[high] for row in rows)
        if flat:
            doubts.append(f"{flat} of {len(rows)} intervals of {name} have no width: nothing varies there, and nothing "
                          "is told by them.")  # fmt: skip
    return doubts


def _sources(answers: Mapping[str, str | Path | Given] | Iterable[str | Path]) -> dict[str, Path | Given]:
    if isinstance(answers, Mapping):
        return {model: each if isinstance(each, Mapping) else Path(each) for model, each in answers.items()}
    return dict(model_names(answers))


def _tell_language(questions: Sequence[AskedQuestion], code: str | None, note: Say) -> Language:
    """The language given, or the one detected, which is said."""
    if code is not None:
        language = language_of(code)
    else:
        contexts = list(dict.fromkeys(each.context for each in questions))
        language, share = detect(contexts)
        note(f"Language: {language.name}, detected in {100 * share:.0f} % of the contexts (--language sets it).")
    if language.note:
        note(f"{language.name.capitalize()}: {language.note}.")
    return language


def _tell_set(found: QuestionSet, note: Say) -> None:
    """What of the set is not analysed as it stands."""
    if found.unanswerable:
        note(f"{len(found.unanswerable)} unanswerable questions are counted apart.")
    if found.dropped:
        note(f"{found.dropped} questions cannot be asked and are left out (no answer, or no question).")
    told = {
        "searched": "first answers have no place: the first occurrence in the context counts",
        "moved": "first answers do not stand at their place: the nearest occurrence counts",
        "nowhere": "first answers do not stand in their context: only the factors of lengths count them",
    }
    for name, text in told.items():
        if found.counts[name]:
            note(f"{found.counts[name]} {text}.")


def _right(scores: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> NDArray[np.bool_]:
    judge = "llm" if "llm" in scores else "exact_match"
    return np.stack(list(scores[judge].values())) == 1


def _scores(
    asked: Sequence[AskedQuestion], texts: Mapping[str, Sequence[str]], language: Language
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """By measure and model; the paper's setting of ROUGE-L is for French, for which the paper used it."""
    scorer = Scorer(asked, language)
    measures = {"exact_match": scorer.exact_match, "f1": scorer.f1, "rouge_l": scorer.rouge_l}
    if language is FRENCH:
        measures[PAPER] = scorer.rouge_l_paper
    return {name: {model: score(each) for model, each in texts.items()} for name, score in measures.items()}


def _readable(verdicts: Mapping[str, NDArray[np.float64]], note: Say) -> NDArray[np.bool_]:
    """Questions on which the judge's every verdict can be read."""
    readable = ~np.any([np.isnan(each) for each in verdicts.values()], axis=0)
    lost = int((~readable).sum())
    if lost > MOST_MISSING * len(readable):
        raise BadInput("the judge's verdicts cannot be read", field="judge", got=f"{lost} of {len(readable)} questions",
                       expected="replies that begin with yes or no")  # fmt: skip
    if lost:
        note(f"{lost} questions on which a verdict of the judge cannot be read are left out.")
    return readable


def _baselines(
    asked: Sequence[AskedQuestion],
    texts: Mapping[str, ReadText],
    language: Language,
    settings: DifficultySettings,
    judge: LlmJudge | None,
) -> dict[str, NDArray[np.float64]]:
    """What the judge says of answers that need no reading; a judge that is paid for sees one random span a question."""
    scorer = Scorer(asked, language)

    def score(answers: Sequence[str]) -> NDArray[np.float64]:
        if judge is None:
            values: NDArray[np.float64] = getattr(scorer, settings.judge)(answers)
            return values
        return np.nan_to_num(judge.judge(asked, answers, scorer.exact_match(answers)), nan=0.0)

    rng = np.random.default_rng(settings.seed)
    draws = [score(random_spans(asked, texts, language, rng)) for _ in range(1 if judge else settings.draws)]
    return {
        "random_span": np.mean(draws, axis=0),
        "best_overlap": score(best_overlap_answers(asked, texts, language)),
    }


def _read_trees(path: Path, questions: Sequence[AskedQuestion]) -> dict[str, list[Sentence]]:
    """Syntax by context; a document goes by its context's number, from 0, among those of questions with answers."""
    contexts = dict.fromkeys(question.context for question in questions)
    numbered = {str(number): context for number, context in enumerate(contexts)}
    return {numbered[number]: trees for number, trees in read_conllu(path, numbered).items()}


def _by_question(questions: Sequence[AskedQuestion], given: Answers) -> dict[str, dict[str, str]]:
    ids = [question.id for question in questions]
    return {model: dict(zip(ids, texts, strict=True)) for model, texts in given.texts.items()}
