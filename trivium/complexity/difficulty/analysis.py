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
    Given,
    Say,
    clusters_of,
    kept_questions,
    take_answers,
)
from trivium.complexity.difficulty.result import LEAST_MODELS, Difficulty, right_answers
from trivium.complexity.difficulty.scores import score_baselines, score_models
from trivium.complexity.effects.analysed_tables import coded
from trivium.complexity.effects.effect_rows import Row
from trivium.complexity.factors.free_factors import free_factors, read_text
from trivium.core.errors import BadInput
from trivium.formats.answer_files import model_names
from trivium.formats.conllu import Sentence, read_conllu
from trivium.formats.question_sets import AskedQuestion, QuestionSet, read_question_set
from trivium.language.reading.language import Language
from trivium.language.reading.languages import detect, language_of
from trivium.measures.agreement import hardness_agreement
from trivium.measures.rasch import Rasch, rasch


def difficulty(
    questions: str | Path | QuestionSet,
    answers: Mapping[str, str | Path | Given] | Iterable[str | Path] | str | Path,
    *,
    language: str | None = None,
    settings: DifficultySettings | None = None,
    syntax: Path | None = None,
    verdicts: Path | None = None,
    judge: LlmJudge | None = None,
    more: Mapping[str, Mapping[str, bool | None]] | None = None,
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
    given = take_answers(found, {str(model): source for model, source in answers.items()}, note)
    kept = np.flatnonzero(kept_questions(given.missing, settings.missing, note))
    people = None if verdicts is None else read_verdicts(verdicts, given.by_question(found.questions))
    told = _tell_language(found.questions, language, note)
    _tell_set(found, note)
    asked, texts = _select(found, given, kept)
    scores = score_models(asked, texts, told)
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
    for name, says in (more or {}).items():
        factors.codes[name] = coded([says[each.id] for each in asked])
    missing = np.stack([given.missing[model][kept] for model in texts])
    irt = rasch(right_answers(scores), ~missing) if len(texts) >= LEAST_MODELS else None
    analysed = scores[settings.judge]
    baselines = score_baselines(asked, read, told, settings, judge)
    rows = difficulty_rows(analysed, baselines, factors.codes, clusters, irt, settings)
    for doubt in _doubts(irt, rows):
        note(doubt)
    agree = {} if people is None else {
        name: kappa(of, [each.id for each in asked], people, settings.confidence) for name, of in scores.items()
    }  # fmt: skip
    return Difficulty(
        found=found, questions=tuple(asked), language=told, settings=settings, notes=tuple(notes), unit=unit,
        clusters=clusters, given=given, answers=texts, missing=missing, scores=scores, baselines=baselines,
        factors=factors, rows=rows, irt=irt, verdicts=people, kappas=agree,
        agreement=hardness_agreement(list(analysed.values())) if len(texts) > 1 else None,
    )  # fmt: skip


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


def _read_trees(path: Path, questions: Sequence[AskedQuestion]) -> dict[str, list[Sentence]]:
    """Syntax by context; a document goes by its context's number, from 0, among those of questions with answers."""
    contexts = dict.fromkeys(question.context for question in questions)
    numbered = {str(number): context for number, context in enumerate(contexts)}
    return {numbered[number]: trees for number, trees in read_conllu(path, numbered).items()}
