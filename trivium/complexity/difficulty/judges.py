"""Judges of answers other than a score: people, with whom a judge agrees by Cohen's κ, and a language model (§2).

The model is asked whether an answer says the same as a reference, behind the endpoint of prompted models and with their
cache. What matches a reference exactly is right and what is empty is wrong, without asking.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.judging import agreement, correct_answers, read_judgements
from trivium.complexity.prompting import Messages
from trivium.formats.question_sets import AskedQuestion
from trivium.prompting.answer_cache import AnswerCache, Reply, key_of
from trivium.prompting.asking import EndpointModel, ask_all

RIGHT = 0.5  # a score at which an answer counts as right


class HumanVerdicts(NamedTuple):
    """What people said.

    Attributes:
        right: by model and question, whether more than half of the annotators say `correct`.
        counts: those of `agreement`, and `stale`, the verdicts on answers that no model gives.
    """

    right: Mapping[str, Mapping[str, bool]]
    counts: Mapping[str, float]


class Kappa(NamedTuple):
    """Cohen's κ of a judge and the people, with its interval; None where one of them always says the same."""

    answers: int
    agreed: float
    value: float | None
    low: float | None
    high: float | None


def read_verdicts(path: Path, answers: Mapping[str, Mapping[str, str]]) -> HumanVerdicts:
    """Verdicts of a file, or of the files of a folder, as `brought/complexity/judgements` has them.

    Args:
        path: CSV (id, model, annotator, verdict) or Label Studio's JSON export.
        answers: by model and question.

    Raises:
        BadInput: see `read_judgements`.
    """
    judgements, counts = read_judgements(path, set(next(iter(answers.values()))), answers)
    told = agreement(judgements) | {"stale": float(counts["stale"])}
    return HumanVerdicts(correct_answers(judgements, answers), told)


def kappa(
    scores: Mapping[str, NDArray[np.float64]], ids: Sequence[str], verdicts: HumanVerdicts, confidence: float
) -> Kappa:
    """Agreement on all judged answers; a score of at least a half says that an answer is right.

    Args:
        scores: of one judge, by model, (questions,).
        ids: of the questions.
        verdicts: of the people.
        confidence: of the interval.
    """
    from scipy.special import ndtri
    from statsmodels.stats.inter_rater import cohens_kappa

    place = {identifier: number for number, identifier in enumerate(ids)}
    table = np.zeros((2, 2))
    for model, by_question in verdicts.right.items():
        for identifier, right in by_question.items():
            if identifier in place:
                table[int(scores[model][place[identifier]] >= RIGHT), int(right)] += 1
    answers = int(table.sum())
    agreed = float(np.trace(table) / answers) if answers else np.nan
    if min(table.sum(axis=0).min(), table.sum(axis=1).min()) == 0:
        return Kappa(answers, agreed, None, None, None)
    found = cohens_kappa(table)
    half = ndtri((1 + confidence) / 2) * found.std_kappa
    return Kappa(answers, agreed, *map(float, (found.kappa, found.kappa - half, found.kappa + half)))


PROMPT = """You judge an answer to a question about a text. The reference answers are correct.

Question: {question}
Reference answers: {references}
Answer to judge: {answer}

Does the answer to judge say the same as one of the reference answers? Its form does not count. \
Reply with one word: yes or no."""
_VERDICTS = {"yes": 1.0, "no": 0.0}


class LlmJudge:
    """A judge behind an endpoint.

    Args:
        model: the endpoint and how it is asked.
        cache: folder of the verdicts that were paid for.

    Attributes:
        counts: `asked`, `cached`, `unreadable` (a reply that begins with neither yes nor no, or none).
    """

    def __init__(self, model: EndpointModel, cache: Path) -> None:
        self._model, self._cache = model, AnswerCache(cache)
        self.counts = {"asked": 0, "cached": 0, "unreadable": 0}

    def judge(
        self, questions: Sequence[AskedQuestion], answers: Sequence[str], matches: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """1 for a right answer, 0 for a wrong one, NaN where no verdict can be read; `matches`: exact matches.

        Raises:
            BadInput: see `ask_all`.
        """
        open_to_doubt = [place for place, answer in enumerate(answers) if answer.strip() and not matches[place]]
        chats = {place: _messages(questions[place], answers[place]) for place in open_to_doubt}
        keys = {place: key_of(self._model.model, chat, self._model.sampling) for place, chat in chats.items()}
        replies, counts = ask_all(self._model, {keys[place]: chat for place, chat in chats.items()}, self._cache)
        values = matches.copy()
        for place, key in keys.items():
            values[place] = verdict(replies.get(key))
        self.counts["asked"] += counts["requests"]
        self.counts["cached"] += counts["cached"]
        self.counts["unreadable"] += int(np.isnan(values).sum())
        return values


def verdict(reply: Reply | None) -> float:
    """What a reply begins with: yes 1, no 0, anything else NaN."""
    words = "" if reply is None else "".join(each if each.isalpha() else " " for each in reply.content)
    return _VERDICTS.get((words.lower().split() or [""])[0], np.nan)


def _messages(question: AskedQuestion, answer: str) -> Messages:
    references = " | ".join(dict.fromkeys(question.answers))
    return [
        {"role": "user", "content": PROMPT.format(question=question.question, references=references, answer=answer)}
    ]
