"""Models behind endpoints that read passages, or identify the entity of a picture; each answer is paid once."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.folding import find_folded
from trivium.core.parameters import validate
from trivium.kvqae.asking.answer import ReaderAnswer
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.identification import NONE, Candidate, ask_which, choice_of
from trivium.kvqae.reader.prompted import chat_of, prompt_of
from trivium.prompting.answer_cache import AnswerCache, Reply, key_of
from trivium.prompting.endpoint import Chat, Endpoint, EndpointModel, RefusedError

PACE: dict[str, Any] = {"requests_per_minute": 600.0, "timeout_s": 600.0, "retries": 3, "backoff_s": 1.0}
PAUSE = 60.0  # seconds without requests after an endpoint has failed
PICTURES = {"max_side": 512, "max_pixels": 100_000_000}  # limits of pictures that are sent
ENTITIES = 5  # number of entities that a model chooses among
EMPTY, UNCLEAR = "its answer is empty", "its answer names none of them clearly"  # in notes
PROMPT = (
    "Answer the question with a few words from the passages, and nothing else. "
    "If the passages do not say, answer: unknown."
)


class PaidModel:
    """A model behind an OpenAI-compatible endpoint; its answers are cached in `journal`, and not paid for twice.

    `key_variable` names the environment variable with the key, None if none is needed; `BadInput` if it is empty.
    """

    def __init__(self, address: str, model: str, key_variable: str | None, journal: Path) -> None:
        values = {"label": model, "endpoint": address, "model": model, "key_variable": key_variable, "parallel": 1}
        self.settings = validate(EndpointModel, values | PACE, "endpoint", Path("the command line"))
        self._endpoint = Endpoint(self.settings)
        self._failed: tuple[float, BadInput] | None = None  # when, and how
        self._cache = AnswerCache(journal)

    def ask(self, key: str, chat: Chat) -> str:
        """Ask the model; `key` is the digest of everything that decides the answer (`key_of`).

        Raises:
            BadInput: the endpoint cannot be reached, or refuses.
        """
        if (reply := self._cache.get(key)) is None:
            if self._failed is not None and time.monotonic() - self._failed[0] < PAUSE:
                raise self._failed[1]  # or each question of a table would wait
            with self._cache.lock_model(self.settings.model):
                reply = self._cache.get(key) or self._pay(key, chat)  # another run may have asked it
        return reply.content.strip()

    def _pay(self, key: str, chat: Chat) -> Reply:
        try:
            reply = self._endpoint.ask(chat)
        except RefusedError as error:
            raise BadInput(f"the endpoint refuses the question: {error}", file=self.settings.endpoint) from None
        except BadInput as error:
            self._failed = time.monotonic(), error
            raise
        if reply.final:
            self._cache.put(key, reply, model=self.settings.model)
        return reply


class EndpointReader(PaidModel):
    """A language model that reads the passages; pictures are not sent to it."""

    def read(self, question: str, ranked: Mapping[int, float], texts: PassageTexts, entry: str | None) -> ReaderAnswer:
        """Return the model's answer, with its place in a passage if one contains it; raises as `ask`."""
        passages = {passage: texts[passage] for passage in ranked}
        shown = [f"The picture shows: {entry}"] if entry is not None else []
        chat: Chat = [{"role": "user", "content": prompt_of(PROMPT, list(passages.values()), question, *shown)}]
        answer = self.ask(key_of(self.settings.model, chat, self.settings.sampling), chat)
        phrase = answer.rstrip(".")
        if not phrase or phrase.casefold() == "unknown":
            why = "it does not find the answer in the passages" if phrase else EMPTY
            return ReaderAnswer(note=f"{self.settings.label} read: {why}.")
        for passage, (_, text) in passages.items():
            for span in find_folded(text, phrase, any_case=True):
                return ReaderAnswer(answer, None, passage, span)
        return ReaderAnswer(answer)


class EndpointIdentifier(PaidModel):
    """A model that sees pictures, and chooses which of some entities a picture shows."""

    def choose(self, question: str, picture: bytes, candidates: Sequence[Candidate]) -> tuple[int | None, str]:
        """Choose a candidate by number, from 1; 0 or None without one, and why; raises as `ask`."""
        message = ask_which(self.settings, question, lambda: picture, candidates, **PICTURES)
        words = self.ask(message.key, chat_of(message, **PICTURES))
        number = choice_of(words, [candidate.title for candidate in candidates])
        unclear = f"{UNCLEAR} ({shorten(words, 60)})" if words else EMPTY
        return number, "none of them" if number == NONE else unclear
