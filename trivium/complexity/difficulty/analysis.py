"""What makes the questions of any set hard for the models that answered them, and how sure that is."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from trivium.complexity.difficulty.effects import difficulty_rows
from trivium.complexity.difficulty.material import (
    DifficultySettings,
    Say,
    Source,
    clusters_of,
    kept_questions,
    take_answers,
)
from trivium.complexity.difficulty.result import LEAST_MODELS, Difficulty, right_answers
from trivium.complexity.difficulty.scores import score_baselines, score_models
from trivium.complexity.effects.analysed_tables import encode_answers
from trivium.complexity.effects.analysis import Row
from trivium.complexity.factors.free_factors import LABELS, free_factors, read_text
from trivium.complexity.factors.own_factors import FactorSource, add_factors
from trivium.complexity.judging import kappa, read_verdicts
from trivium.core.errors import BadInput
from trivium.formats.answer_files import model_names
from trivium.formats.conllu import Sentence
from trivium.formats.question_sets import AskedQuestion, QuestionSet, read_question_set
from trivium.language.languages import Language, detect, language_of
from trivium.measures.agreement import hardness_agreement
from trivium.measures.irt import Irt, fit_irt


def difficulty(
    questions: str | Path | QuestionSet,
    answers: Mapping[str, Source | Sequence[Source]] | Iterable[str | Path] | str | Path,
    *,
    language: str | None = None,
    settings: DifficultySettings | None = None,
    factors: Sequence[FactorSource] = (),
    parser: str | None = None,
    verdicts: Path | None = None,
    more: Mapping[str, Mapping[str, bool | None]] | None = None,
    say: Say = print,
) -> Difficulty:
    """Analyse what makes a question set hard for models; `trivium.page.difficulty` writes the result.

    Args:
        questions: a file of any form that `read_question_set` knows, or what it gave.
        answers: files of any form that `read_answers` knows, named as their models or `NAME=FILE`; or by model, a file
            or the answers by question, or a list of these, one a training, which count as one model.
        language: code of ISO 639-1; None: detected.
        factors: further ones: names of `MEMBERS`, files, functions; see `add_factors`.
        parser: `spacy:NAME`, a pipeline of spaCy that parses the contexts: adds three factors.
        more: further factors of `LABELS`, by question.
        say: called with what readers of the numbers must know: missing answers, language, clusters, doubtful fits.

    Raises:
        BadInput: a file cannot be used, or too many answers are missing.
    """
    settings = settings or DifficultySettings()
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        say(text)

    question_set = questions if isinstance(questions, QuestionSet) else read_question_set(Path(questions))
    if not isinstance(answers, Mapping):
        answers = model_names([answers] if isinstance(answers, str | Path) else answers)
    if parser is not None and not parser.startswith("spacy:"):
        raise BadInput("no parser", field="parser", got=parser, expected="spacy:NAME")
    everything = take_answers(question_set, {str(model): source for model, source in answers.items()}, note)
    kept = np.flatnonzero(kept_questions(everything.missing, settings.missing, note)).tolist()
    people = None if verdicts is None else read_verdicts(verdicts, everything.by_question(question_set.questions))
    reading = _choose_language(question_set.questions, language, note)
    _describe_set(question_set, note)
    analysed = [question_set.questions[place] for place in kept]
    texts = {training: [listed[place] for place in kept] for training, listed in everything.texts.items()}
    of_training = score_models(analysed, texts, reading)
    scores = {
        name: {model: np.mean([values[training] for training in trainings], axis=0)
               for model, trainings in everything.trainings.items()}
        for name, values in of_training.items()
    }  # fmt: skip
    unit, clusters = clusters_of(analysed)
    note(f"{len(analysed)} questions are analysed, in {clusters.max() + 1} clusters: each {unit} is one.")
    contexts = {context: read_text(context, reading) for context in dict.fromkeys(row.context for row in analysed)}
    trees = None if parser is None else _parse(list(contexts), parser, reading)
    all_factors = free_factors(analysed, reading, contexts, trees)
    for name, says in (more or {}).items():
        all_factors.codes[name] = encode_answers([says[question.id] for question in analysed])
        all_factors.labels[name] = LABELS[name]
    add_factors(all_factors, factors, analysed, contexts, reading, question_set.ids, note)
    missing = np.stack(
        [np.all([everything.missing[one][kept] for one in trainings], axis=0)
         for trainings in everything.trainings.values()]
    )  # fmt: skip
    irt, two = None, None
    if len(missing) >= LEAST_MODELS:
        irt, two = (fit_irt(right_answers(scores), ~missing, discriminates=differ) for differ in (False, True))
    by_model = {
        model: np.stack([of_training[settings.judge][one] for one in trainings])
        for model, trainings in everything.trainings.items()
    }
    baselines = score_baselines(analysed, contexts, reading, settings)
    rows = difficulty_rows(by_model, baselines, all_factors.codes, clusters, irt, settings)
    for doubt in _doubts(irt, two, rows):
        note(doubt)
    ids = [question.id for question in analysed]
    kappas = {} if people is None else {
        name: kappa(values, ids, people, settings.confidence) for name, values in of_training.items()
    }  # fmt: skip
    return Difficulty(
        question_set=question_set, questions=tuple(analysed), language=reading, settings=settings, notes=tuple(notes),
        unit=unit, clusters=clusters, everything=everything, answers=texts, missing=missing, scores=scores,
        of_training=of_training, baselines=baselines, factors=all_factors, rows=rows, irt=irt, two_parameters=two,
        verdicts=people, kappas=kappas,
        agreement=hardness_agreement(list(scores[settings.judge].values())) if len(by_model) > 1 else None,
    )  # fmt: skip


_PARSED_TOGETHER = 64  # texts


def _doubts(irt: Irt | None, two: Irt | None, rows: Sequence[Row]) -> list[str]:
    """Sentences on the numbers that are not to be relied on."""
    doubts = []
    if irt is not None and irt.at_bound:
        doubts.append(f"Item response theory: the standard deviation of the difficulties, {irt.spread:.2g}, lies at "
                      "its bound: the answers do not tell difficulties apart.")  # fmt: skip
    if irt is not None and two is not None and not (irt.converged and two.converged):
        doubts.append("Item response theory: a fit did not converge; its numbers are not to be used.")
    for name, low, high in (("δ", "low", "high"), ("difficulties by item response theory", "irt_low", "irt_high")):
        flat = sum(row[low] is not None and row[low] == row[high] for row in rows)
        if flat:
            doubts.append(f"{flat} of {len(rows)} intervals of {name} have no width: nothing varies there, and nothing "
                          "is told by them.")  # fmt: skip
    return doubts


def _choose_language(questions: Sequence[AskedQuestion], code: str | None, note: Say) -> Language:
    """The language of this code, or the one detected in the contexts, with a note."""
    if code is not None:
        language = language_of(code)
    else:
        language, share = detect(list(dict.fromkeys(question.context for question in questions)))
        note(f"Language: {language.name}, detected in {100 * share:.0f} % of the contexts (--language sets it).")
    if language.note:
        note(f"{language.name.capitalize()}: {language.note}.")
    return language


def _describe_set(question_set: QuestionSet, note: Say) -> None:
    """Note which questions of the set are not analysed as they stand."""
    if question_set.unanswerable:
        note(f"{len(question_set.unanswerable)} unanswerable questions are counted apart.")
    if question_set.dropped:
        note(f"{question_set.dropped} questions cannot be asked and are left out (no answer, or no question).")
    sentences = {
        "searched": "first answers have no place: the first occurrence in the context counts",
        "moved": "first answers do not stand at their place: the nearest occurrence counts",
        "nowhere": "first answers do not stand in their context: only the factors of lengths count them",
    }
    for name, sentence in sentences.items():
        if question_set.counts[name]:
            note(f"{question_set.counts[name]} {sentence}.")


def _parse(contexts: list[str], parser: str, language: Language) -> dict[str, list[Sentence]]:
    """Dependency trees by context, from a pipeline of spaCy for the set's language."""
    from trivium.language.parsers import load_pipeline, parse_spacy

    name = parser.removeprefix("spacy:")
    pipeline = load_pipeline(name, expected="an installed package such as en_core_web_sm, or a folder", field="parser")
    if pipeline.lang not in (language.code, "xx"):
        problem = "a pipeline of another language"
        raise BadInput(problem, field="parser", got=f"{name}: {pipeline.lang}", expected=f"one of {language.code}")
    return dict(zip(contexts, parse_spacy(pipeline, contexts, _PARSED_TOGETHER), strict=True))
