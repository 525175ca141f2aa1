"""Vision-language models asked in words: "Is there a dog in the picture?", on whole and on painted pictures.

    there        x, about what will be painted out       yes is right
    painted_out  x′, about what was painted out          no is right
    partner      x′, about its usual partner             no is right; asked where the partner is not in x′
    random       x′, about a class drawn from the rest   no is right

A model that looks says yes to the first alone; one that repeats what stands together says yes to the others, too.
Accuracy, precision, recall, F1 and the share of yes are those of POPE (Li et al., EMNLP 2023) over `there` and
`painted_out`, as many of each: whoever always says yes is right half of the time.
"""

import base64
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import validate
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.scores import Interval, interval
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import Chat, EndpointModel, ask_all

KINDS = {"there": True, "painted_out": False, "partner": False, "random": False}  # whether yes is right
_QUESTION = "Is there {article} {name} in the picture? Answer yes or no."
_WORD = re.compile(r"\b(yes|no|not)\b", re.IGNORECASE)
_MIMES = {b"\xff\xd8": "jpeg", b"\x89P": "png", b"RI": "webp", b"GI": "gif", b"BM": "bmp"}
_ANSWERS = "endpoint_answers"


@dataclass(frozen=True)
class Question:
    """One question: of a kind of KINDS, about a query (its row) and a class; its key is of the answer."""

    kind: str
    query: int
    name: str
    key: str


@dataclass(frozen=True)
class VlmScores:
    """What a model answered.

    Attributes:
        yes: {kind: (questions,) whether it said yes}, without questions that it did not answer.
        pictures: {kind: the picture of each}.
        intervals: {kind: of the share of yes, over pictures}.
        asked, unreadable: how many questions there were, and how many answers say neither yes nor no.
    """

    yes: Mapping[str, NDArray[np.bool_]]
    pictures: Mapping[str, NDArray[np.int64]]
    intervals: Mapping[str, Interval]
    asked: int
    unreadable: int
    pope: Mapping[str, float | None] = field(default_factory=dict)

    def rate(self, kind: str) -> float | None:
        """Share of yes; None where nothing was asked."""
        return float(self.yes[kind].mean()) if len(self.yes[kind]) else None


class _Chats(Mapping[str, Chat]):
    """The chats by key; a picture is read when its chat is asked for."""

    def __init__(self, asked: BenchmarkSet, questions: Mapping[str, Question]) -> None:
        self._asked, self._questions, self._lock = asked, questions, Lock()  # several threads ask
        parts = {"there": asked.pictures, "painted_out": asked.painted}
        self._images = {kind: Images(part.folder) for kind, part in parts.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._questions)

    def __len__(self) -> int:
        return len(self._questions)

    def __getitem__(self, key: str) -> Chat:
        question = self._questions[key]
        part = "there" if question.kind == "there" else "painted_out"
        with self._lock:
            data = self._images[part].read(_picture(self._asked, question))
        address = f"data:image/{_MIMES.get(data[:2], 'jpeg')};base64,{base64.b64encode(data).decode('ascii')}"
        parts = [{"type": "image_url", "image_url": {"url": address}}, {"type": "text", "text": text_of(question.name)}]
        return [{"role": "user", "content": parts}]


def _picture(asked: BenchmarkSet, question: Question) -> str:
    """The name of the picture that a question is about."""
    if question.kind != "there":
        return asked.painted.names[question.query]
    owner = int(asked.queries.pictures[question.query])
    return asked.pictures.names[asked.pictures.owners.index(owner)]


def text_of(name: str) -> str:
    """The question about a class."""
    return _QUESTION.format(article="an" if name[0].lower() in "aeiou" else "a", name=name)


def questions_of(asked: BenchmarkSet, model: EndpointModel, most: int | None = None, seed: int = 0) -> list[Question]:
    """All questions about a set, or about `most` of its queries, which are drawn.

    The key of an answer is made of the model, its settings, the set, the picture and the class: the same question
    about a whole picture is asked once, whatever was painted out of it.
    """
    rows = list(range(len(asked.queries.ids)))
    if most is not None and most < len(rows):
        rows = sorted(random.Random(seed).sample(rows, most))
    named = asked.named_by_people()
    questions = []
    for row in rows:
        present = asked.queries.present[row]
        gone, partner = asked.queries.class_names[row], asked.partners[row]
        about = {"there": gone, "painted_out": gone}
        nowhere = ~(present | named[row])
        if partner is not None and nowhere[asked.classes.index(partner)]:
            about["partner"] = partner
        others = nowhere & ~asked.queries.removed[row]
        free = [name for name, flag in zip(asked.classes, others, strict=True) if flag and name != partner]
        if free:
            about["random"] = random.Random(f"{seed}:{asked.queries.ids[row]}").choice(free)
        for kind, name in about.items():
            question = Question(kind, row, name, "")
            parts = [asked.fingerprint, kind == "there", _picture(asked, question), text_of(name)]
            key = key_of(model.model, [{"role": "user", "content": parts}], model.sampling)
            questions.append(Question(kind, row, name, key))
    return questions


def read_answer(text: str) -> bool | None:
    """Whether an answer says yes, by the first such word; None where it says neither."""
    word = _WORD.search(text)
    return None if word is None else word[1].lower() == "yes"


def ask_vlm(asked: BenchmarkSet, model: EndpointModel, most: int | None = None) -> VlmScores:
    """Ask a model behind an endpoint; every answer is kept beside the set's embeddings, and paid for once.

    Args:
        asked: the set.
        model: which, where, and at which pace.
        most: about so many queries; None: all.

    Raises:
        BadInput: the endpoint fails, what came before is kept; or no answer says yes or no.
    """
    questions = questions_of(asked, model, most)
    cache = AnswerCache(asked.kept / _ANSWERS)
    replies, _ = ask_all(model, _Chats(asked, {question.key: question for question in questions}), cache)
    said: dict[str, list[tuple[bool, int]]] = {kind: [] for kind in KINDS}
    unreadable = 0
    for question in questions:
        reply = replies.get(question.key)
        answer = read_answer(reply.content) if reply is not None else None
        if answer is None:
            unreadable += 1
        else:
            said[question.kind].append((answer, int(asked.queries.pictures[question.query])))
    if unreadable == len(questions):
        example = next((reply.content for reply in replies.values()), None)
        raise BadInput("no answer says yes or no", file=model.endpoint, field=model.model, got=example)
    yes = {kind: np.array([answer for answer, _ in of], bool) for kind, of in said.items()}
    pictures = {kind: np.array([picture for _, picture in of], np.int64) for kind, of in said.items()}
    bounds = {kind: interval(asked, yes[kind].astype(float), pictures[kind]) for kind in KINDS}
    return VlmScores(yes, pictures, bounds, len(questions), unreadable, pope(yes["there"], yes["painted_out"]))


def pope(there: NDArray[np.bool_], gone: NDArray[np.bool_]) -> dict[str, float | None]:
    """POPE's figures of answers to questions where yes is right, and where no is right; None where undefined."""
    hits, alarms = int(there.sum()), int(gone.sum())
    total = len(there) + len(gone)

    def ratio(part: int, whole: int) -> float | None:
        return part / whole if whole else None

    return {
        "accuracy": ratio(hits + len(gone) - alarms, total),
        "precision": ratio(hits, hits + alarms),
        "recall": ratio(hits, len(there)),
        "f1": ratio(2 * hits, 2 * hits + alarms + len(there) - hits),
        "yes_ratio": ratio(hits + alarms, total),
    }


def endpoint_model(address: str, name: str, key_variable: str | None, requests_per_minute: float) -> EndpointModel:
    """A model for short answers; its thoughts, if it has any, may be long.

    Raises:
        BadInput: no address, or no name of an environment variable.
    """
    values = {
        "label": name, "endpoint": address, "model": name, "max_tokens": 512, "parallel": 8, "timeout_s": 120.0,
        "requests_per_minute": requests_per_minute, "backoff_s": 1.0, "key_variable": key_variable,
    }  # fmt: skip
    return validate(EndpointModel, values, "--endpoint", Path("--"))
