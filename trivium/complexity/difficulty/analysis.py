"""What makes the questions of any set hard for the models that answered them, and how sure that is."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.difficulty.effects import difficulty_rows
from trivium.complexity.difficulty.judges import LlmJudge, kappa, read_verdicts
from trivium.complexity.difficulty.material import (
    MOST_MISSING,
    Answers,
    DifficultySettings,
    Say,
    Source,
    clusters_of,
    kept_questions,
    take_answers,
)
from trivium.complexity.difficulty.result import LEAST_MODELS, Difficulty, right_answers
from trivium.complexity.difficulty.scores import score_baselines, score_models
from trivium.complexity.effects.analysed_tables import coded
from trivium.complexity.effects.effect_rows import Row
from trivium.complexity.factors.free_factors import LABELS, free_factors, read_text
from trivium.complexity.factors.own_factors import FactorSource, add_factors
from trivium.core.errors import BadInput
from trivium.formats.answer_files import model_names
from trivium.formats.conllu import Sentence, read_conllu
from trivium.formats.question_sets import AskedQuestion, QuestionSet, read_question_set
from trivium.language.reading.language import Language
from trivium.language.reading.languages import detect, language_of
from trivium.measures.agreement import hardness_agreement
from trivium.measures.irt import Irt, fit_irt


def difficulty(
    questions: str | Path | QuestionSet,
    answers: Mapping[str, Source | Sequence[Source]] | Iterable[str | Path] | str | Path,
    *,
    language: str | None = None,
    settings: DifficultySettings | None = None,
    factors: Sequence[FactorSource] = (),
    syntax: Path | None = None,
    parser: str | None = None,
    verdicts: Path | None = None,
    judge: LlmJudge | None = None,
    more: Mapping[str, Mapping[str, bool | None]] | None = None,
    say: Say = print,
) -> Difficulty:
    """Analyse a question set with the answers of some models; `trivium.page.difficulty` writes what was found.

    Args:
        questions: a file of any form that `read_question_set` knows, or what it gave.
        answers: files of any form that `read_answers` knows, named as their models or `NAME=FILE`; or by model, a file
            or the answers by question, or a list of these, one a training, which count as one model.
        language: code of ISO 639-1; None: detected.
        settings: judge, risk and so on; None: the defaults.
        factors: further ones: names of `MEMBERS`, files, functions; see `add_factors`.
        syntax: CoNLL-U of the contexts; document `n` is context `n` of the set, from 0. Adds three factors.
        parser: `spacy:NAME`, a pipeline of spaCy that parses the contexts instead.
        verdicts: a file or folder of human verdicts.
        judge: for `settings.judge` "llm".
        more: further factors of `LABELS`, by question.
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
    if not isinstance(answers, Mapping):
        answers = model_names([answers] if isinstance(answers, str | Path) else answers)
    if parser is not None and (syntax is not None or not parser.startswith("spacy:")):
        raise BadInput("no parser", field="parser", got=parser, expected="spacy:NAME, and no --syntax beside it")
    given = take_answers(found, {str(model): source for model, source in answers.items()}, note)
    kept = np.flatnonzero(kept_questions(given.missing, settings.missing, note))
    people = None if verdicts is None else read_verdicts(verdicts, given.by_question(found.questions))
    told = _tell_language(found.questions, language, note)
    _tell_set(found, note)
    asked, texts = _select(found, given, kept)
    of_training = score_models(asked, texts, told)
    if judge is not None:
        of_training["llm"] = {m: judge.judge(asked, each, of_training["exact_match"][m]) for m, each in texts.items()}
        readable = _readable(of_training["llm"], note)
        kept = kept[readable]
        asked, texts = _select(found, given, kept)
        of_training = {name: {m: each[readable] for m, each in of.items()} for name, of in of_training.items()}
    scores = {
        name: {model: np.mean([of[training] for training in trainings], axis=0)
               for model, trainings in given.trainings.items()}
        for name, of in of_training.items()
    }  # fmt: skip
    unit, clusters = clusters_of(asked)
    note(f"{len(asked)} questions are analysed, in {clusters.max() + 1} clusters: each {unit} is one.")
    read = {context: read_text(context, told) for context in dict.fromkeys(each.context for each in asked)}
    trees = None if syntax is None else _read_trees(syntax, found.questions)
    if parser is not None:
        trees = _parse(list(read), parser, told)
    all_factors = free_factors(asked, told, read, trees)
    for name, says in (more or {}).items():
        all_factors.codes[name] = coded([says[each.id] for each in asked])
        all_factors.labels[name] = LABELS[name]
    add_factors(all_factors, factors, asked, read, told, found.ids, note)
    missing = np.stack([np.all([given.missing[one] for one in ones], axis=0) for ones in given.trainings.values()])
    missing = missing[:, kept]
    irt, two = None, None
    if len(missing) >= LEAST_MODELS:
        irt, two = (fit_irt(right_answers(scores), ~missing, discriminates=differ) for differ in (False, True))
    analysed = of_training[settings.judge]
    by_model = {model: np.stack([analysed[one] for one in ones]) for model, ones in given.trainings.items()}
    baselines = score_baselines(asked, read, told, settings, judge)
    rows = difficulty_rows(by_model, baselines, all_factors.codes, clusters, irt, settings)
    for doubt in _doubts(irt, two, rows):
        note(doubt)
    agree = {} if people is None else {
        name: kappa(of, [each.id for each in asked], people, settings.confidence) for name, of in of_training.items()
    }  # fmt: skip
    return Difficulty(
        found=found, questions=tuple(asked), language=told, settings=settings, notes=tuple(notes), unit=unit,
        clusters=clusters, given=given, answers=texts, missing=missing, scores=scores, of_training=of_training,
        baselines=baselines, factors=all_factors, rows=rows, irt=irt, two_parameters=two, verdicts=people, kappas=agree,
        agreement=hardness_agreement(list(scores[settings.judge].values())) if len(by_model) > 1 else None,
    )  # fmt: skip


_PARSED_TOGETHER = 64  # texts


def _select(
    found: QuestionSet, given: Answers, kept: NDArray[np.intp]
) -> tuple[list[AskedQuestion], dict[str, list[str]]]:
    """The questions at these places, and by training the answers to them."""
    places = kept.tolist()
    texts = {training: [each[place] for place in places] for training, each in given.texts.items()}
    return [found.questions[place] for place in places], texts


def _doubts(irt: Irt | None, two: Irt | None, rows: Sequence[Row]) -> list[str]:
    """What of the numbers tells nothing, in words."""
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


def _parse(contexts: list[str], parser: str, language: Language) -> dict[str, list[Sentence]]:
    """Syntax by context, of a pipeline of spaCy for the set's language."""
    from trivium.language.french_syntax import parse_spacy
    from trivium.language.spacy_pipelines import load_pipeline

    name = parser.removeprefix("spacy:")
    pipeline = load_pipeline(name, expected="an installed package such as en_core_web_sm, or a folder", field="parser")
    if pipeline.lang not in (language.code, "xx"):
        problem = "a pipeline of another language"
        raise BadInput(problem, field="parser", got=f"{name}: {pipeline.lang}", expected=f"one of {language.code}")
    return dict(zip(contexts, parse_spacy(pipeline, contexts, _PARSED_TOGETHER), strict=True))


def _read_trees(path: Path, questions: Sequence[AskedQuestion]) -> dict[str, list[Sentence]]:
    """Syntax by context; a document goes by its context's number, from 0, among those of questions with answers."""
    contexts = dict.fromkeys(question.context for question in questions)
    numbered = {str(number): context for number, context in enumerate(contexts)}
    return {numbered[number]: trees for number, trees in read_conllu(path, numbered).items()}
