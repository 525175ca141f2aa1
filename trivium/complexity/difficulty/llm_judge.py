"""A language model as the judge of answers, behind the endpoint of prompted models and with their cache (§2).

It is asked whether an answer says the same as a reference. What matches a reference exactly is right and what is empty
is wrong, without asking.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.prompting.prompts import Messages
from trivium.formats.question_sets import AskedQuestion
from trivium.prompting.answer_cache import AnswerCache, Reply, key_of
from trivium.prompting.asking import EndpointModel, ask_all

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
