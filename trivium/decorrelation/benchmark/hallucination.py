"""What captioners and vision-language models see in painted pictures that is not there (docs/odmap.md).

CHAIR of captioners (Rohrbach et al., EMNLP 2018), how much they name that is not there:

    CHAIR_i = mentions of classes that are not in x′ / all mentions       CHAIR_s = captions with such a mention / all

A mention is a noun phrase that names a class, found as in the graph's captions. In x′ are the annotated classes that
are left, and what people named in their captions of the picture, but for what was painted out.

Vision-language models are asked in words, "Is there a dog in the picture?", on whole and on painted pictures:

    there        x, about what will be painted out       yes is right
    painted_out  x′, about what was painted out          no is right
    partner      x′, about its usual partner             no is right; asked where the partner is not in x′
    random       x′, about a class drawn from the rest   no is right

Accuracy, precision, recall, F1 and the share of yes are those of POPE (Li et al., EMNLP 2023) over `there` and
`painted_out`, as many of each: a model that always says yes is right half of the time.
"""

import base64
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import validate
from trivium.core.tables import read_json_lines
from trivium.decorrelation.benchmark.answers import Interval, interval, mean_of
from trivium.decorrelation.benchmark.benchmark_set import PICTURE_TYPES, BenchmarkSet
from trivium.decorrelation.captions.phrases import Settings, read_phrases
from trivium.language.english.chunker import choose_chunker
from trivium.language.english.sentences import read_sentence
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import ask_all
from trivium.prompting.endpoint import Chat, EndpointModel

KINDS = ("there", "painted_out", "partner", "random")
_QUESTION = "Is there {article} {name} in the picture? Answer yes or no."
_WORD = re.compile(r"\b(yes|no|not)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """One question: of a kind of KINDS, about a query (its row), its picture and a class; its key is of the answer."""

    kind: str
    query: int
    picture: str
    name: str
    key: str


@dataclass(frozen=True)
class VlmScores:
    """How often a model said yes.

    Attributes:
        yes: {kind: (questions,) whether it said yes}, without questions that it did not answer.
        intervals: {kind: of the share of yes, over pictures}.
        questions, unreadable: how many questions there were, and how many answers say neither yes nor no.
        pope: {figure: value}; see `pope`.
    """

    yes: Mapping[str, NDArray[np.bool_]]
    intervals: Mapping[str, Interval]
    questions: int
    unreadable: int
    pope: Mapping[str, float | None]

    def rate(self, kind: str) -> float | None:
        """Share of yes; None where no question of the kind was answered."""
        return mean_of(self.yes[kind])


def text_of(name: str) -> str:
    """The question about a class."""
    return _QUESTION.format(article="an" if name[0].lower() in "aeiou" else "a", name=name)


def questions_of(benchmark: BenchmarkSet, model: EndpointModel, most: int | None = None) -> list[Question]:
    """All questions about a set, or about `most` of its queries, which are drawn.

    The key of an answer is made of the model, its settings, the set, the picture and the class: the same question
    about a whole picture is asked once, whatever was painted out of it.
    """
    queries, named = benchmark.queries, benchmark.named_by_people()
    rows = list(range(len(queries.ids)))
    if most is not None and most < len(rows):
        rows = sorted(random.Random(0).sample(rows, most))
    wholes = benchmark.rows_of(queries.pictures)
    questions = []
    for row in rows:
        gone, partner = queries.class_names[row], benchmark.partners[row]
        about = {"there": gone, "painted_out": gone}
        absent = ~(queries.present[row] | named[row])
        if partner is not None and absent[benchmark.classes.index(partner)]:
            about["partner"] = partner
        others = [name for name in compress(benchmark.classes, absent & ~queries.removed[row]) if name != partner]
        if others:
            about["random"] = random.Random(f"0:{queries.ids[row]}").choice(others)
        for kind, name in about.items():
            whole = kind == "there"
            picture = benchmark.pictures.names[wholes[row]] if whole else benchmark.painted.names[row]
            parts = [benchmark.fingerprint, whole, picture, text_of(name)]
            key = key_of(model.model, [{"role": "user", "content": parts}], model.sampling)
            questions.append(Question(kind, row, picture, name, key))
    return questions


def read_answer(text: str) -> bool | None:
    """Whether an answer says yes, by the first such word; None where it says neither."""
    word = _WORD.search(text)
    return None if word is None else word[1].lower() == "yes"


def ask_vlm(benchmark: BenchmarkSet, model: EndpointModel, most: int | None = None) -> VlmScores:
    """Ask a model behind an endpoint about all queries, or about `most` of them.

    Every answer is kept in the set's cache, and paid for once. `BadInput`: the endpoint fails, what came before is
    kept; or no answer says yes or no.
    """
    questions = questions_of(benchmark, model, most)
    whole, painted = Images(benchmark.pictures.folder), Images(benchmark.painted.folder)

    def chat(question: Question) -> Chat:
        data = (whole if question.kind == "there" else painted).read(question.picture)
        kind = PICTURE_TYPES.get(data[:2], "jpeg")
        address = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
        parts = [{"type": "image_url", "image_url": {"url": address}}, {"type": "text", "text": text_of(question.name)}]
        return [{"role": "user", "content": parts}]

    chats = {question.key: partial(chat, question) for question in questions}
    replies, _ = ask_all(model, chats, AnswerCache(benchmark.kept / "endpoint_answers"))
    yes: dict[str, NDArray[np.bool_]] = {}
    bounds: dict[str, Interval] = {}
    for kind in KINDS:
        own = [question for question in questions if question.kind == kind and question.key in replies]
        answers = [(read_answer(replies[question.key].content), question.query) for question in own]
        readable = [(answer, query) for answer, query in answers if answer is not None]
        yes[kind] = np.array([answer for answer, _ in readable], bool)
        pictures = benchmark.queries.pictures[[query for _, query in readable]]
        bounds[kind] = interval(benchmark, yes[kind].astype(float), pictures)
    unreadable = len(questions) - sum(map(len, yes.values()))
    if unreadable == len(questions):
        example = next((reply.content for reply in replies.values()), None)
        raise BadInput("no answer says yes or no", file=model.endpoint, field=model.model, got=example)
    return VlmScores(yes, bounds, len(questions), unreadable, pope(yes["there"], yes["painted_out"]))


def pope(present: NDArray[np.bool_], removed: NDArray[np.bool_]) -> dict[str, float | None]:
    """POPE's figures of answers to questions where yes is right, and where no is right; None where undefined."""
    hits, alarms = int(present.sum()), int(removed.sum())
    total = len(present) + len(removed)

    def ratio(part: int, whole: int) -> float | None:
        return part / whole if whole else None

    return {
        "accuracy": ratio(hits + len(removed) - alarms, total),
        "precision": ratio(hits, hits + alarms),
        "recall": ratio(hits, len(present)),
        "f1": ratio(2 * hits, 2 * hits + alarms + len(present) - hits),
        "yes_ratio": ratio(hits + alarms, total),
    }


def endpoint_model(address: str, name: str, key_variable: str | None, requests_per_minute: float) -> EndpointModel:
    """A model for short answers, its reasoning may be long; `BadInput`: no address, or no name of a variable."""
    values = {  # a local server may answer one at a time: the eighth waits for seven
        "label": name, "endpoint": address, "model": name, "max_tokens": 512, "parallel": 8, "timeout_s": 600.0,
        "requests_per_minute": requests_per_minute, "backoff_s": 1.0, "key_variable": key_variable,
    }  # fmt: skip
    return validate(EndpointModel, values, "--endpoint", Path("--"))


@dataclass(frozen=True)
class CaptionerScores:
    """One captioner's values, by query in the order of the set.

    Attributes:
        texts: what it wrote.
        mentions, invented: (queries,) how many of a class, and of one that is not there.
        still_named: (queries,) whether what was painted out is named.
        intervals: {"chair_s", "still_named": of the mean, over pictures}.
    """

    texts: tuple[str, ...]
    mentions: NDArray[np.int64]
    invented: NDArray[np.int64]
    still_named: NDArray[np.bool_]
    intervals: dict[str, Interval]

    @property
    def chair_i(self) -> float | None:
        """The share of all mentions; None where no class was named."""
        total = int(self.mentions.sum())
        return int(self.invented.sum()) / total if total else None

    @property
    def chair_s(self) -> float:
        """The share of all captions."""
        return float((self.invented > 0).mean())


def read_captions(file: Path, benchmark: BenchmarkSet) -> list[str]:
    """The captions of any captioner: `{"id": of a painted picture, "caption": text}` a line, one each, in any order.

    Raises:
        BadInput: no text, an id twice, one that the set lacks, or one that is missing.
    """
    ids, texts = benchmark.painted.queries, dict[str, str]()
    wanted = set(ids)
    for row, line in read_json_lines(file):
        name, text = str(line.get("id")), line.get("caption")
        if name not in wanted or name in texts:
            problem = "an id twice" if name in texts else "an id that the set lacks"
            raise BadInput(problem, file=file, row=row, field="id", got=line.get("id"), choices=ids[:3])
        if not isinstance(text, str):
            raise BadInput("no text", file=file, row=row, field="caption", got=text)
        texts[name] = text
    if missing := [name for name in ids if name not in texts]:
        raise BadInput("captions are missing", file=file, got=f"none of {missing[0]}", expected=f"{len(ids)} lines")
    return [texts[name] for name in ids]


def chair(benchmark: BenchmarkSet, texts: Sequence[str]) -> CaptionerScores:
    """Judge captions of the painted pictures, one a query; what they name is found as in the set's own captions."""
    used = benchmark.phrases
    chunker = choose_chunker(used["chunker"], used["spacy_model"])
    settings = Settings(benchmark.classes, used["matching"], chunker, used["spacy_model"])
    counts = np.zeros(benchmark.queries.removed.shape, np.int64)
    for row, phrases in enumerate(read_phrases(settings, [read_sentence(text) for text in texts])):
        for phrase in phrases:
            counts[row, [benchmark.classes.index(name) for name in phrase.classes]] += 1
    removed = benchmark.queries.removed
    invented = (counts * ~((benchmark.queries.present | benchmark.named_by_people()) & ~removed)).sum(axis=1)
    still_named = np.asarray(((counts > 0) & removed).any(axis=1))
    shares = {"chair_s": invented > 0, "still_named": still_named}
    pictures = benchmark.queries.pictures
    bounds = {name: interval(benchmark, share.astype(float), pictures) for name, share in shares.items()}
    return CaptionerScores(tuple(texts), counts.sum(axis=1), invented, still_named, bounds)
