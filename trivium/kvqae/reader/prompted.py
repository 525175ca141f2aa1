"""Readers behind an endpoint: language models over passages, models that see pictures, or both (kvqae.md §5).

The model's words are scored as they are: exact match, F1, and whether they contain an answer, since such models rarely
give the bare answer. An answer's key in the cache is a hash of the model's whole input, with each picture as the hash
of its file and its size.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
from pydantic import Field

from trivium.core.image_shards import Images
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.measures.answers import AnswerMatcher, exact_match, f1
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import ask_all
from trivium.prompting.endpoint import Chat, EndpointModel
from trivium.vision.decoding import Unreadable, data_address, decode

JOURNAL = Path("data") / "kvqae" / "prompted_answers"
"""Folder of all answers, below the project's root; not a stage's output, which DVC would replace or delete."""
QUALITY = 90  # of JPEGs that are sent


class PromptedReader(EndpointModel):
    """An entry of `kvqae.prompted_readers`."""

    endpoint: str = Field(description="Base URL, such as http://localhost:8000/v1")
    sees: Literal["passages", "picture", "both"] = Field(description="What the model gets beside the question")
    run: str = Field(description="Folder of the run whose passages are read; only the picture seen: not used")
    passages: int = Field(ge=1, description="Best passages read")
    max_side: int = Field(default=768, ge=32, description="Longer side of the picture that is sent, in pixels")

    @property
    def reads(self) -> bool:
        """Whether the model gets passages."""
        return self.sees != "picture"

    @property
    def looks(self) -> bool:
        """Whether the model gets the picture."""
        return self.sees != "passages"


Part = str | Callable[[], bytes]  # of a message: a text, or a function that reads a picture's file


@dataclass(frozen=True)
class Message:
    """A message about one question; `key` is its answer's key in the cache."""

    key: str
    parts: Sequence[Part]


_LOCK = Lock()  # several threads read pictures from one file


def chat_of(message: Message, *, max_side: int, max_pixels: int) -> Chat:
    """Make the chat of a message; pictures are reduced to `max_side` pixels on the longer side, and encoded."""

    def content_of(part: Part) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        with _LOCK:
            address = data_address(decode(part(), max_side=max_side, max_pixels=max_pixels), QUALITY)
        return {"type": "image_url", "image_url": {"url": address}}

    parts = message.parts
    return [{"role": "user", "content": parts[0] if len(parts) == 1 else [content_of(part) for part in parts]}]


def prompt_of(instruction: str, passages: Sequence[tuple[str, str]], question: str, *hints: str) -> str:
    """Make the text of a message: instruction, numbered passages (title, text), hints, question."""
    listed = [f"[{place}] {title}: {text}" for place, (title, text) in enumerate(passages, 1)]
    return "\n\n".join([instruction.strip(), *listed, *hints, f"Question: {question}"])


def ask_about(
    reader: PromptedReader,
    instruction: str,
    question: Question,
    passages: Sequence[tuple[str, str]],
    pictures: Images | None,
    max_pixels: int,
) -> Message:
    """Make the message to a reader about a question.

    `passages` are (title, text), best first, empty for a reader without passages; `pictures` is None for a reader
    without pictures.
    """
    text = prompt_of(instruction, passages, question.text)
    parts: list[Part] = [text]
    content: Any = text
    if pictures is not None and question.image is not None and question.image in pictures:
        data = pictures.read(question.image)
        if is_readable(data, reader.max_side, max_pixels):
            parts = [partial(pictures.read, question.image), text]
            content = {"text": text, "picture": hashlib.sha256(data).hexdigest(), "max_side": reader.max_side}
    return Message(key_of(reader.model, [{"role": "user", "content": content}], reader.sampling), parts)


def is_readable(data: bytes, max_side: int, max_pixels: int) -> bool:
    """Whether a picture can be decoded."""
    try:
        decode(data, max_side=max_side, max_pixels=max_pixels)
    except Unreadable:
        return False
    return True


def answer_questions(
    reader: PromptedReader,
    instruction: str,
    questions: Sequence[Question],
    passages: Sequence[Sequence[int]],
    texts: PassageTexts,
    pictures: Images | None,
    cache: AnswerCache,
    *,
    max_pixels: int,
) -> tuple[list[str], Counter[str]]:
    """Ask a reader each question; returns its words, empty if there are none, and counts.

    `passages` has one list for each question, best first, empty for a reader without passages; `pictures` is None for a
    reader without pictures; `cache` has the paid answers. Returns answers, and `asked`, `cached`, `requests`,
    `refused`, `without_picture` (asked without it, or not asked if the model sees only the picture), `prompt_tokens`,
    `completion_tokens`, `cut`, and the counts of `Endpoint`.
    """
    messages = [
        ask_about(reader, instruction, question, [texts[passage] for passage in read], pictures, max_pixels)
        for question, read in zip(questions, passages, strict=True)
    ]
    blind = [reader.looks and len(message.parts) == 1 for message in messages]
    sent = [message for message, is_blind in zip(messages, blind, strict=True) if reader.reads or not is_blind]
    words, counts = ask_messages(reader, sent, cache, max_side=reader.max_side, max_pixels=max_pixels)
    counts.update(without_picture=sum(blind))
    return [words.get(message.key, "") for message in messages], counts


def ask_messages(
    model: EndpointModel, messages: Sequence[Message], cache: AnswerCache, *, max_side: int, max_pixels: int
) -> tuple[dict[str, str], Counter[str]]:
    """Ask a model; returns its words by key, without refused messages, and counts, see `answer_questions`."""
    limits = {"max_side": max_side, "max_pixels": max_pixels}
    chats = {message.key: partial(chat_of, message, **limits) for message in messages}
    replies, counts = ask_all(model, chats, cache)
    counts.update(asked=len(chats), refused=sum(key not in replies for key in chats))
    for reply in replies.values():
        counts.update(
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cut=int(reply.finish == "length"),
        )
    return {key: reply.content.strip() for key, reply in replies.items()}, counts


def measure_words(questions: Sequence[Question], answers: Sequence[str]) -> dict[str, np.ndarray]:
    """Compute exact match, F1 and containment, (questions,) each; the best over a question's valid answers."""
    pairs = [(said, question.answers) for question, said in zip(questions, answers, strict=True)]
    return {
        "em": np.array([float(exact_match(*pair)) for pair in pairs]),
        "f1": np.array([f1(*pair) for pair in pairs]),
        "contains": np.array([float(AnswerMatcher(right).matches(said)) for said, right in pairs]),
    }


# Pattern of a model's name in lower case → what is known of its training, with the source.
KNOWN = {
    r"bluelm": "Fine-tuned on ViQuAE among others (BlueLM-V-3B, Lu et al. 2024, Table 6).",
    r"m3it|ying-?vlm": "Trained on M³IT (Li et al. 2023), whose repository has ViQuAE with all of its splits.",
}


def known_training(model: str, label: str) -> str:
    """Return what is known of a model's training on ViQuAE, by its names; empty if nothing is."""
    names = f"{model} {label}".lower()
    return " ".join(note for pattern, note in KNOWN.items() if re.search(pattern, names))
